"""Tables of one stream: errors per cell, the best marked, beside LSP and the floors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from mtsp_ldp.evaluation.summary import with_floors
from mtsp_ldp.mechanisms.registry import floors
from mtsp_ldp.report.style import ordered, style_of

NOTE = (
    "Mean over repetitions; their number and 95 % intervals are in the csv. Best mechanism of a column bold, "
    "those whose mean lies within its interval underlined (the floors, below, do not compete); † loses to "
    "publishing nothing (its interval or closed form lies above the better floor); (†): its mean does, and "
    "the interval does not decide."
)
BEST, CLOSE, LOSES, ABOVE = "best", "close", "loses", "above"


@dataclass(frozen=True)
class Row:
    """One line: its label, the text of each column, and the marks of each column."""

    label: str
    values: list[str]
    marks: list[set[str]] = field(default_factory=list)
    floor: bool = False


@dataclass(frozen=True)
class Block:
    """One table: a title, column heads and rows."""

    title: str
    heads: list[str]
    rows: list[Row]
    folded: bool = True


def blocks(table: pl.DataFrame) -> list[Block]:
    """Make the tables of one stream: MSE, its ratios and its median, raw and projected."""
    names = ordered(table["mechanism"].unique().to_list())
    values = {
        "mean": ("MSE", "{:.1e}"),
        "ratio_to_lsp": ("MSE / LSP's", "{:.2f}"),
        "ratio_to_uniform": ("MSE / uniform floor's", "{:.2f}"),
        "median": ("Median of the squared error over repetitions", "{:.1e}"),
    }
    return [
        _block(table.filter(pl.col("release") == release), names, value, f"{title}, {release}", form)
        for release in ("raw", "projected")
        for value, (title, form) in values.items()
    ]


def _block(part: pl.DataFrame, names: list[str], value: str, title: str, form: str) -> Block:
    cells = part.select("epsilon", "window").unique().sort("epsilon", "window").rows()
    at = {(row["mechanism"], row["epsilon"], row["window"]): row for row in part.to_dicts()}
    flags = {"best": BEST, "close": CLOSE, "loses_to_floor": LOSES, "above_floor": ABOVE}
    rows = []
    for name in names:
        found = [at.get((name, *cell)) for cell in cells]
        marks = [{mark for flag, mark in flags.items() if row and row[flag]} for row in found]
        values = [_shown(row[value] if row else None, form) for row in found]
        rows.append(Row(style_of(name).label, values, marks, name in floors()))
    heads = [f"ε={epsilon:g} w={window}" for epsilon, window in cells]
    return Block(title, heads, rows, folded=value != "mean")


QUERIES = {
    "counting_1": "counting Δ=1",
    "counting_10": "counting Δ=10",
    "range_short": "range ≤ d/16",
    "range_medium": "range ≤ d/4",
    "range_long": "range ≤ d",
    "box": "box",
}
PARTS = {
    ("frequency", "mse"): "leaf MSE",
    ("range_short", "mse"): "range ≤ d/16",
    ("range_medium", "mse"): "range ≤ d/4",
    ("range_long", "mse"): "range ≤ d",
    ("event_12_count", "f1_macro"): "event F1",
}
"""Measures of an ablation: (query, measure) and its column's head."""
_Keys = Mapping[tuple[str, str], str]


def query_blocks(summary: pl.DataFrame, epsilon: float, window: int) -> list[Block]:
    """Query errors and event detection of one stream at one epsilon and window, raw and projected."""
    table = with_floors(summary).filter(pl.col("epsilon") == epsilon, pl.col("window") == window)
    at, found = f"at ε={epsilon:g} w={window}", []
    for release in ("raw", "projected"):
        part = table.filter(pl.col("release") == release)
        queries = {(query, "mse"): head for query, head in QUERIES.items()}
        found.append(_measures(part, queries, f"MSE of queries {at}, {release}", "{:.1e}", 1))
        found.append(_events(part, f"{at}, {release}"))
        known = part.filter(pl.col("query").str.starts_with("known_"), pl.col("measure").str.contains("_6_"))
        columns = {
            (query, measure): f"{query[6:].replace('_', ' ')}, {measure.rpartition('_')[2]}s"
            for query, measure in known.select("query", "measure").unique().sort("query", "measure").rows()
        }
        title = (
            f"Known events found at Δ=6, share of repetitions, {at}, {release} (mind the false alarms: F1)"
        )
        if columns:
            found.append(_measures(part, columns, title, "{:.2f}", -1))
    return found


