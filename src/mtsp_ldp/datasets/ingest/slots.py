"""Slots: the cut of time into the timestamps of a stream."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from mtsp_ldp.datasets.ingest.timestamps import beginning

MINUTE = 60_000_000
DAY = 24 * 60


@dataclass(frozen=True)
class Slots:
    """Cut of time into slots.

    Attributes
    ----------
    minutes
        Length of a slot. Whole days are calendar days of the zone; anything else is time that has passed.
    time_zone
        Time zone whose calendar days count.
    origin
        Start of slot 0: microseconds since 1970 UTC; ``first`` for the first record in the domain, ``floor``
        for the whole slot of the day that holds it. For whole days both are the midnight before it.
    length
        T; None for the slot of the last record.
    """

    minutes: int
    time_zone: str
    origin: int | Literal["first", "floor"]
    length: int | None

    @property
    def _daily(self) -> bool:
        return self.minutes % DAY == 0

    def clock(self, time: pl.Expr) -> pl.Expr:
        """Convert times to the microseconds that slots are counted in."""
        return self._wall(time) if self._daily else time

    def _wall(self, time: pl.Expr) -> pl.Expr:
        absolute = pl.from_epoch(time, time_unit="us").dt.replace_time_zone("UTC")
        return absolute.dt.convert_time_zone(self.time_zone).dt.replace_time_zone(None).dt.timestamp("us")

    def start(self, first: int) -> int:
        """Find the start of slot 0 on that clock, where ``first`` is the first record's time."""
        if isinstance(self.origin, int):
            there = self._read(self.clock, self.origin)
            midnight = there - there % (DAY * MINUTE)
            return midnight if self._daily and self._begins(midnight) == self.origin else there
        time = self._read(self._wall, first)
        if self._daily:
            return time - time % (DAY * MINUTE)
        if self.origin == "first":
            return first
        whole = time - time % (DAY * MINUTE) % (self.minutes * MINUTE)
        begin = first - (time - whole)
        # in a slot in which the clocks change, another time has passed than they show
        return begin if self._read(self._wall, begin) == whole else self._begins(whole)

    def _begins(self, wall: int) -> int:
        """Find the moment of a time on the clocks; one that they skip begins when they go on."""
        day = pl.from_epoch(pl.lit(wall, dtype=pl.Int64), time_unit="us")
        return int(pl.select(beginning(day, self.time_zone)).item() or 0)

    def _read(self, clock: Callable[[pl.Expr], pl.Expr], time: int) -> int:
        return int(pl.select(clock(pl.lit(time, dtype=pl.Int64))).item())

    def number(self, start: int) -> pl.Expr:
        """Find the number of the slot of each ``time``."""
        return (self.clock(pl.col("time")) - start).floordiv(self.minutes * MINUTE)
