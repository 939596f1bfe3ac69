"""The page: one file that opens from disk and shows all of an experiment."""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from mtsp_ldp.evaluation.summary import frequency_errors
from mtsp_ldp.experiments.layout import ExperimentLayout
from mtsp_ldp.report.style import style_of
from mtsp_ldp.streams.facts import PreparedFacts

CAPTIONS = {
    "mse_epsilon": "Mean squared error of the released frequencies against ε; bands are 95 % intervals.",
    "mse_window": "Mean squared error of the released frequencies against w; bands are 95 % intervals.",
    "mse_column": "Mean squared error of the released frequencies against ε at the middle window.",
    "budget": "Share of the window spent at each timestamp, and its sum over the window, with the limit.",
    "busiest": "True and released counts of one cell, around the time when the stream changes most.",
    "events": "Event detection: F1 by period length, and ROC curves of summed releases (straight: constant).",
    "ablation": "One part changed at a time: ratios of errors, paired by repetition, with 95 % intervals.",
}
EXPLORED = {"mse_epsilon", "mse_window", "mse_column", "budget"}
"""Figures that the interactive charts of the page show instead."""


def answer(summary: pl.DataFrame, dataset: str, epsilon: float, window: int) -> dict[str, Any]:
    """Say what to use at one epsilon and window: the best mechanism per release column, and the losers.

    Returns
    -------
    dict
        ``best`` per release with its error and ratios; ``losers``, which do worse than publishing nothing as
        released (raw), and ``undecided``, whose mean does and whose interval leaves it open.
    """
    table = frequency_errors(summary, dataset).filter(
        pl.col("epsilon") == epsilon, pl.col("window") == window
    )
    best = {
        row["release"]: {
            "label": style_of(row["mechanism"]).label,
            "mean": row["mean"],
            "low": row["low"],
            "high": row["high"],
            "to_lsp": row["ratio_to_lsp"],
            "to_uniform": row["ratio_to_uniform"],
            "loses": row["loses_to_floor"],
            "wins": row["beats_floor"],
        }
        for row in table.filter("best").to_dicts()
    }
    raw = table.filter(pl.col("release") == "raw")
    losers, undecided = (
        [style_of(name).label for name in raw.filter(flag)["mechanism"].to_list()]
        for flag in ("loses_to_floor", "above_floor")
    )
    return {"best": best, "losers": losers, "undecided": undecided}


def stream_section(
    summary: pl.DataFrame,
    facts: PreparedFacts,
    files: ExperimentLayout,
    drawn: Sequence[str],
    focus: tuple[float, int],
) -> dict[str, Any]:
    """Collect words, tables and pictures of one stream for the page."""
    name = facts.dataset
    pictures = {figure: Path(files.figure(name, figure, "png")) for figure in drawn if figure not in EXPLORED}
    return {
        "name": name,
        "facts": facts,
        "answer": answer(summary, name, *focus),
        "figures": [(figure, CAPTIONS[figure], inlined(pictures[figure])) for figure in pictures],
        "table": Path(files.table(name, "html")).read_text(encoding="utf-8"),
    }


def inlined(path: Path) -> str:
    """Encode a picture as the source of an image."""
    media_type = {".svg": "svg+xml", ".png": "png"}[path.suffix]
    return f"data:image/{media_type};base64," + base64.b64encode(path.read_bytes()).decode()


def script() -> str:
    """Bundle Vega, Vega-Lite and vega-embed into one script for a page."""
    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]


def as_json(data: Mapping[str, Any]) -> str:
    """Write data for a script element: no closing tag can be in it."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def render(template: str, **context: Any) -> str:
    """Render a page as HTML, from one of this folder's templates."""
    loader = Environment(
        loader=PackageLoader("mtsp_ldp.report", "."),
        autoescape=select_autoescape(["jinja"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return loader.get_template(f"{template}.html.jinja").render(**context)
