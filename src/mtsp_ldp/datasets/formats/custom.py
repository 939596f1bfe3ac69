"""A csv or parquet of the user: time, user and a place or a cell's name, in columns of any name."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, ClassVar, Self

import polars as pl
from pydantic import Field, model_validator

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
class Custom(Traces):
    """Files of the user: every ``*.csv``, ``*.csv.gz`` and ``*.parquet`` in ``data/raw/<name>``.

    Attributes
    ----------
    columns
        Names of the columns in the file: ``{user, time, x, y}`` or ``{user, time, cell}``.
    time_format
        Form of times: ``iso``, ``unix``, ``unix_ms`` or a strftime form; without an offset they are local
        times of ``time_zone``.
    separator
        Separator of fields in a csv.
    cells
        Names of all cells, in the order of the tree, if a column names them. The list is public: it must not
        depend on who is where.
    """

    members: ClassVar[tuple[str, ...]] = ("*.csv", "*.parquet")

    source: Mapping[str, Any] = _OWN
    columns: dict[str, str]
    time_format: str = "iso"
    separator: str = ","
    cells: list[Any] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        if len(set(self.columns.values())) < len(self.columns):
            raise ValueError(f"columns={dict(self.columns)!r}: must be different columns of the file")
        given = set(self.columns)
        if given not in ({"user", "time", "x", "y"}, {"user", "time", "cell"}):
            raise ValueError(f"columns={sorted(given)}: must be [user, time, x, y] or [user, time, cell]")
        if ("cell" in given) != bool(self.cells):
            raise ValueError("cells: must name all cells if there is a column for them, and only then")
        if len(set(map(str, self.cells))) < len(self.cells):
            raise ValueError(f"cells={self.cells!r}: must be different names")
        if len(self.separator.encode()) != 1:
            raise ValueError(f"separator={self.separator!r}: must be one character")
        if not tells_a_day(self.time_format):
            raise ValueError(
                f"time_format={self.time_format!r}: must be {', '.join(READERS)}, or a strftime form"
            )
        return self

    def domain(self, files: list[Path]) -> Domain:
        """Make the domain of the named cells, or of squares of the box."""
        return Labels([str(cell) for cell in self.cells]) if self.cells else super().domain(files)

    def records(self, name: str, file: IO[bytes]) -> Iterator[pl.DataFrame]:
        """Read every row."""
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
        dtype = rows.schema[column]
        if isinstance(dtype, pl.Datetime):
            text = pl.col(column).dt.convert_time_zone("UTC") if dtype.time_zone else pl.col(column)
            form = "%Y-%m-%dT%H:%M:%S%.6f" + ("Z" if dtype.time_zone else "")
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
