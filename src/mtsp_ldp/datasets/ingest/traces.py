"""Data sets of published traces: common ground of the raw formats. A format only reads its records."""

import json
import os
import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import IO, Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo

import polars as pl
from pydantic import AfterValidator, Field, model_validator

from mtsp_ldp.datasets.base import Count, Side
from mtsp_ldp.datasets.ingest.archive import opened, whole
from mtsp_ldp.datasets.ingest.assembly import Rows, assemble
from mtsp_ldp.datasets.ingest.delimited import gathered
from mtsp_ldp.datasets.ingest.domain import Domain, Squares
from mtsp_ldp.datasets.ingest.positions import Rules, WithinSlot
from mtsp_ldp.datasets.ingest.published import Published
from mtsp_ldp.datasets.ingest.retrieval import clear, local_files
from mtsp_ldp.datasets.ingest.slots import DAY, Slots
from mtsp_ldp.datasets.ingest.timestamps import iso
from mtsp_ldp.foundation.files import digest_text
from mtsp_ldp.streams.facts import Coordinates, StreamFacts
from mtsp_ldp.streams.stream import Stream

_LONGEST_HOLD = 100_000
_LONGEST_SLOT = 10 * 366 * DAY
_YEAR_10000 = 253_402_300_800  # in seconds


def _check_box(box: Sequence[float]) -> Sequence[float]:
    if not (len(box) == 4 and all(map(isfinite, box)) and box[0] < box[2] and box[1] < box[3]):
        raise ValueError("must be finite [west, south, east, north] with west < east and south < north")
    return box


def _check_zone(name: str) -> str:
    try:
        ZoneInfo(name)
        pl.select(pl.lit(0).cast(pl.Datetime("us")).dt.replace_time_zone(name))
    except (ValueError, KeyError, OSError, pl.exceptions.PolarsError):
        raise ValueError("must be a name as Europe/Lisbon") from None
    return name


Box = Annotated[Sequence[float], AfterValidator(_check_box)]
Zone = Annotated[str, AfterValidator(_check_zone)]


