"""Assembly of located records, in any order, to the rows of a stream; dropped ones are counted by reason.

Records go to disk twice, once in runs by user and once in runs by time, so that memory holds a few million of
them whatever their number; the same records in another order or other batches give the same rows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from mtsp_ldp.datasets.ingest.domain import Domain
from mtsp_ldp.datasets.ingest.external_sort import ExternalSort
from mtsp_ldp.datasets.ingest.positions import Rules, extend, locate, pick_elsewhere, settle
from mtsp_ldp.datasets.ingest.slots import Slots
from mtsp_ldp.streams.facts import MOST_COUNTS

_NO_YEAR = 253_402_300_800_000_000  # the year 10000 in microseconds
_READ = ("user", "time", "x", "y", "label", "read")


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
    by_user, labels, times, total = ExternalSort(scratch / "user", "user"), _Labels(), [], 0
    for frame in records:
        placed = locate(frame, domain)
        total += frame.height
        reasons.update({reason: n for reason, n in placed["reason"].value_counts().iter_rows() if reason})
        refused = [_least([*refused, placed.filter(pl.col("reason").is_not_null())])]
        good = placed.filter(pl.col("reason").is_null()).select("user", "time", "cell")
        by_user.add(labels.numbered(pl.concat([good, pick_elsewhere(placed, rules.hold)])))
        times += good.select(pl.min("time"), latest=pl.max("time")).drop_nulls().rows()
    start = slots.start(min((first for first, _ in times), default=0))
    end = slots.length or 1 + _slot_of(max((latest for _, latest in times), default=0), slots, start)
    by_time = ExternalSort(scratch / "time", "t")
    seen = np.zeros(by_user.counts.size, dtype=np.bool_)
    last = -1
    for frame in by_user.ranges():
        settled = settle(frame, slots, start, rules, reasons)
        positions = settled.filter(pl.col("cell").is_not_null())
        if positions.height:
            seen[positions["user"].to_numpy()] = True
            last = max(last, int(positions["t"].max()))  # type: ignore[arg-type]
            for held in extend(settled, rules.hold, end):
                by_time.add(held)
    if last < 0:
        why = _describe_reasons(reasons, _shown(refused))
        raise ValueError(f"no record is kept ({why}): columns, box, window or the reading of times is wrong")
    length = slots.length or last + 1
    _check_size(start, length, domain.d, slots.minutes)
    if sum(reasons.values()) != total:
        raise RuntimeError(f"{total:,} records, and {_describe_reasons(reasons, {})}: some were lost")
    rows = _gathered(by_time, labels.ranks(seen), length)
    by_reason = {reason: number for reason, number in sorted(reasons.items()) if number}
    return Rows(*rows, length, start, total, by_reason)


def _slot_of(time: int, slots: Slots, start: int) -> int:
    return int(pl.select(time=pl.lit(time, pl.Int64)).select(slots.number(start)).item())


def _check_size(start: int, length: int, d: int, minutes: int) -> None:
    """Raise ValueError for a start or a length that no stream has."""
    if start >= _NO_YEAR:
        begin = np.datetime64(start, "us").astype("datetime64[D]")
        raise ValueError(f"the first record is of {begin}: the reading of times (time_format) is wrong")
    if length * d > MOST_COUNTS:
        begin = np.datetime64(start, "us").astype("datetime64[m]")
        end = begin + np.timedelta64(length * minutes, "m")
        raise ValueError(
            f"T = {length:,} slots of {d} cells from {begin} to {end} are too many: set origin, length, "
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
    """Show a record of each reason as it is in the file, or else as it was read."""
    # beyond, polars cannot write a date
    dated = pl.when(pl.col("time").is_between(-1 << 62, 1 << 62)).then("time").cast(pl.Datetime("us"))
    clock = pl.coalesce(dated.dt.strftime("%Y-%m-%d %H:%M:%S"), pl.col("time").cast(pl.String)).alias("time")
    shown = {}
    for row in (row for frame in refused for row in frame.with_columns(clock).to_dicts()):
        reason, text = row.pop("reason"), row.pop("read", None)
        shown[reason] = f" (as {text or ', '.join(f'{name} {value}' for name, value in row.items())})"
    return shown


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
