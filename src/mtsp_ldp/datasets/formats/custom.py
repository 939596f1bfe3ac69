"""Tables of the user: time, user and a place or a cell's name, in columns of any name."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import IO, Annotated, Any, ClassVar, Literal, Self

import polars as pl
from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.archive import matches
from mtsp_ldp.datasets.ingest.assembly import Rows
from mtsp_ldp.datasets.ingest.domain import Domain, Labels, Squares
from mtsp_ldp.datasets.ingest.names import MISSING, check_names, name_of, refuse_merged, same, text_of
from mtsp_ldp.datasets.ingest.paths import UsersOfPaths, names_in
from mtsp_ldp.datasets.ingest.tables import (
    Encoding,
    Layout,
    Separator,
    check_columns,
    is_number,
    read_table,
    with_text,
)
from mtsp_ldp.datasets.ingest.timestamps import SLOT, fault_of, read
from mtsp_ldp.datasets.ingest.traces import Traces
from mtsp_ldp.streams.facts import MOST_CELLS, Coordinates
from mtsp_ldp.streams.stream import Stream

_OWN = {
    "page": "config/README.md tells how",
    "licence": "yours",
    "manual": "a table of your own",
}
_USER = "\0user"
"""Column of users whom files name, apart from all that files hold."""
_EVERYWHERE = (float("-inf"), float("-inf"), float("inf"), float("inf"))
_1980 = 315_532_800_000_000
Role = Literal["user", "time", "date", "x", "y", "cell", "end_time", "end_x", "end_y", "end_cell"]


Text = Annotated[str, BeforeValidator(lambda value: str(value) if type(value) is int else value)]
"""Text, or an integer as it is written."""


@register("custom")
class Custom(Traces):
    """Tables of the user: every file in ``data/raw/<name>`` that ``files`` names, plain or compressed.

    Attributes
    ----------
    columns
        Names of the columns in the file: ``{user, time, x, y}`` or ``{user, time, cell}``. ``date`` beside
        ``time`` is a column of its own that comes before it. Trips have their destination in ``end_time`` and
        ``end_x``, ``end_y`` or ``end_cell``.
    user_from
        ``column``, or ``file`` or ``folder`` where the name of the file or of its folder is the user.
    time_format
        Form of times: ``iso``, ``unix``, ``unix_ms``, ``unix_us``, a strftime form, or ``slot`` for numbers
        of slots. Without an offset, read or written out in the form, they are local times of ``time_zone``.
    coordinates
        ``degrees`` or ``plane``: units of x and y. By default degrees if the box may be one in degrees; only
        where degrees are told are places that the earth has not dropped as ``out_of_range``.
    files
        Patterns of the names of files to read.
    separator
        Separator of fields in delimited text; null is a tab in ``.tsv`` and a comma elsewhere.
    header
        True if the first line of delimited text names the columns; else a column's name is its number, from
        1 on.
    encoding
        Encoding of delimited text.
    missing
        Texts that stand for a missing user or cell; such a record is ``unparsable``.
    where
        Texts of other columns that a row must have to count: ``{column: text}`` or ``{column: [texts]}``;
        other rows are ``filtered``.
    cells
        Names of all cells, in the order of the tree, if a column names them. The list is public: it must not
        depend on who is where.
    cells_file
        File beside the others with these names, one a line, in place of ``cells``.
    """

    members: ClassVar[tuple[str, ...]] = ("*.csv", "*.tsv", "*.txt", "*.ndjson", "*.jsonl", "*.parquet")

    source: Mapping[str, Any] = _OWN
    columns: dict[Role, Text]
    user_from: Literal["column", "file", "folder"] = "column"
    time_format: str = "iso"
    coordinates: Coordinates | None = None
    files: Annotated[list[str], Field(min_length=1)] = Field(default=list(members))
    separator: Separator | None = None
    header: bool = True
    encoding: Encoding = "utf-8"
    missing: list[str] = MISSING
    where: dict[Text, Text | list[Text]] = Field(default={})
    cells: Annotated[list[Text], Field(max_length=MOST_CELLS)] = Field(default=[])
    cells_file: str | None = None
    _names: list[str] = PrivateAttr(default=[])
    _users: UsersOfPaths = PrivateAttr(default=UsersOfPaths())

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        given = set(self.columns)
        trips = {role for role in given if role.startswith("end_")}
        place = {"cell"} if "cell" in given else {"x", "y"}
        ends = {"end_time", *(f"end_{role}" for role in place)}
        user = {"user"} if self.user_from == "column" else set()
        if user - given:
            raise ValueError(
                "columns: user: missing: without one nobody can say how much is told about whom; user_from: "
                "file or folder may tell, and tables of counts are format: counts"
            )
        if given - {"date"} - trips != {*user, "time", *place} or trips not in (set(), ends):
            told = ", ".join([*sorted(user), "time"])
            raise ValueError(
                f"columns={sorted(given)}: must be [{told}, x, y] or [{told}, cell], with date before time "
                "or with end_time, end_x, end_y or end_cell of trips"
            )
        if "date" in given and trips:
            raise ValueError(
                "columns: date: must not be there with end_time; times of trips are one column each"
            )
        if len(set(self.columns.values())) < len(self.columns):
            raise ValueError(f"columns={dict(self.columns)!r}: must be different columns of the file")
        check_columns([*self.columns.values(), *self.where])
        if not self.header and not all(map(is_number, [*self.columns.values(), *self.where])):
            raise ValueError("header=False: columns and where: must be numbers of columns, from 1 on")
        return self

    @model_validator(mode="after")
    def _check_cells(self) -> Self:
        if ("cell" in self.columns) != bool(self.cells or self.cells_file) or (
            self.cells and self.cells_file
        ):
            raise ValueError("cells: must name all cells if there is a column for them, and only then")
        check_names(self.cells, "cells")
        if self.cells_file is not None and PurePath(self.cells_file).name != self.cells_file:
            raise ValueError(f"cells_file={self.cells_file!r}: must be the name of a file, without a folder")
        if fault := fault_of(self.time_format):
            raise ValueError(f"time_format={self.time_format!r}: {fault}")
        if self.time_format == SLOT and {self.time_zone, self.zone_of_days} != {"UTC"}:
            raise ValueError("time_zone: must be UTC, where numbers of slots are no times of a zone")
        return self

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of the names of the files that are read, and of the list of cells."""
        return (*self.files, *([self.cells_file] if self.cells_file else []))

    @property
    def coordinates_are(self) -> Coordinates:
        """Units of x and y: those that are told, else degrees if the box may be one in degrees."""
        if self.coordinates is not None or not self.box:
            return self.coordinates or "degrees"
        west, south, east, north = self.box
        on_earth = west >= -180 and east <= 180 and south >= -90 and north <= 90
        return "degrees" if on_earth else "plane"

    def prepare(self, folder: Path) -> Stream:
        """Make the stream; every record is in it or counted by reason."""
        self._users = UsersOfPaths(self.user_from, folder)
        return super().prepare(folder)

    def domain(self, files: list[Path]) -> Domain:
        """Make the domain of the named cells, or of squares of the box."""
        self._names = names_in(files, self.cells_file, self.encoding) if self.cells_file else list(self.cells)
        if self._names:
            return Labels(self._names)
        squares = super().domain(files)
        assert isinstance(squares, Squares)
        return squares if self.coordinates == "degrees" else replace(squares, world=_EVERYWHERE)

    def rows(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every row, with its user where the name of the file tells him."""
        if self.cells_file and matches(name, (self.cells_file,)):
            return
        layout = Layout(self.separator, self.header, self.encoding)
        named = [column for role, column in self.columns.items() if role in ("user", "cell", "end_cell")]
        for rows in read_table(name, file, self._wanted, layout):
            refuse_merged(name, rows, named)
            if self.user_from == "column":
                yield rows
            else:
                yield rows.with_columns(pl.lit(self._users.of(name)).alias(_USER))

    @property
    def _wanted(self) -> list[str]:
        return list(dict.fromkeys([*self.columns.values(), *self.where]))

    def records(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Read what rows say; a trip is two records."""
        ends = ("", "end_") if "end_time" in self.columns else ("",)
        return pl.concat(with_text(self._record(rows, end), rows, self._wanted) for end in ends)

    def _record(self, rows: pl.DataFrame, end: str) -> pl.DataFrame:
        text: dict[str, pl.Expr] = {
            role: text_of(column, rows.schema[column]) for role, column in self.columns.items()
        }
        if f"{end}cell" in text:
            label = text[f"{end}cell"]
            listed = pl.when(label.is_in(self._names)).then(label)
            found = pl.coalesce(listed, name_of(label, self.missing))
            place = {"label": found.replace({same(name): name for name in self._names})}
        else:
            place = {axis: text[end + axis].cast(pl.Float64, strict=False) for axis in ("x", "y")}
        return rows.select(
            user=name_of(text["user"], self.missing) if "user" in text else name_of(pl.col(_USER), []),
            time=self._time(rows, text, f"{end}time"),
            reason=self._filtered(rows),
            **place,
        )

    def _filtered(self, rows: pl.DataFrame) -> pl.Expr:
        """Tell which rows are not asked for."""
        kept = pl.lit(value=True)
        for column, texts in self.where.items():
            there = text_of(column, rows.schema[column])
            kept &= there.fill_null("").is_in([texts] if isinstance(texts, str) else texts)
        return pl.when(~kept).then(pl.lit("filtered"))

    def _time(self, rows: pl.DataFrame, text: Mapping[str, pl.Expr], role: str) -> pl.Expr:
        column = self.columns[role]  # type: ignore[index]
        dtype = rows.schema[column]
        if "date" in text and dtype in (pl.Date, pl.Datetime):
            raise ValueError(
                f"columns: time={column!r}: {dtype}: must be a time of day, where date is a column too"
            )
        if isinstance(dtype, pl.Datetime):
            time = pl.col(column).dt.convert_time_zone("UTC") if dtype.time_zone else pl.col(column)
            form = "%Y-%m-%dT%H:%M:%S%.6f" + ("Z" if dtype.time_zone else "")
            return read(time.dt.strftime(form), "iso", self.time_zone)
        if dtype == pl.Date:
            return read(pl.col(column).cast(pl.String), "iso", self.time_zone)
        written = text[role]
        if "date" in text:
            day = pl.col(self.columns["date"]).cast(pl.Date).cast(pl.String)
            dated = isinstance(rows.schema[self.columns["date"]], pl.Datetime)
            written = (day if dated else text["date"]) + " " + written
        return read(written, self.time_format, self.time_zone, self.slot_minutes)

    def check_rows(self, rows: Rows) -> None:
        """Refuse times that are numbers and yet lie before there were phones: their unit is wrong."""
        last = rows.start + rows.length * self.slot_minutes * 60_000_000
        if self.time_format.startswith("unix") and self.origin in ("first", "floor") and last < _1980:
            raise ValueError(
                f"times lie before 1980 (until {pl.select(pl.from_epoch(pl.lit(last), 'us')).item()}): "
                f"time_format={self.time_format!r}: must be another unit, {SLOT} for numbers of slots, or "
                "origin must say where they begin"
            )
