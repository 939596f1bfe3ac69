"""Slots: the cut of time into the timestamps of a stream."""

from dataclasses import dataclass

import polars as pl

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
        Start of slot 0, in microseconds since 1970 UTC; None for the first record in the domain (for whole
        days, the midnight before it).
    length
        T; None for the slot of the last record.
    """

    minutes: int
    time_zone: str
    origin: int | None
    length: int | None

    @property
    def _daily(self) -> bool:
        return self.minutes % DAY == 0

    def clock(self, time: pl.Expr) -> pl.Expr:
        """Convert times to the microseconds that slots are counted in."""
        if not self._daily:
            return time
        absolute = pl.from_epoch(time, time_unit="us").dt.replace_time_zone("UTC")
        return absolute.dt.convert_time_zone(self.time_zone).dt.replace_time_zone(None).dt.timestamp("us")

    def start(self, first: int) -> int:
        """Find the start of slot 0 on that clock, where ``first`` is the first record's time."""
        time = first if self.origin is None else self.origin
        on_clock = int(pl.select(self.clock(pl.lit(time, dtype=pl.Int64))).item())
        midnight = on_clock - on_clock % (DAY * MINUTE)
        return midnight if self._daily and self.origin is None else on_clock

    def number(self, start: int) -> pl.Expr:
        """Find the number of the slot of each ``time``."""
        return (self.clock(pl.col("time")) - start).floordiv(self.minutes * MINUTE)
