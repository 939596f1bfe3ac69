"""The tables and the picture of docs/mtsp-filter.md, from results.

    snakemake --cores all --config experiment=paper 'batch=[epsilon,window]'
    snakemake --cores all --config experiment=filter 'batch=[epsilon,window]'
    make
    python tools/gains.py

Every stream that was run on the grid of ``paper`` is shown; ``experiment=paper 'dataset=[NAME]'`` adds one.
What is shown is committed: docs/results/gains.csv (each cell against the best other), docs/results/parts.csv.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtsp_ldp.evaluation.comparison import PLACE, paired
from mtsp_ldp.evaluation.measures import NORMAL
from mtsp_ldp.evaluation.runs import SCHEMA, RunFiles, read_run
from mtsp_ldp.experiments.layout import cell_name
from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.mechanisms.registry import floors
from mtsp_ldp.report.canvas import STYLE, TWO_COLUMNS
from mtsp_ldp.report.style import style_of
from mtsp_ldp.streams.stream import Stream

OURS = "mtsp_filter"
ERRORS = {
    "frequency": "frequencies",
    "range": "ranges",
    "counting_5": "counts, Δ = 5",
    "counting_10": "counts, Δ = 10",
}
EVENTS = [f"event_{delta}_{on}" for delta in (3, 6, 12) for on in ("count", "share")]
DETECTION = {"auc_macro": "AUC", "f1_macro": "F1"}
COVERED = {
    ("counting_1", "coverage"): "frequencies",
    ("counting_1", "coverage_busy"): "busiest ten",
    ("counting_1", "coverage_quiet"): "others",
    ("counting_10", "coverage"): "counts, Δ = 10",
    ("event_6_count", "coverage"): "changes, Δ = 6",
}
PARTS = {
    "lsp": "LSP",
    "lpu": "LPU",
    "mtsp_population": "MTSP-LDP",
    "mtsp_population.best_reading": "MTSP-LDP, best reading",
    "mtsp_filter.reports_of_lsp": "LSP's reports, filtered",
    "mtsp_filter.no_season": "without the season",
    "mtsp_filter.lag_1": "one timestamp later",
    "mtsp_filter.lag_3": "three timestamps later",
}
GAINS, SHARES = Path("docs/results/gains.csv"), Path("docs/results/parts.csv")
PAGE, PICTURE = Path("docs/mtsp-filter.md"), Path("docs/images/filter.svg")
TRIPS = {"flights": ("JFK", (160, 260)), "city": ("(2, 5)", (60, 140))}
"""Cells to follow, and when: the airport through the blizzard, the square of the first crowd."""


def read_scores(folder: Path, mechanisms: Sequence[str] | None = None) -> pl.DataFrame:
    """Read the scores of all runs in a folder, or of some mechanisms."""
    files = sorted(folder.glob("*/*/*.parquet"))
    kept = [path for path in files if path.suffixes[-2:-1] not in ([".release"], [".trace"])]
    tables = [pl.read_parquet(path) for path in kept if mechanisms is None or path.parent.name in mechanisms]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *tables])


def gains(scores: pl.DataFrame) -> pl.DataFrame:
    """Compare MTSP-F with the best other mechanism, by mean, in every cell.

    Returns
    -------
    DataFrame
        ``dataset, epsilon, window, query, measure, release, other``; ``value`` with ``low`` and ``high``: of
        errors the other's over ours, of AUC and F1 ours minus the other's; ``better`` (null: not decided).
    """
    asked = [(query, "mse") for query in ERRORS]
    asked += [(query, measure) for query in EVENTS for measure in DETECTION]
    rows = [
        _against_best(scores, query, measure, release)
        for query, measure in asked
        for release in ("raw", "projected")
    ]
    return pl.concat(rows).sort("query", "measure", "release", *PLACE)


def _against_best(scores: pl.DataFrame, query: str, measure: str, release: str) -> pl.DataFrame:
    here = scores.filter(
        pl.col("query") == query,
        pl.col("measure") == measure,
        pl.col("release") == release,
        pl.col("value").is_finite(),
        ~pl.col("mechanism").is_in(floors()),
    )
    is_error = measure == "mse"
    means = here.filter(pl.col("mechanism") != OURS).group_by(*PLACE, "mechanism").agg(pl.col("value").mean())
    best = means.sort("value", "mechanism", descending=[not is_error, False])
    best = best.group_by(PLACE, maintain_order=True).first()
    rows = []
    for (other,), cells in best.group_by("mechanism", maintain_order=True):
        duel = paired(here, OURS, str(other), query, measure, release)
        rows.append(duel.join(cells.select(PLACE), on=PLACE, how="semi").with_columns(other=pl.lit(other)))
    table = pl.concat(rows)
    if is_error:
        low, high = 1 / pl.col("high"), 1 / pl.col("low")
        table = table.with_columns(value=1 / pl.col("value"), low=low, high=high)
    names = {"query": query, "measure": measure, "release": release}
    return table.select(
        *PLACE,
        *(pl.lit(text).alias(name) for name, text in names.items()),
        "other",
        *(pl.col(name).round_sig_figs(4) for name in ("value", "low", "high")),
        "better",
    )


def parts(scores: pl.DataFrame) -> pl.DataFrame:
    """Compute how much larger others' errors are than MTSP-F's, all projected: geometric means over cells."""
    return pl.DataFrame(
        [
            {"dataset": dataset, "query": query, "part": name, "ratio": float(f"{ratio:.4g}")}
            for query in ("frequency", "range", "counting_10")
            for name in PARTS
            for dataset, ratio in _means(paired(scores, name, OURS, query, "mse", "projected"))
        ]
    )


def _means(table: pl.DataFrame) -> Iterator[tuple[str, float]]:
    for (dataset,), part in table.group_by("dataset", maintain_order=True):
        yield str(dataset), float(np.exp(np.log(_numbers(part)).mean()))


def _numbers(table: pl.DataFrame) -> FloatArray:
    return np.asarray(table["value"].to_numpy(), dtype=np.float64)


def covered(scores: pl.DataFrame) -> pl.DataFrame:
    """Average the coverage of MTSP-F's intervals, as rows of `gains` with nobody to compare with."""
    keys = pl.struct("query", "measure").is_in([{"query": q, "measure": m} for q, m in COVERED])
    here = scores.filter(keys, pl.col("mechanism") == OURS, pl.col("release") == "raw")
    means = here.group_by(*PLACE, "query", "measure", "release").agg(pl.col("value").mean().round(4))
    nobody = {"low": pl.Float64, "high": pl.Float64, "better": pl.Boolean}
    empty = [pl.lit(None, kind).alias(name) for name, kind in nobody.items()]
    columns = [*PLACE, "query", "measure", "release", "other", "value", *nobody]
    return means.with_columns(*empty, other=pl.lit("")).select(columns).sort("query", "measure", *PLACE)