def _events(part: pl.DataFrame, at: str) -> Block:
    """Make the table of F1 and AUC, with a last row for flagging always: recall 1, an AUC of one half."""
    columns = {
        (f"event_{delta}_{on}", f"{measure}_macro"): f"{head} Δ={delta} {on}"
        for on in ("count", "share")
        for delta in (3, 6, 12)
        for measure, head in (("f1", "F1"), ("auc", "AUC"))
    }
    events = part.filter(pl.col("query").str.starts_with("event_"), pl.col("measure") == "events")
    number = int(events["mean"].max() or 0) if events.height else 0  # type: ignore[arg-type]
    title = f"Event detection {at} (up to {number} true event timestamps)"
    if not number:
        return Block(f"{title}: none to detect", [], [], folded=False)
    block = _measures(part, columns, title, "{:.2f}", -1)
    rates = part.filter(pl.col("measure") == "f1_always_macro").group_by("query").agg(pl.col("mean").first())
    known, keys = dict(rates.iter_rows()), {head: key for key, head in columns.items()}
    always = [
        f"{known[keys[head][0]]:.2f}" if keys[head][1].startswith("f1") else "0.50" for head in block.heads
    ]
    block.rows.append(Row("floor: always", always, [set() for _ in always], floor=True))
    return block


def _measures(part: pl.DataFrame, columns: _Keys, title: str, form: str, sign: int) -> Block:
    """Make rows of mechanisms, columns of (query, measure); sign 1 marks the smallest, -1 the largest."""
    names = ordered(part["mechanism"].unique().to_list())
    at = {(row["query"], row["measure"], row["mechanism"]): row for row in part.to_dicts()}
    shown = [key for key in columns if any((*key, name) in at for name in names)]
    marks = [_marks({name: at.get((*key, name)) for name in names}, sign) for key in shown]
    rows = [
        Row(
            style_of(name).label,
            [_shown((at.get((*key, name)) or {}).get("mean"), form) for key in shown],
            [marked.get(name, set()) for marked in marks],
            name in floors(),
        )
        for name in names
    ]
    return Block(title, [columns[key] for key in shown], rows)


def _marks(column: Mapping[str, dict[str, Any] | None], sign: int) -> dict[str, set[str]]:
    """Mark the best mechanisms of a column, and those within its interval."""
    values = {
        name: sign * row["mean"]
        for name, row in column.items()
        if name not in floors() and row is not None and not _unknown(row["mean"])
    }
    least = min(values.values(), default=0.0)
    best = {name for name, value in values.items() if value == least}
    edge = "high" if sign > 0 else "low"
    edges = [sign * row[edge] for name in best if (row := column[name]) and row[edge] is not None]
    reach = max(edges, default=least)
    close = {name for name, value in values.items() if least < value <= reach}
    return {**{name: {BEST} for name in best}, **{name: {CLOSE} for name in close}}


def ablation_blocks(ratios: pl.DataFrame) -> list[Block]:
    """Make tables of the effect of each part on one stream: ratios to the paper's mechanism, raw."""
    found = []
    part = ratios.filter(pl.col("release") == "raw")
    for base in ordered(part["base"].unique().to_list()):
        for epsilon, window in part.select("epsilon", "window").unique().sort("epsilon", "window").rows():
            cell = part.filter(
                pl.col("base") == base, pl.col("epsilon") == epsilon, pl.col("window") == window
            )
            at = {(row["query"], row["measure"], row["variant"]): row for row in cell.to_dicts()}
            keys = [key for key in PARTS if any(row[:2] == key for row in at)]
            rows = [
                Row(
                    variant.replace("_", " "),
                    [_interval(at.get((*key, variant))) for key in keys],
                    [set() for _ in keys],
                )
                for variant in cell["variant"].unique(maintain_order=True).to_list()
            ]
            at_cell = f"{style_of(base).label}, ε={epsilon:g} w={window}"
            title = f"What each part is worth: {at_cell}, ratio to the paper's"
            found.append(Block(title, [PARTS[key] for key in keys], rows, folded=False))
    return found


def _unknown(value: float | None) -> bool:
    return value is None or value != value


def _interval(row: dict[str, float] | None) -> str:
    if row is None or _unknown(row["ratio"]):
        return "–"
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None or _unknown(value) else form.format(value)
