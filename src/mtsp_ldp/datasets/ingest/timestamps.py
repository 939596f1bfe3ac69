"""Times as published, to microseconds since 1970 in UTC (the time of every row before it has a slot)."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import polars as pl

_OFFSET = r"Z|UTC|GMT|[+-]\d\d(?::?\d\d)?"
_ISO = rf"^\s*(\d{{4}}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{{1,9}})?)?)\s*({_OFFSET})?)?\s*$"

_TOLD = re.compile(r"%[:#]*z|%[+s]")
"""Parts of a strftime form that read an offset."""
_MEANT = re.compile(
    r"(?<![A-Za-z%])(?:(?:UTC|GMT)?([+-])(\d\d?)(?::?(\d\d)(?![A-Za-z0-9:])|$)|(?:Z|UTC|GMT)(?![A-Za-z0-9+-]))"
)
"""An offset that is written in the form itself, the same for all times; hours alone at its end only."""
_ZONES = {
    *("EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "AKST", "HST", "AST", "ADT"),
    *("WET", "WEST", "CET", "CEST", "EET", "EEST", "BST", "IST", "JST", "KST", "MSK", "SGT", "HKT"),
    *("AEST", "AEDT", "ACST", "ACDT", "AWST", "NZST", "NZDT", "z", "Zulu", "zulu"),
}
"""Names of zones, many of which several zones share."""
_DIRECTIVE = re.compile(r"%[-_0^#:.]*\d*[A-Za-z%+]")
_WIDTHS = {"Y": 4, "j": 3, **dict.fromkeys("mdHIMSy", 2)}
"""Digits of the numbers in a form."""
_RUN = "(?:%[YmdHIMSyj]){2,}"
_CLOCK = re.compile(r"%[-_0]*[HIkMTRXcrs+S]")
_FARTHEST = 14 * 60
"""Largest offset that a clock on earth has, in minutes."""
_MINUTE = 60_000_000
_CALENDAR = 8e18
"""Microseconds from 1970 beyond which polars has no dates."""


def local(parsed: pl.Expr, time_zone: str) -> pl.Expr:
    """Convert naive local times of a zone to microseconds; null in an hour that a change of clocks skips.

    In an hour that comes twice the first one is meant.
    """
    there = parsed.dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
    return there.dt.timestamp("us")


def beginning(day: pl.Expr, time_zone: str) -> pl.Expr:
    """Convert days of a zone, as naive midnights, to microseconds of their first moment.

    Clocks that skip midnight begin the day half an hour or an hour later.
    """
    moments = (local(day.dt.offset_by(by), time_zone) for by in ("0m", "30m", "1h"))
    return pl.coalesce(moments)


def written(text: pl.Expr, form: str, time_zone: str) -> pl.Expr:
    """Convert times written in a strftime form to microseconds; null where unreadable.

    An offset in the form, read or written out (Z, UTC, GMT, +0100), is meant; without one times are on the
    clocks of the zone.
    """
    if re.search(_RUN, form):  # where a zero is lost, other digits would be the hours
        text = pl.when(text.str.contains(_digits(form))).then(text)
    if _TOLD.search(form):
        hours, minutes = (text.str.extract(r"[+-](\d\d):?(\d\d)\s*$", part).cast(pl.Int64) for part in (1, 2))
        possible = ((hours * 60 + minutes <= _FARTHEST) & (minutes < 60)).fill_null(value=True)
        found = text.str.strptime(pl.Datetime("us", "UTC"), form, strict=False).dt.timestamp("us")
        return pl.when(possible).then(found) if form.endswith("z") else found
    naive = text.str.strptime(pl.Datetime("us"), form, strict=False)
    shift = offset_of(form)
    if shift is not None:
        return naive.dt.timestamp("us") - shift * _MINUTE
    return local(naive, time_zone) if _CLOCK.search(form) else beginning(naive, time_zone)


def _digits(form: str) -> str:
    """Write a pattern of the texts in which numbers with nothing between them have all their digits."""
    pattern = ""
    for part in re.split(rf"({_RUN}|{_DIRECTIVE.pattern}|\s+)", form):
        if re.fullmatch(_RUN, part):
            pattern += "".join(rf"\d{{{_WIDTHS[name]}}}" for name in part[1::2])
        else:
            pattern += ".*" if part.startswith("%") or part.isspace() else re.escape(part)
    return f"^{pattern}$"


def offset_of(form: str) -> int | None:
    """Find the offset that is written out in a strftime form, in minutes; None without one."""
    plain = _DIRECTIVE.sub(" ", form)
    found = _MEANT.search(plain)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    return int(f"{sign}1") * (int(hours) * 60 + int(minutes or 0)) if sign else 0


def iso(text: pl.Expr, time_zone: str) -> pl.Expr:
    """Convert ISO 8601 times to microseconds; without Z or an offset they are local times of the zone.

    A date alone is the beginning of its day. Offsets beyond 14 hours are unreadable.
    """
    day, clock, offset = (text.str.extract(_ISO, group) for group in (1, 2, 3))
    full = clock.fill_null("00:00")
    full = pl.when(full.str.len_chars() == 5).then(full + ":00").otherwise(full)
    naive = (day + " " + full).str.strptime(pl.Datetime("us"), "%Y-%m-%d %H:%M:%S%.f", strict=False)
    hours, minutes = (offset.str.extract(r"^[+-](\d\d):?(\d\d)?$", part) for part in (1, 2))
    shift = hours.cast(pl.Int64) * 60 + minutes.cast(pl.Int64).fill_null(0)
    possible = (minutes.cast(pl.Int64).fill_null(0) < 60) & (shift <= _FARTHEST)
    shift = pl.when(offset.str.starts_with("-")).then(-shift).otherwise(shift)
    shift = pl.when(offset.is_in(["Z", "UTC", "GMT"])).then(0).when(possible).then(shift)
    absolute = naive.dt.timestamp("us") - shift * _MINUTE
    there = pl.when(clock.is_null()).then(beginning(naive, time_zone)).otherwise(local(naive, time_zone))
    return pl.when(offset.is_null()).then(there).otherwise(absolute)


def _unix(per_second: int) -> Callable[[pl.Expr, str], pl.Expr]:
    def read(text: pl.Expr, time_zone: str) -> pl.Expr:
        number = text.cast(pl.Float64, strict=False) * (1_000_000 / per_second)
        good = number.is_finite() & (number.abs() < _CALENDAR)
        return pl.when(good).then(number.round()).cast(pl.Int64, strict=False)

    return read


READERS: dict[str, Callable[[pl.Expr, str], pl.Expr]] = {
    "iso": iso,
    "unix": _unix(1),
    "unix_ms": _unix(1000),
    "unix_us": _unix(1_000_000),
}
"""Named ways to write a time; `SLOT` is one more, and any other name is a strftime form."""
SLOT = "slot"
"""Times that are numbers of slots: 0 is the slot that begins in 1970, a time without a date."""


def fault_of(form: str) -> str | None:
    """Say what a form of times must be, if it is none by which a day can be told."""
    plain = _DIRECTIVE.sub(" ", form)
    if "%Z" in form or _ZONES & set(re.findall(r"[A-Za-z]+", plain)):
        return "must have %z, or an offset that is written out, and no name of a zone: several have it"
    if abs(offset_of(form) or 0) > _FARTHEST:
        return "must have %z, or an offset that is written out, of at most 14 hours"
    if form not in READERS and form != SLOT and not _tells_a_day(form):
        return f"must be {', '.join(READERS)}, {SLOT}, or a strftime form"
    return None


def _tells_a_day(form: str) -> bool:
    """Tell whether a time written in this form and read again is of the same day."""
    probe = datetime(2024, 3, 29, 20, 25, tzinfo=UTC)
    try:
        text = pl.select(pl.lit(probe).dt.strftime(form).alias("text"))
        found = text.select(written(pl.col("text"), form, "UTC")).item()
    except pl.exceptions.PolarsError:
        return False
    shift = timedelta(minutes=offset_of(form) or 0)
    return found is not None and (datetime.fromtimestamp(found / 1e6, UTC) + shift).date() == probe.date()


def read(text: pl.Expr, form: str, time_zone: str, slot_minutes: int = 60) -> pl.Expr:
    """Convert times in a named or a strftime form to microseconds; numbers of slots by their length."""
    if form == SLOT:
        number = text.cast(pl.Int64, strict=False)
        return pl.when(number.abs() < _CALENDAR / (slot_minutes * _MINUTE)).then(number) * (
            slot_minutes * _MINUTE
        )
    if form in READERS:
        return READERS[form](text, time_zone)
    return written(text, form, time_zone)
