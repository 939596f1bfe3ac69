"""Data of the page's script: results, one run of each mechanism and its spending, in little room."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from mtsp_ldp.evaluation.runs import Run
from mtsp_ldp.mechanisms.registry import floors
from mtsp_ldp.report.style import ordered, style_of
from mtsp_ldp.streams.facts import StreamFacts
from mtsp_ldp.streams.stream import Stream

RELEASES = ["raw", "projected"]
MEASURES = {
    ("frequency", "mse"): ("MSE of frequencies", True),
    ("frequency", "mae"): ("mean absolute error of frequencies", True),
    ("counting_10", "mse"): ("MSE of counting queries, Δ = 10", True),
    ("range_short", "mse"): ("MSE of ranges up to d/16", True),
    ("range_medium", "mse"): ("MSE of ranges up to d/4", True),
    ("range_long", "mse"): ("MSE of ranges up to d", True),
    ("box", "mse"): ("MSE of boxes on the map", True),
    ("event_12_count", "f1_macro"): ("F1 of events on counts, Δ = 12", False),
    ("event_12_share", "f1_macro"): ("F1 of events relative to n_t, Δ = 12", False),
    ("event_12_count", "auc_macro"): ("AUC of events on counts, Δ = 12", False),
}
"""Measures of the explorer: (query, measure), its words, and True if its axis is logarithmic."""
ROOM = 4_000_000
"""Bytes for released frequencies; beyond, only every so many-th timestamp is shown."""
_DASHES: dict[str, list[int]] = {"-": [], "--": [6, 3], ":": [2, 2], "-.": [7, 2, 2, 2]}
_SHAPES = {
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "D": "diamond",
    "o": "circle",
    "P": "cross",
}


@dataclass(frozen=True)
class View:
    """Data of one stream for the page.

    Attributes
    ----------
    stream, facts
        True stream, and the facts that prepare wrote beside it.
    runs
        Repetition 0 of each mechanism that reads data, at the focus.
    """

    stream: Stream
    facts: StreamFacts
    runs: Mapping[str, Run]


def payload(
    summary: pl.DataFrame, views: Mapping[str, View], focus: tuple[float, int], profiles: pl.DataFrame
) -> dict[str, Any]:
    """Collect everything the page draws into one object of plain numbers and strings.

    Parameters
    ----------
    summary
        Means and intervals of the experiment.
    views
        Data by stream.
    focus
        ε and w of the runs that are shown.
    profiles
        Performance profiles: ``mechanism, factor, share``.
    """
    names = ordered(summary["mechanism"].unique().to_list())
    releases = [name for name in RELEASES if name in set(summary["release"])]
    here = set(summary.select("query", "measure").unique().rows())
    measures = [key for key in MEASURES if key in here]
    cells = sum(2 * view.stream.counts.size * (len(view.runs) + 1) for view in views.values())
    shares = sum(3 * 4 * view.stream.length * len(view.runs) for view in views.values())
    size = (cells + shares) * 4 / 3
    stride = max(int(np.ceil(size / ROOM)), 1)
    return {
        "order": list(views),
        "releases": releases,
        "focus": {"epsilon": focus[0], "window": focus[1]},
        "mechanisms": {name: _style_entry(name) for name in names},
        "measures": [{"title": MEASURES[key][0], "log": MEASURES[key][1]} for key in measures],
        "results": _results(summary, list(views), names, releases, measures),
        "streams": {name: _shown(view, focus[1], stride) for name, view in views.items()},
        "profiles": [list(row) for row in profiles.select("mechanism", "factor", "share").iter_rows()],
    }


def _style_entry(name: str) -> dict[str, Any]:
    style = style_of(name)
    return {
        "label": style.label,
        "colour": style.colour,
        "dash": _DASHES[style.dash],
        "shape": _SHAPES.get(style.marker, "circle"),
        "floor": name in floors(),
    }


def _results(
    summary: pl.DataFrame,
    streams: list[str],
    names: list[str],
    releases: list[str],
    measures: list[tuple[str, str]],
) -> list[list[float | None]]:
    """Write rows of places in the lists, and numbers of four digits."""
    places = {key: place for place, key in enumerate(measures)}
    kept = summary.filter(
        pl.struct("query", "measure").is_in([{"query": q, "measure": m} for q, m in places])
    )
    digits = [pl.col(name).round_sig_figs(4) for name in ("mean", "low", "high")]
    return [
        [
            streams.index(row["dataset"]),
            names.index(row["mechanism"]),
            row["epsilon"],
            row["window"],
            releases.index(row["release"]),
            places[row["query"], row["measure"]],
            *(
                None if row[name] is None or row[name] != row[name] else row[name]
                for name in ("mean", "low", "high")
            ),
            row["repetitions"],
        ]
        for row in kept.with_columns(digits).iter_rows(named=True)
    ]


def _shown(view: View, window: int, stride: int) -> dict[str, Any]:
    stream, facts = view.stream, view.facts
    placed = facts.coordinates is not None
    truth = np.nan_to_num(stream.frequencies[::stride])
    return {
        "title": facts.title,
        "length": stream.length,
        "d": stream.d,
        "stride": stride,
        "start": facts.start,
        "time_zone": facts.clock,
        "slot_minutes": facts.slot_minutes,
        "layout": "grid" if placed and facts.grid else "points" if placed else "bars",
        "side": facts.grid,
        "cells": [[cell.x if placed else 0, cell.y if placed else 0, cell.name] for cell in facts.cells],
        "active": (stream.active[::stride] * stream.replicate).tolist(),
        "events": [
            {"label": facts.describe_event(event), "start": event.start, "end": event.end}
            for event in facts.events
        ],
        "truth": _packed(truth),
        "releases": {name: _packed(run.frequencies[::stride]) for name, run in view.runs.items()},
        "budgets": {name: _spent(run.trace, window, stride) for name, run in view.runs.items()},
    }


def _packed(values: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Pack numbers as 16-bit integers times a scale: a ten-thousandth of the largest is visible."""
    scale = float(np.abs(values).max(initial=0.0)) / 32767 or 1.0
    whole = np.rint(values / scale).astype("<i2")
    return {"scale": scale, "bytes": base64.b64encode(whole.tobytes()).decode()}


def _spent(trace: pl.DataFrame, window: int, stride: int) -> dict[str, Any]:
    """Pack the shares of both parts and their sum over the window: the largest of ``stride`` timestamps."""
    first, second = (trace[name].to_numpy() for name in ("share_1", "share_2"))
    sums = np.cumsum(np.r_[0.0, first + second])
    start = np.maximum(np.arange(first.size) + 1 - window, 0)
    within = sums[1:] - sums[start]
    blocks = np.arange(0, first.size, stride)
    parts = (np.maximum.reduceat(part, blocks).astype("<f4") for part in (first, second, within))
    return {
        "parts": [base64.b64encode(part.tobytes()).decode() for part in parts],
        "published": int(trace["published"].sum()),
        "most": round(float(within.max()), 9),
    }