def markdown(table: pl.DataFrame, shares: pl.DataFrame) -> dict[str, str]:
    """Write all tables of the page, by the name of their place."""
    errors = table.filter(pl.col("measure") == "mse")
    return {
        "errors": _errors(errors),
        "cells": _cells(errors.filter(pl.col("query") == "frequency", pl.col("release") == "projected")),
        "events": _events(table),
        "coverage": _coverage(table),
        "parts": _parts(shares),
    }


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _errors(errors: pl.DataFrame) -> str:
    rows = []
    for dataset in _streams(errors):
        for query, label in ERRORS.items():
            part = errors.filter(pl.col("dataset") == dataset, pl.col("query") == query)
            raw, own = (part.filter(pl.col("release") == release) for release in ("raw", "projected"))
            verdicts = own["better"].to_list()
            tally = " / ".join(str(verdicts.count(one)) for one in (True, None, False))
            shown = [f"{np.median(_numbers(own)):.2f}", f"{_numbers(own).min():.2f}"]
            shown += [_red(tally, False in verdicts), f"{np.median(_numbers(raw)):.2f}"]
            rows.append([f"`{dataset}`", label, *shown])
    return _table(["stream", "task", "median", "least", "won / open / lost", "raw: median"], rows)


def _cells(errors: pl.DataFrame) -> str:
    windows = errors["window"].unique().sort().to_list()
    rows = []
    for dataset in _streams(errors):
        for epsilon in errors["epsilon"].unique().sort().to_list():
            row = [f"`{dataset}`", f"{epsilon:g}"]
            for window in windows:
                at = {"dataset": dataset, "epsilon": epsilon, "window": window}
                row += [_gain(found) for found in errors.filter(**at).to_dicts()] or ["–"]
            rows.append(row)
    return _table(["stream", "ε", *(f"w = {window}" for window in windows)], rows)


