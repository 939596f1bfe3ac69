"""Assembly of located records, in any order, to the rows of a stream; dropped ones are counted by reason.

Records go to disk twice, once in runs by user and once in runs by time, so that memory holds a few million of
them whatever their number; the same records in another order or other batches give the same rows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from mtsp_ldp.datasets.ingest.domain import OUTSIDE, Domain
from mtsp_ldp.datasets.ingest.external_sort import ExternalSort
from mtsp_ldp.datasets.ingest.slots import Slots

_NO_YEAR = 253_402_300_800_000_000  # the year 10000 in microseconds
_READ = ("user", "time", "x", "y", "label")
WithinSlot = Literal["last", "first", "most"]
MOST_COUNTS = 1 << 28
"""Largest T × d: the counts of users by slot and cell take two gigabytes then."""


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


@dataclass(frozen=True)
class Rows:
    """Rows of a panel, sorted by (t, user), and what became of the records.

    Attributes
    ----------
    t, user, cell
        int32, uint32, uint16, ``(rows,)``; users are numbered from 0 in the order of their labels.
    length
        T, in timestamps.
    start
        Start of slot 0, in microseconds on the clock of the slots.
    records
        Number of records.
    reasons
        Number of records by what became of them; sums to ``records``. "kept" are those in the stream.
    """

    t: npt.NDArray[np.int32]
    user: npt.NDArray[np.uint32]
    cell: npt.NDArray[np.uint16]
    length: int
    start: int
    records: int
    reasons: dict[str, int]


class _Labels:
    """Numbers for users in the order in which they turn up; their labels are never written to disk."""

    def __init__(self) -> None:
        self._known: pl.DataFrame | None = None

    def numbered(self, frame: pl.DataFrame) -> pl.DataFrame:
        new = frame.select("user").unique(maintain_order=True)
        if self._known is not None:
            new = new.join(self._known, on="user", how="anti", maintain_order="left")
        start = 0 if self._known is None else self._known.height
        new = new.with_columns(number=start + pl.int_range(new.height, dtype=pl.UInt32))
        self._known = new if self._known is None else pl.concat([self._known, new])
        return frame.join(self._known, on="user", how="left").drop("user").rename({"number": "user"})

    def ranks(self, seen: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint32]:
        """Rank each number among the seen ones, in the order of their labels."""
        assert self._known is not None
        order = self._known.sort("user")["number"].to_numpy()
        ranks = np.zeros(seen.size, dtype=np.uint32)
        ranks[order] = np.cumsum(seen[order]) - seen[order]
        return ranks


def assemble(
    records: Iterable[pl.DataFrame], domain: Domain, slots: Slots, rules: Rules, scratch: Path
) -> Rows:
    """Assemble the rows of a stream from records in any order.

    Parameters
    ----------
    records
        Frames with ``user``, ``time`` (microseconds since 1970 UTC), ``x`` and ``y`` or ``label``, and
        ``reason`` (null unless the reader refuses the record; `OUTSIDE` also ends a hold).
    domain, slots, rules
        Cells, timestamps, and rules of what is kept.
    scratch
        A folder that does not exist yet; the caller removes it.

    Raises
    ------
    ValueError
        If no record is kept, with the reasons.
    """
    reasons: Counter[str] = Counter()
    refused: list[pl.DataFrame] = []
    by_user, labels, first, total = ExternalSort(scratch / "user", "user"), _Labels(), [], 0
    for frame in records:
        placed = _placed(frame, domain)
        total += frame.height
        reasons.update({reason: n for reason, n in placed["reason"].value_counts().iter_rows() if reason})
        refused = [_least([*refused, placed.filter(pl.col("reason").is_not_null())])]
        good = placed.filter(pl.col("reason").is_null()).select("user", "time", "cell")
        by_user.add(labels.numbered(pl.concat([good, _elsewhere(placed, rules.hold)])))
        first += good.select(pl.col("time").min()).drop_nulls()["time"].to_list()
    start = slots.start(min(first, default=0))
    by_time = ExternalSort(scratch / "time", "t")
    seen = np.zeros(by_user.counts.size, dtype=np.bool_)
    last = -1
    for frame in by_user.ranges():
        settled = _settled(frame, slots, start, rules, reasons)
        positions = settled.filter(pl.col("cell").is_not_null())
        if positions.height:
            seen[positions["user"].to_numpy()] = True
            last = max(last, int(positions["t"].max()))  # type: ignore[arg-type]
            by_time.add(_extend_positions(settled, rules.hold, slots.length))
    if last < 0:
        why = _describe_reasons(reasons, _shown(refused))
        raise ValueError(f"no record is kept ({why}): columns, box, window or the reading of times is wrong")
    length = slots.length or last + 1
    _check_size(start, length, domain.d)
    if sum(reasons.values()) != total:
        raise RuntimeError(f"{total:,} records, and {_describe_reasons(reasons, {})}: some were lost")
    rows = _gathered(by_time, labels.ranks(seen), length)
    by_reason = {reason: number for reason, number in sorted(reasons.items()) if number}
    return Rows(*rows, length, start, total, by_reason)


def _check_size(start: int, length: int, d: int) -> None:
    """Raise ValueError for a start or a length that no stream has."""
    if start >= _NO_YEAR:
        begin = np.datetime64(start, "us").astype("datetime64[D]")
        raise ValueError(f"the first record is of {begin}: the reading of times (time_format) is wrong")
    if length * d > MOST_COUNTS:
        begin = np.datetime64(start, "us").astype("datetime64[s]")
        raise ValueError(
            f"T = {length:,} slots of {d} cells from {begin} on are too many: set origin, length, "
            "slot_minutes or how times are read"
        )


def _describe_reasons(reasons: Mapping[str, int], examples: Mapping[str, str]) -> str:
    counts = [
        f"{reason} {number:,}{examples.get(reason, '')}"
        for reason, number in sorted(reasons.items())
        if number
    ]
    return ", ".join(counts) or "there is none"


def _least(refused: list[pl.DataFrame]) -> pl.DataFrame:
    """Pick one record of each reason, the same whatever the order of the records."""
    names = ["reason", *(name for name in _READ if name in refused[0].columns)]
    few = pl.col("user").eq_missing(pl.col("user").min().over("reason"))
    each = pl.concat([frame.select(names) for frame in refused]).filter(few)
    return each.sort(names).unique("reason", keep="first")


def _shown(refused: list[pl.DataFrame]) -> dict[str, str]:
    """Show a record of each reason as it was read; None is a field that could not be read."""
    # beyond, polars cannot write a date
    dated = pl.when(pl.col("time").is_between(-1 << 62, 1 << 62)).then("time").cast(pl.Datetime("us"))
    clock = pl.coalesce(dated.dt.strftime("%Y-%m-%d %H:%M:%S"), pl.col("time").cast(pl.String)).alias("time")
    return {
        row.pop("reason"): f" (as {', '.join(f'{name} {value}' for name, value in row.items())})"
        for frame in refused
        for row in frame.with_columns(clock).to_dicts()
    }


def _placed(frame: pl.DataFrame, domain: Domain) -> pl.DataFrame:
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


def _settled(
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


def _elsewhere(placed: pl.DataFrame, hold: int) -> pl.DataFrame:
    """Pick records that have no cell and yet say that their user is elsewhere: they end a hold."""
    where = pl.col("elsewhere") & pl.all_horizontal(pl.col("user", "time").is_not_null())
    cell = pl.lit(None, dtype=placed.schema["cell"]).alias("cell")
    return placed.filter(where & (hold > 1)).select("user", "time", cell)


def _extend_positions(settled: pl.DataFrame, hold: int, length: int | None) -> pl.DataFrame:
    """Repeat each position in the next ``hold`` - 1 slots, until its user is seen again."""
    if hold == 1:
        return settled
    following = pl.when(pl.col("user") == pl.col("user").shift(-1)).then(pl.col("t").shift(-1))
    # who leaves in the very slot was there in it
    seen = pl.when(following.is_not_null()).then(pl.max_horizontal(following, pl.col("t") + 1))
    until = pl.min_horizontal(pl.col("t") + hold, seen, pl.lit(length, dtype=pl.Int32))
    held = settled.with_columns(until=until).filter(pl.col("cell").is_not_null())
    return held.with_columns(t=pl.int_ranges("t", "until", dtype=pl.Int32)).drop("until").explode("t")


def _gathered(
    by_time: ExternalSort, ranks: npt.NDArray[np.uint32], length: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint32], npt.NDArray[np.uint16]]:
    total = int(by_time.counts[:length].sum())
    t, user = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.uint32)
    cell = np.empty(total, dtype=np.uint16)
    place = 0
    for frame in by_time.ranges():
        rows = frame.filter(pl.col("t") < length)
        rows = rows.with_columns(user=pl.Series(ranks).gather(rows["user"])).sort("t", "user")
        here = slice(place, place + rows.height)
        t[here], user[here], cell[here] = (rows[name].to_numpy() for name in ("t", "user", "cell"))
        place += rows.height
    return t, user, cell
