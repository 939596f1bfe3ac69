"""A csv or parquet of the user's own: time, user and a place or a cell's name, in columns of any name."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar

import polars as pl

from mtsp_ldp.datasets.base import register
from mtsp_ldp.datasets.ingest.delimited import delimited
from mtsp_ldp.datasets.ingest.domain import Domain, Labels
from mtsp_ldp.datasets.ingest.timestamps import READERS, read, tells_a_day
from mtsp_ldp.datasets.ingest.traces import Traces

_ROWS = 1_000_000
_OWN = {
    "page": "config/README.md tells how",
    "licence": "yours",
    "manual": "a csv or parquet of your own",
}


@register("custom")
@dataclass(frozen=True, kw_only=True)
class Custom(Traces):
    """Every ``*.csv``, ``*.csv.gz`` and ``*.parquet`` in ``data/raw/<name>``.

    Attributes
    ----------
    columns
        ``{user, time, x, y}`` or ``{user, time, cell}``: the names of these columns in the file.
    time_format
        ``iso``, ``unix``, ``unix_ms`` or a strftime form; without an offset it is on the zone's clocks.
    separator
        Of a csv.
    cells
        The names of all cells, in the order of the tree, where a column names them. The list is public: it
        must not depend on who is where.
    """

    members: ClassVar[tuple[str, ...]] = ("*.csv", "*.parquet")

    source: Mapping[str, Any] = field(default_factory=lambda: dict(_OWN))
    columns: dict[str, str]
    time_format: str = "iso"
    separator: str = ","
    cells: Sequence[Any] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        label = f"dataset {self.name!r}"
        if not isinstance(self.columns, Mapping):
            raise ValueError(f"{label}: columns={self.columns!r}: {{role: name}} of each column")
        names = list(self.columns.values())
        if not all(isinstance(column, str) for column in names) or len(set(names)) < len(names):
            raise ValueError(f"{label}: columns={dict(self.columns)!r}: a name of its own for each column")
        given = set(self.columns)
        wanted = [{"user", "time", "x", "y"}, {"user", "time", "cell"}]
        if given not in wanted:
            raise ValueError(f"{label}: columns={sorted(given)}: [user, time, x, y] or [user, time, cell]")
        if not isinstance(self.cells, list | tuple):
            raise ValueError(f"{label}: cells={self.cells!r}: a list of names")
        if ("cell" in given) != bool(self.cells):
            raise ValueError(f"{label}: cells: the names of all cells, exactly if there is a column for them")
        if len(set(map(str, self.cells))) < len(self.cells):
            raise ValueError(f"{label}: cells: each once")
        if not isinstance(self.separator, str) or len(self.separator.encode()) != 1:
            raise ValueError(f"{label}: separator={self.separator!r}: one character")
        if not isinstance(self.time_format, str) or not tells_a_day(self.time_format):
            named = ", ".join(READERS)
            raise ValueError(
                f"{label}: time_format={self.time_format!r}: {named}, or a strftime form of a date"
            )

    def domain(self, files: list[Path]) -> Domain:
        """The named cells, or squares of the box."""
        return Labels([str(cell) for cell in self.cells]) if self.cells else super().domain(files)

    def records(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Every row."""
        for rows in self._read(name, file):
            text = {
                role: pl.col(column).cast(pl.String).str.strip_chars()
                for role, column in self.columns.items()
            }
            place = (
                {"label": text["cell"]}
                if "cell" in text
                else {axis: text[axis].cast(pl.Float64, strict=False) for axis in ("x", "y")}
            )
            yield rows.select(
                user=text["user"],
                time=self._time(rows),
                reason=pl.lit(None, pl.String),
                **place,
            )

    def _time(self, rows: pl.DataFrame) -> pl.Expr:
        column = self.columns["time"]
        kind = rows.schema[column]
        if isinstance(kind, pl.Datetime):
            text = pl.col(column).dt.convert_time_zone("UTC") if kind.time_zone else pl.col(column)
            form = "%Y-%m-%dT%H:%M:%S%.6f" + ("Z" if kind.time_zone else "")
            return read(text.dt.strftime(form), "iso", self.time_zone)
        return read(pl.col(column).cast(pl.String).str.strip_chars(), self.time_format, self.time_zone)

    def _read(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        wanted = list(self.columns.values())
        if not name.lower().endswith(".parquet"):
            yield from delimited(file, None, name=name, wanted=wanted, separator=self.separator, quote='"')
            return
        if not Path(name).exists():
            raise ValueError(f"{name}: a parquet in an archive; unpack it")
        table = pl.scan_parquet(name)
        for column in wanted:
            if column not in table.collect_schema().names():
                there = ", ".join(map(repr, table.collect_schema().names()))
                raise ValueError(f"{name}: column {column!r} is missing; there are {there}")
        height = table.select(pl.len()).collect().item()
        for start in range(0, height, _ROWS):
            yield table.select(wanted).slice(start, _ROWS).collect()