class Traces(Published):
    """Records of who was where when, cut into cells and slots.

    Attributes
    ----------
    box
        Bounds of the map: west, south, east, north.
    grid
        Squares a side of the box.
    slot_minutes
        Length of a slot; whole days are calendar days.
    time_zone
        Time zone of times without an offset.
    day_zone
        Time zone of calendar days, of ``origin`` and of clocks in figures; by default ``time_zone``.
    origin
        Start of slot 0: ``floor`` for the whole slot that holds the first record in the box (slots of an hour
        begin at full hours), ``first`` for that record, an ISO time, or seconds since 1970.
    length
        T; None for the slot of the last record.
    within_slot
        Record of a user that counts in a slot: ``last``, ``first``, or ``most`` for the last of the cell with
        the most records.
    hold
        Slots that a position holds, that of its record included, unless its user is seen elsewhere before.
    minimum_reports
        Least number of records of a user in the window.
    """

    world: ClassVar[tuple[float, float, float, float]] = (-180.0, -90.0, 180.0, 90.0)
    """Bounds of valid coordinates: west, south, east, north."""
    units: ClassVar[Coordinates] = "degrees"
    """Units of x and y."""

    box: Box | None = None
    grid: Side = 16
    slot_minutes: Annotated[int, Field(ge=1, le=_LONGEST_SLOT)] = 60
    time_zone: Zone = "UTC"
    day_zone: Zone | None = None
    origin: str | int = "floor"
    length: Count | None = None
    within_slot: WithinSlot = "last"
    hold: Annotated[int, Field(ge=1, le=_LONGEST_HOLD)] = 1
    minimum_reports: Count = 1

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.origin not in ("first", "floor") and not self._has_year():
            if isinstance(self.origin, str) and pl.select(iso(pl.lit(self.origin), "UTC")).item() is not None:
                raise ValueError(f"origin={self.origin!r}: must be a time that {self.zone_of_days} has")
            raise ValueError(
                f"origin={self.origin!r}: must be floor, first, an ISO time, or seconds since 1970"
            )
        if self.box and self.coordinates_are == "degrees":
            west, south, east, north = self.box
            if not (west >= -180 and east <= 180 and south >= -90 and north <= 90):
                raise ValueError(
                    f"box={list(self.box)}: must lie in [-180, -90, 180, 90], the degrees that there are"
                )
        return self

    @property
    def coordinates_are(self) -> Coordinates:
        """Units of x and y."""
        return self.units

    @property
    def zone_of_days(self) -> str:
        """Time zone of calendar days and of figures."""
        return self.day_zone or self.time_zone

    @property
    def slots(self) -> int | None:
        """T if the config fixes it, else None."""
        return self.length

    @abstractmethod
    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read the rows of one raw file as they are."""

    @abstractmethod
    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read what rows, of one file or of several, say.

        A frame with ``user``, ``time`` (microseconds since 1970 UTC), ``x`` and ``y`` (or ``label``) and
        ``reason`` (why the format itself refuses a record, or null; `OUTSIDE` if it says that the user is
        outside of all cells, which ends a hold); nulls where a field cannot be read.
        """

    def domain(self, files: list[Path]) -> Domain:
        """Make the domain of cells: squares of the box, unless a format has others."""
        if not self.box:
            raise ValueError(f"dataset {self.name!r}: box: [west, south, east, north] is missing")
        west, south, east, north = map(float, self.box)
        return Squares((west, south, east, north), self.grid, self.world)

    def check_rows(self, rows: Rows) -> None:
        """Raise ValueError for rows that only a wrong reading of the files can give; usually none are."""

    def prepare(self, folder: Path) -> Stream:
        """Make the stream; every record is in it or counted by reason."""
        files = local_files(self.published, self.patterns, folder)
        if not files:
            raise ValueError(
                f"{self.name}: no file like {', '.join(self.patterns)} in {folder}; fetch comes first"
            )
        domain = self.domain(files)
        with self._scratch(folder) as scratch:
            try:
                rows = assemble(self._records(files), domain, self._slots(), self._rules(), scratch)
                self.check_rows(rows)
            except ValueError as error:
                raise ValueError(f"{self.name}: {error}") from None
        facts = self._facts(rows, domain, folder)
        return Stream.from_panel(rows.t, rows.user, rows.cell, domain.d, length=rows.length, facts=facts)

    @contextmanager
    def _scratch(self, folder: Path) -> Iterator[Path]:
        """Make a folder for external sorts: beside the raw files, which data sets may share, or in TMPDIR."""
        place = folder if os.access(folder, os.W_OK) else Path(tempfile.gettempdir())
        for left in place.glob(f".spool-{self.name}-*"):
            clear(left)  # of a process that was killed
        scratch = Path(tempfile.mkdtemp(prefix=f".spool-{self.name}-", dir=place))
        try:
            yield scratch
        finally:
            clear(scratch)

    def _records(self, files: list[Path]) -> Iterator[pl.DataFrame]:
        return map(self.records, gathered(self._rows(files)))

    def _rows(self, files: list[Path]) -> Iterator[pl.DataFrame]:
        for path in files:
            with whole(path.name):
                for name, file in opened(path, self.patterns):
                    yield from self.rows(name, file)

    def _has_year(self) -> bool:
        """Tell whether the origin is a time that calendars have."""
        return abs(self.origin) < _YEAR_10000 if isinstance(self.origin, int) else self._origin() is not None

    def _origin(self) -> int | None:
        if isinstance(self.origin, int):
            return self.origin * 1_000_000
        return pl.select(iso(pl.lit(str(self.origin)), self.zone_of_days)).item()  # type: ignore[no-any-return]

    def _slots(self) -> Slots:
        told: int | Literal["first", "floor"] | None = self._origin()
        if told is None:
            told = "first" if self.origin == "first" else "floor"
        return Slots(self.slot_minutes, self.zone_of_days, told, self.length)

    def _rules(self) -> Rules:
        return Rules(self.within_slot, self.hold, self.minimum_reports)

    def _facts(self, rows: Rows, domain: Domain, folder: Path) -> StreamFacts:
        zone = ZoneInfo("UTC" if self.slot_minutes % DAY == 0 else self.zone_of_days)
        origin = datetime.fromtimestamp(rows.start / 1e6, UTC).astimezone(zone).replace(tzinfo=None)
        receipt = (folder / "receipt.json").read_bytes() if (folder / "receipt.json").exists() else b""
        squares = isinstance(domain, Squares)
        cells = domain.cells()
        placed = cells[0].x is not None
        return StreamFacts(
            **self.own_facts,
            slot_minutes=self.slot_minutes,
            origin=origin.isoformat(sep=" "),
            time_zone=self.zone_of_days,
            hold=self.hold,
            within_slot=self.within_slot,
            grid=self.grid if squares else None,
            box=tuple(self.box or ()) if squares else None,
            coordinates=(self.coordinates_are if placed else None),
            cells=cells,
            rows=rows.records,
            rows_by_reason=rows.reasons,
            raw_sha256=_raw_digest(receipt),
        )


def _raw_digest(receipt: bytes) -> str | None:
    """Digest the names and hashes of the raw files in the receipt."""
    if not receipt:
        return None
    files = json.loads(receipt)["files"]
    return digest_text("\n".join(f"{file['file']} {file['sha256']}" for file in files))


def number(column: str) -> pl.Expr:
    """Convert a column of text to numbers; null where it holds none."""
    return pl.col(column).str.strip_chars().cast(pl.Float64, strict=False)