def _gain(row: dict[str, Any]) -> str:
    text = f"{row['value']:.2f}"
    if row["better"] is None:
        return f"{text} ({style_of(str(row['other'])).label}, open)"
    return text if row["better"] else _red(f"{text} ({style_of(str(row['other'])).label})", True)


def _events(table: pl.DataFrame) -> str:
    known = table.filter(pl.col("measure").is_in(list(DETECTION)))
    # ours is the same in both, so that the smaller lead is that over the better kind of release
    hardest = known.group_by(*PLACE, "query", "measure").agg(pl.col("value").min())
    rows = []
    for dataset in _streams(hardest):
        row = [f"`{dataset}`"]
        for measure in DETECTION:
            values = _numbers(hardest.filter(pl.col("dataset") == dataset, pl.col("measure") == measure))
            if not values.size:
                row += ["–"] * 3
                continue
            equal, worst = (values >= 0).mean(), values.min()
            row.append(f"{values.mean():+.3f}")
            row += [_red(f"{equal:.0%}", equal < 0.9), _red(f"{worst:+.2f}", worst < -0.05)]
        rows.append(row)
    heads = [
        f"{label}: {what}" for label in DETECTION.values() for what in ("mean", "at least equal", "worst")
    ]
    return _table(["stream", *heads], rows)


def _coverage(table: pl.DataFrame) -> str:
    rows = []
    for dataset in _streams(table):
        row = [f"`{dataset}`"]
        for query, measure in COVERED:
            here = pl.col("dataset") == dataset, pl.col("query") == query, pl.col("measure") == measure
            values = _numbers(table.filter(*here))
            if not values.size:
                row.append("–")
                continue
            shown = f"{values.mean():.1%} ({values.min():.0%} to {values.max():.0%})"
            row.append(_red(shown, not 0.93 <= values.mean() <= 0.97))
        rows.append(row)
    return _table(["stream", *COVERED.values()], rows)


def _parts(shares: pl.DataFrame) -> str:
    streams = _streams(shares)
    rows = []
    for query, label in ERRORS.items():
        for name, title in PARTS.items():
            part = shares.filter(pl.col("query") == query, pl.col("part") == name)
            known = dict(zip(part["dataset"].to_list(), part["ratio"].to_list(), strict=True))
            if known:
                shown = [
                    _red(f"{known[one]:.2f}", known[one] < 1 and "later" not in title) for one in streams
                ]
                rows.append([label, title, *shown])
    return _table(["task", "error of", *(f"`{one}`" for one in streams)], rows)


def _streams(table: pl.DataFrame) -> list[str]:
    order = ["flights", "city", "lns", "sin", "log"]
    return sorted(table["dataset"].unique().to_list(), key=lambda name: (*order, name).index(name))


def _red(text: str, is_loss: bool) -> str:
    return f'<span class="loss">{text}</span>' if is_loss else text


