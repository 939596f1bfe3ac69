"""A table of counts: a row a timestamp, a column a cell. Exchangeable users."""

import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar
from zipfile import BadZipFile

import numpy as np
import polars as pl

from mtsp_ldp.datasets.base import Count, register
from mtsp_ldp.datasets.ingest.archive import opened, whole
from mtsp_ldp.datasets.ingest.published import Published
from mtsp_ldp.datasets.ingest.retrieval import local_files
from mtsp_ldp.datasets.ingest.tables import Separator
from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.streams.facts import MOST_CELLS, Cell, StreamFacts
from mtsp_ldp.streams.stream import Stream

_OWN = {"page": "config/README.md tells how", "licence": "yours", "manual": "a csv or npz of your own"}
_LARGEST = 2**53 - 1
"""Largest integer that is told apart from the next one as a fraction."""


@register("counts")
class Counts(Published):
    """One ``*.csv``, with or without names of the cells in its first row, or one ``*.npz`` with ``counts``.

    Attributes
    ----------
    users
        Fixed number of users; null is the largest sum of a row.
    slot_minutes
        Length of a slot; null where it is not known.
    separator
        Separator of fields in a csv.
    header
        True if the first row of a csv names the cells, false if it counts; null names them where it holds no
        numbers. A first row of numbers in order, as 1, 2, 3, is refused unless this says what it is.
    """

    members: ClassVar[tuple[str, ...]] = ("*.csv", "*.npz")

    source: Mapping[str, Any] = _OWN
    users: Count | None = None
    slot_minutes: Count | None = None
    separator: Separator = ","
    header: bool | None = None

    def prepare(self, folder: Path) -> Stream:
        """Make the stream.

        Raises
        ------
        ValueError
            In one line, naming the file, the row, the column, the value and what it must be.
        """
        files = local_files(self.published, self.members, folder)
        if len(files) != 1:
            there = ", ".join(path.name for path in files) or "none"
            raise ValueError(f"{self.name}: {folder}: must hold one csv or npz of counts; there are: {there}")
        (path,) = files
        names, counts = self._read(path)
        if counts.shape[0] < 2:
            raise ValueError(f"{path}: {counts.shape[0]} rows: must be at least 2 timestamps")
        facts = StreamFacts(
            **self.own_facts,
            slot_minutes=self.slot_minutes,
            cells=tuple(map(Cell, names)),
            rows=counts.shape[0],
            rows_by_reason={"kept": counts.shape[0]},
        )
        try:
            return Stream.from_counts(counts, self.users, facts=facts)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def _read(self, path: Path) -> tuple[list[str], IntArray]:
        with whole(path.name):
            tables = [(name, file.read()) for name, file in opened(path, self.members)]
        if len(tables) != 1:
            there = ", ".join(name for name, _ in tables)
            raise ValueError(f"{path}: must hold one csv or npz of counts; there are: {there}")
        ((name, content),) = tables
        read = self._npz if name.lower().endswith(".npz") else self._csv
        return read(path, content)

    def _npz(self, path: Path, content: bytes) -> tuple[list[str], IntArray]:
        try:
            with np.load(BytesIO(content), allow_pickle=False) as archive:
                if "counts" not in archive.files:
                    raise ValueError(f"there are {', '.join(archive.files) or 'none'}, not 'counts'")
                table = archive["counts"]
        except (ValueError, TypeError, EOFError, OSError, BadZipFile, zlib.error, MemoryError) as error:
            raise ValueError(f"{path}: must be an npz with an array 'counts': {error}") from None
        if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iuf":
            raise ValueError(f"{path}: counts: {table.dtype} of shape {table.shape}: must be numbers (T, d)")
        _check_width(path, table.shape[1])
        names = [str(cell) for cell in range(table.shape[1])]
        _refuse(path, names, table.astype(np.float64), table, first=0)
        return names, table.astype(np.int64)

    def _has_header(self, path: Path, row: tuple[str | None, ...], numbers: FloatArray) -> bool:
        if self.header is not None:
            return self.header
        if len(row) > 1 and (np.diff(numbers) == 1).all():
            raise ValueError(
                f"{path}: row 1: {row[0]}, {row[1]}, …: names or counts? header: true or false tells"
            )
        return bool(np.isnan(numbers).all()) and row != (None,) * len(row)

    def _csv(self, path: Path, content: bytes) -> tuple[list[str], IntArray]:
        try:
            text = pl.read_csv(content, has_header=False, infer_schema=False, separator=self.separator)
        except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
            message = " ".join(str(error).split())[:200]
            raise ValueError(f"{path}: must be a csv whose rows are of one length ({message})") from None
        _check_width(path, text.width)
        text = text.with_columns(pl.all().str.strip_chars())
        empty = text.select(pl.all_horizontal(pl.all().is_null())).to_series()
        text = text.head(text.height - int(empty.reverse().not_().arg_max() or 0))  # blank lines at the end
        numbers = text.cast(pl.Float64, strict=False).to_numpy()
        headed = self._has_header(path, text.row(0), numbers[0])
        names = list(text.row(0)) if headed else [str(cell) for cell in range(text.width)]
        if len(set(names)) < len(names) or None in names:
            raise ValueError(f"{path}: row 1: must name every cell, each once")
        first = int(headed)
        _refuse(path, names, numbers[first:], text.slice(first).to_numpy(), first=first + 1)
        return names, numbers[first:].astype(np.int64)


def _check_width(path: Path, d: int) -> None:
    if d > MOST_CELLS:
        raise ValueError(f"{path}: {d:,} columns: must be at most {MOST_CELLS:,} cells")


def _refuse(path: Path, names: list[str], numbers: np.ndarray, given: np.ndarray, first: int) -> None:
    """Raise ValueError at the first count that is none; rows are numbered from ``first``."""
    whole = np.isfinite(numbers) & (numbers >= 0) & (numbers <= _LARGEST) & (numbers == np.floor(numbers))
    if not whole.all():
        row, column = (int(place) for place in np.argwhere(~whole)[0])
        value = given[row, column]
        shown = "nothing" if value is None else repr(value if isinstance(value, str) else value.item())
        place = f"row {row + first}, column {names[column]!r}"
        raise ValueError(f"{path}: {place}: {shown}: must be an integer in 0..2^53 - 1")
