"""Times as published, to microseconds since 1970 in UTC (the time of every row before it has a slot)."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

_ISO = r"^\s*(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)\s*(Z|[+-]\d\d(?::?\d\d)?)?)?\s*$"

_ABSOLUTE = re.compile(r"%[:#]*z|%[+s]")  # parts of a strftime form that name the offset


def local(parsed: pl.Expr, time_zone: str) -> pl.Expr:
    """Convert naive local times of a zone to microseconds; null in an hour that a change of clocks skips.

    In an hour that comes twice the first one is meant.
    """
    there = parsed.dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
    return there.dt.timestamp("us")


def written(text: pl.Expr, form: str, time_zone: str) -> pl.Expr:
    """Convert times written in a strftime form to microseconds; null where unreadable.

    Without an offset in the form they are on the clocks of the zone.
    """
    if _ABSOLUTE.search(form):
        return text.str.strptime(pl.Datetime("us", "UTC"), form, strict=False).dt.timestamp("us")
    return local(text.str.strptime(pl.Datetime("us"), form, strict=False), time_zone)


def iso(text: pl.Expr, time_zone: str) -> pl.Expr:
    """Convert ISO 8601 times to microseconds; without Z or an offset they are local times of the zone."""
    day, clock, offset = (text.str.extract(_ISO, group) for group in (1, 2, 3))
    clock = clock.fill_null("00:00")
    clock = pl.when(clock.str.len_chars() == 5).then(clock + ":00").otherwise(clock)
    naive = (day + " " + clock).str.strptime(pl.Datetime("us"), "%Y-%m-%d %H:%M:%S%.f", strict=False)
    hours, minutes = (offset.str.extract(r"^[+-](\d\d):?(\d\d)?$", part) for part in (1, 2))
    shift = hours.cast(pl.Int64) * 60 + minutes.cast(pl.Int64).fill_null(0)
    shift = pl.when(offset.str.starts_with("-")).then(-shift).otherwise(shift).fill_null(0)
    absolute = naive.dt.timestamp("us") - shift * 60_000_000
    return pl.when(offset.is_null()).then(local(naive, time_zone)).otherwise(absolute)


def _unix(per_second: int) -> Callable[[pl.Expr, str], pl.Expr]:
    def read(text: pl.Expr, time_zone: str) -> pl.Expr:
        number = text.cast(pl.Float64, strict=False) * (1_000_000 // per_second)
        return pl.when(number.is_finite()).then(number.round()).cast(pl.Int64, strict=False)

    return read


READERS: dict[str, Callable[[pl.Expr, str], pl.Expr]] = {
    "iso": iso,
    "unix": _unix(1),
    "unix_ms": _unix(1000),
}
"""Named ways to write a time; any other name is a strftime form."""


def tells_a_day(form: str) -> bool:
    """Tell whether a time written in this form and read again is of the same day."""
    probe = datetime(2024, 3, 29, 20, 25, tzinfo=UTC)
    if form in READERS:
        return True
    try:
        text = pl.select(pl.lit(probe).dt.strftime(form).alias("text"))
        found = text.select(written(pl.col("text"), form, "UTC")).item()
    except pl.exceptions.PolarsError:
        return False
    return found is not None and datetime.fromtimestamp(found / 1e6, UTC).date() == probe.date()


def read(text: pl.Expr, form: str, time_zone: str) -> pl.Expr:
    """Convert times in a named or a strftime form to microseconds."""
    if form in READERS:
        return READERS[form](text, time_zone)
    return written(text, form, time_zone)