def picture(runs: Path, streams: Path, epsilon: float = 1.0, window: int = 20) -> Figure:
    """Draw two places through their events: the truth, and what LSP, LPU and MTSP-F released of it."""
    names = ["lsp", "lpu", OURS]
    figure, axes = plt.subplots(
        len(names), len(TRIPS), figsize=(TWO_COLUMNS, 4.6), sharex="col", sharey="col", squeeze=False
    )
    figure.set_layout_engine("constrained")
    for column, (name, (place, span)) in enumerate(TRIPS.items()):
        stream = Stream.read(streams / f"{name}.parquet")
        cell = [one.name for one in stream.facts.cells].index(place)
        for row, mechanism in enumerate(names):
            files = RunFiles(str(runs / name / mechanism / cell_name(epsilon, window)))
            released = pl.read_parquet(files.release).filter(pl.col("cell") == cell)
            _trip(
                axes[row, column], stream, cell, read_run(files, stream).frequencies[:, cell], mechanism, span
            )
            if "standard_error" in released.columns:
                _band(axes[row, column], released, mechanism, span)
        axes[0, column].set_title(f"{name}: {place}", loc="left")
        axes[-1, column].set_xlabel("timestamp")
    for row in range(len(names)):
        axes[row, 0].set_ylabel("share of users")
    return figure


def _trip(
    axes: Axes, stream: Stream, cell: int, released: np.ndarray, mechanism: str, span: tuple[int, int]
) -> None:
    t = np.arange(*span)
    style = style_of(mechanism)
    for event in stream.facts.events:
        if event.cell == cell and event.start < span[1]:
            axes.axvspan(event.start, min(event.end, span[1]), color="#000000", alpha=0.06, lw=0)
    axes.plot(t, stream.frequencies[t, cell], color="#222222", lw=1.4, label="truth")
    axes.plot(t, released[t], color=style.colour, lw=1.2, drawstyle="steps-mid", label=style.label)
    axes.legend(loc="upper right", frameon=False, fontsize=7.5)
    axes.set_xlim(span[0], span[1] - 1)


def _band(axes: Axes, released: pl.DataFrame, mechanism: str, span: tuple[int, int]) -> None:
    t = np.arange(*span)
    value = released["frequency"].to_numpy()[t]
    half = NORMAL * released["standard_error"].to_numpy()[t]
    low, high = np.maximum(value - half, 0), value + half
    axes.fill_between(t, low, high, color=style_of(mechanism).colour, alpha=0.2, lw=0, step="mid")


def inserted(text: str, tables: dict[str, str]) -> str:
    """Insert the tables into the page, each between its marks.

    Raises
    ------
    ValueError
        Naming a mark that is missing.
    """
    for name, table in tables.items():
        begin, end = f"<!-- {name}: made by python tools/gains.py -->", f"<!-- end of {name} -->"
        before, found, rest = text.partition(begin)
        _, ends, after = rest.partition(end)
        if not found or not ends:
            raise ValueError(f"{PAGE}: no {begin} … {end}")
        text = f"{before}{begin}\n\n{table}\n\n{end}{after}"
    return text


def read_table(path: Path) -> pl.DataFrame:
    """Read a committed table."""
    numbers = dict.fromkeys(("epsilon", "value", "low", "high", "ratio"), pl.Float64)
    return pl.read_csv(path, schema_overrides=numbers | {"other": pl.String, "better": pl.Boolean})


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the results from runs, and the page's tables and picture from them."""
    parser = argparse.ArgumentParser(prog="python tools/gains.py", description=main.__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of runs and streams")
    parser.add_argument("--into", type=Path, default=Path(), help="folder of the repository")
    given = parser.parse_args(arguments)
    runs = {name: given.data / "runs" / name for name in ("paper", "filter", "default")}
    for folder in runs.values():
        if not folder.is_dir():
            sys.exit(f"gains: {folder}: no such folder; its experiment was not run")
    scores = read_scores(runs["paper"])
    table = pl.concat([gains(scores), covered(scores)])
    shares = parts(read_scores(runs["filter"], [OURS, *PARTS]))
    for path, frame in ((GAINS, table), (SHARES, shares)):
        with atomic_write(given.into / path) as partial:
            frame.write_csv(partial)
    with plt.style.context(STYLE):
        figure = picture(runs["default"], given.data / "streams")
        with atomic_write(given.into / PICTURE) as partial:
            figure.savefig(partial, format="svg", metadata={"Date": None, "Creator": "mtsp-ldp"})
        plt.close(figure)
    page = given.into / PAGE
    text = inserted(page.read_text(encoding="utf-8"), markdown(table, shares))
    with atomic_write(page) as partial:
        partial.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
