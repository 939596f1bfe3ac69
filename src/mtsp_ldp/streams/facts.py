"""Facts of a stream, which prepare writes beside it, for people, maps and clocks. All of them are public."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar
from zoneinfo import ZoneInfo

import numpy as np

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.foundation.files import digest_file
from mtsp_ldp.foundation.numbers import integer

_DAY = 24 * 60
MOST_CELLS = 1 << 16
"""Largest number of cells that the type of a cell can number."""
MOST_COUNTS = 1 << 26
"""Largest T × d: a simulation takes about ten gigabytes then."""
Coordinates = Literal["degrees", "plane"]


class StreamError(ValueError):
    """A file or table that is no stream: the message names the file, the row and what it must be."""


@dataclass(frozen=True)
class Cell:
    """One cell.

    Attributes
    ----------
    name
        Short name, for labels.
    x, y
        Place, where it is known: longitude and latitude where coordinates are degrees.
    title
        Long name, if there is one.
    """

    name: str
    x: float | None = None
    y: float | None = None
    title: str | None = None


@dataclass(frozen=True)
class Event:
    """An event that a data set names: what happens in which cell from ``start`` to before ``end``."""

    kind: str
    cell: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class StreamFacts:
    """Facts of a stream beside its rows.

    Attributes
    ----------
    dataset
        Name of the stream in results and in the keys of seeds.
    title
        Title for tables and figures, a few words.
    replicate
        Number of independent reporters that each user stands for.
    slot_minutes, origin, time_zone
        Length of a timestamp, start of the first one on the zone's clocks (ISO), and the zone.
    period
        Timestamps of a period that the data set names: 0 is none; None is a day, where slots make one up.
    hold, within_slot
        Rules by which records became positions.
    grid, box
        Squares a side, and west, south, east, north, where cells are squares of a box.
    coordinates
        Unit of places: degrees of longitude and latitude, or units of a plane; None without places.
    cells, events
        Cells in order of number; events in order of time.
    rows, rows_by_reason
        Number of records, in all and by what became of them.
    notes
        Other numbers that a format reports, by name.
    raw_sha256
        Digest of the raw files.
    config
        Digest of the config that the stream was prepared from.
    """

    dataset: str = "stream"
    title: str = ""
    replicate: int = 1
    slot_minutes: int | None = None
    origin: str | None = None
    time_zone: str | None = None
    period: int | None = None
    hold: int | None = None
    within_slot: str | None = None
    grid: int | None = None
    box: tuple[float, ...] | None = None
    coordinates: Coordinates | None = None
    cells: tuple[Cell, ...] = ()
    events: tuple[Event, ...] = ()
    rows: int | None = None
    rows_by_reason: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    raw_sha256: str | None = None
    config: str | None = None

    @property
    def clock(self) -> str:
        """Time zone to show times in; calendar days have none."""
        if self.slot_minutes is None or self.slot_minutes % _DAY == 0:
            return "UTC"
        return self.time_zone or "UTC"

    @property
    def start(self) -> float | None:
        """Start of the stream in milliseconds since 1970; None without a date."""
        if not self.origin or not self.slot_minutes or self.origin.startswith("1970-01-01"):
            return None
        return datetime.fromisoformat(self.origin).replace(tzinfo=ZoneInfo(self.clock)).timestamp() * 1000

    @property
    def timestamps_a_period(self) -> int:
        """Number of timestamps of `period`: by default those of a day, 0 unless a day has several slots."""
        if self.period is not None:
            return self.period
        slot = self.slot_minutes
        return _DAY // slot if slot and slot < _DAY and _DAY % slot == 0 else 0

    def describe_event(self, event: Event) -> str:
        """Name an event and its place."""
        return f"{event.kind} at {self.cells[event.cell].name}"

    def describe_drops(self) -> str:
        """Summarize kept and dropped records in one line; with a warning where most have no place."""
        reasons = ", ".join(
            f"{why.replace('_', ' ')} {number:,}" for why, number in self.rows_by_reason.items()
        )
        lost = sum(self.rows_by_reason.get(name, 0) for name in ("unparsable", "out_of_range", "out_of_box"))
        total = self.rows or 0
        warning = "; WARNING: most have no readable place" if 2 * lost > total else ""
        return f"Of {total:,} records: {reasons}{warning}"


@dataclass(frozen=True, kw_only=True)
class PreparedFacts(StreamFacts):
    """Facts in the file beside a prepared stream, with its sizes.

    Attributes
    ----------
    users, T, d
        Number of users, timestamps and cells.
    kind
        ``panel`` or ``exchangeable``.
    mean_active, active
        Mean of n_t, and each of them.
    sha256
        Digest of the stream's file.
    """

    users: int
    T: int
    d: int
    kind: str = ""
    mean_active: float = 0.0
    active: tuple[int, ...] = ()
    sha256: str = ""

    @classmethod
    def read(cls, path: Path) -> "PreparedFacts":
        """Read the facts of a prepared stream; keys of other versions are left out.

        Raises
        ------
        StreamError
            Naming the file, the key and its value.
        """
        try:
            entries: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StreamError(f"{path}: no such file; prepare writes it beside the stream") from None
        except ValueError as error:
            raise StreamError(f"{path}: not a whole json file ({error}); delete it and run again") from None
        if not isinstance(entries, dict):
            raise StreamError(f"{path}: must be the facts of a stream by name, no {type(entries).__name__}")
        _check_sizes(path, entries)
        try:
            parts = {"cells": _several(Cell, entries), "events": _several(Event, entries)}
            return cls(**_known(cls, entries) | parts)
        except (TypeError, AttributeError) as error:
            raise StreamError(f"{path}: must be the facts of a stream ({error}); prepare it again") from None

    def check(self, stream: Path, users: int, active: IntArray) -> None:
        """Raise StreamError if these are the facts of another stream than the one in the file beside them."""
        beside = stream.with_suffix(".json")
        if users > self.users:
            raise StreamError(f"{beside}: users={self.users}: must be at least {users}, as {stream.name} has")
        wrong = np.flatnonzero(active != self.active) if self.active else np.arange(0)
        if wrong.size:
            t = int(wrong[0])
            raise StreamError(
                f"{beside}: active[{t}]={self.active[t]}: must be {active[t]}, as {stream.name} has; "
                "prepare it again"
            )
        if self.sha256 and self.sha256 != digest_file(stream):
            raise StreamError(
                f"{stream}: must be the file whose sha256 {beside.name} holds; prepare it again"
            )

    def write(self, path: Path) -> None:
        """Write the facts as json."""
        path.write_text(json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


_SIZES = ("T", "d", "users", "replicate")
"""Integers of at least 1 that must be there; `replicate` is 1 where facts of other versions lack it."""
_AT_LEAST = {"slot_minutes": 1, "period": 0, "hold": 1, "grid": 1, "rows": 0}


def _check_sizes(path: Path, entries: Mapping[str, Any]) -> None:
    """Raise StreamError for a size that no stream has."""
    try:
        for name in _SIZES:
            integer(name, entries.get(name, 1 if name == "replicate" else None), least=1)
        for name, least in _AT_LEAST.items():
            if entries.get(name) is not None:
                integer(name, entries[name], least=least)
        integer("d", entries["d"], 1, MOST_CELLS)
        if entries["T"] * entries["d"] > MOST_COUNTS:
            raise ValueError(
                f"T={entries['T']}: must be at most {MOST_COUNTS // entries['d']:,} with d={entries['d']}"
            )
        active = entries.get("active", [])
        if not isinstance(active, list) or len(active) not in (0, entries["T"]):
            raise ValueError("active: must be a list of n_t, one a timestamp")
    except ValueError as error:
        raise StreamError(f"{path}: {error}") from None


_Part = TypeVar("_Part", Cell, Event)


def _several(cls: type[_Part], entries: Mapping[str, Any]) -> tuple[_Part, ...]:
    return tuple(cls(**_known(cls, entry)) for entry in entries.get(f"{cls.__name__.lower()}s", []))


def _known(cls: type, entries: Mapping[str, Any]) -> dict[str, Any]:
    """Pick the entries that are fields of a class, lists as tuples."""
    names = {one.name for one in fields(cls)} & entries.keys()
    return {
        name: tuple(entries[name]) if isinstance(entries[name], list) else entries[name] for name in names
    }
