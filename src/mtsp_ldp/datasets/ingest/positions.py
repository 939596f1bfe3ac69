"""Positions: of the records of a user, which counts in a slot, and how long it holds."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import polars as pl

from mtsp_ldp.datasets.ingest.domain import OUTSIDE, Domain
from mtsp_ldp.datasets.ingest.external_sort import ROWS
from mtsp_ldp.datasets.ingest.slots import Slots

WithinSlot = Literal["last", "first", "most"]


@dataclass(frozen=True)
class Rules:
    """Rules that choose the records to keep.

    Attributes
    ----------
    within_slot
        Record of a user that counts in a slot: the last, the first, or the last of the cell with the most
        records.
    hold
        Slots that a position holds, that of its record included, unless its user is seen elsewhere before.
    minimum_reports
        Least number of records of a user in the window.
    """

    within_slot: WithinSlot = "last"
    hold: int = 1
    minimum_reports: int = 1


def locate(frame: pl.DataFrame, domain: Domain) -> pl.DataFrame:
    """Add cells, in ``reason`` why a record has none, and whether it says that its user is elsewhere."""
    place = [name for name in ("x", "y", "label") if name in frame.columns]
    unread = pl.any_horizontal(pl.col("user", "time", *place).is_null())
    if "x" in place:
        unread |= ~pl.all_horizontal(pl.col("x", "y").is_finite().fill_null(value=False))
    numbered = domain.numbered(frame)
    readable = pl.col("reason").is_null() & ~unread
    return numbered.with_columns(
        elsewhere=pl.col("reason").eq_missing(pl.lit(OUTSIDE)) | (readable & pl.col("elsewhere")),
        reason=pl.coalesce(
            "reason", pl.when(unread).then(pl.lit("unparsable")), pl.col("misplaced").cast(pl.String)
        ),
    )


def settle(
    frame: pl.DataFrame, slots: Slots, start: int, rules: Rules, reasons: Counter[str]
) -> pl.DataFrame:
    """Choose one position a user and slot, and keep what ends it.

    Returns
    -------
    DataFrame
        ``user``, ``t`` and ``cell`` (null where the user is elsewhere), by user and time.
    """
    numbered = frame.with_columns(t=slots.number(start))
    elsewhere = numbered.filter(pl.col("cell").is_null())
    timed = numbered.filter(pl.col("cell").is_not_null())
    end = slots.length or 1 << 31
    reasons["before_window"] += int((timed["t"] < 0).sum())
    reasons["after_window"] += int((timed["t"] >= end).sum())
    kept = timed.filter(pl.col("t").is_between(0, end - 1)).sort("user", "time", "cell")
    kept = kept.with_columns(latest=pl.col("time").max().over("user", "t"))  # of a slot, whichever counts
    steps = (
        ("duplicate", ~_changes("user", "time", "cell")),
        ("under_minimum", pl.len().over("user") < rules.minimum_reports),
        ("superseded_in_slot", ~_chosen(rules.within_slot)),
    )
    for reason, dropped in steps:
        left = kept.filter(~dropped)
        reasons[reason] += kept.height - left.height
        kept = left
    reasons["kept"] += kept.height
    if not elsewhere.is_empty():
        ends = elsewhere.filter(pl.col("t").is_between(0, end - 1)).with_columns(latest="time")
        kept = pl.concat([kept, ends], how="diagonal")
        kept = kept.sort("user", "latest", pl.col("cell").is_not_null())  # later, and not at once, ends
    return kept.select("user", pl.col("t").cast(pl.Int32), "cell")


def _changes(*columns: str, step: int = 1) -> pl.Expr:
    """Tell whether a row differs from the one before it (``step`` = 1) or after it (-1)."""
    return pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(step)) for name in columns)


def _chosen(rule: str) -> pl.Expr:
    if rule == "first":
        return _changes("user", "t")
    if rule == "last":
        return _changes("user", "t", step=-1)
    visits = pl.len().over("user", "t", "cell")
    latest = pl.col("time").max().over("user", "t", "cell")
    best = pl.struct(visits.alias("n"), latest.alias("z"), "cell").rank("dense", descending=True)
    mine = best.over("user", "t") == 1
    return mine & (pl.int_range(pl.len()).over("user", "t", "cell") == visits - 1)


def pick_elsewhere(placed: pl.DataFrame, hold: int) -> pl.DataFrame:
    """Pick records that have no cell and yet say that their user is elsewhere: they end a hold."""
    where = pl.col("elsewhere") & pl.all_horizontal(pl.col("user", "time").is_not_null())
    cell = pl.lit(None, dtype=placed.schema["cell"]).alias("cell")
    return placed.filter(where & (hold > 1)).select("user", "time", cell)


def extend(settled: pl.DataFrame, hold: int, end: int, rows: int = ROWS) -> Iterator[pl.DataFrame]:
    """Repeat each position in the next ``hold`` - 1 slots before ``end``, until its user is seen again.

    Yields
    ------
    DataFrame
        About ``rows`` rows each.
    """
    if hold == 1:
        yield settled
        return
    following = pl.when(pl.col("user") == pl.col("user").shift(-1)).then(pl.col("t").shift(-1))
    # who leaves in the very slot was there in it
    seen = pl.when(following.is_not_null()).then(pl.max_horizontal(following, pl.col("t") + 1))
    until = pl.min_horizontal(pl.col("t") + hold, seen, pl.lit(end))
    held = settled.with_columns(until=until).filter(pl.col("cell").is_not_null())
    for part in held.group_by((pl.col("until") - pl.col("t")).cum_sum() // rows):
        slots = pl.int_ranges("t", "until", dtype=pl.Int32)
        yield part[1].with_columns(t=slots).drop("until").explode("t")
