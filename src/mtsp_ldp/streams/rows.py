"""The rows of a panel, in order of t and then user, only a part of which is in memory.

They lie in arrays or in a parquet file. One pass checks and counts them, block by block; then they are
read by timestamp.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from polars.datatypes import DataTypeClass

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.streams.facts import StreamError

PANEL: Mapping[str, DataTypeClass] = {"t": pl.Int32, "user": pl.UInt32, "cell": pl.UInt16}
ROW_GROUP = 1 << 18
"""Number of rows that are written, and so can be read, together."""
BLOCK = 16 * ROW_GROUP
"""Number of rows that are checked together."""
HELD = 64 * ROW_GROUP
"""Number of rows of a file that are in memory at once (100 MB); a smaller stream is in memory whole."""

Column = npt.NDArray[np.integer[Any]]
Columns = tuple[Column, Column, Column]
"""Columns t, user and cell, one entry a row."""
Load = Callable[[int, int], Columns]
"""Function that reads the rows from a first one up to, not including, a last one."""


class Rows:
    """Rows of a panel, read by timestamp.

    Parameters
    ----------
    load
        Reader of the rows; checked before, see `scan_rows`.
    active
        Number of rows of each t, ``(T,)``.
    """

    def __init__(self, load: Load, active: IntArray) -> None:
        self._load = load
        self._offsets = np.concatenate([[0], np.cumsum(active)])
        self._first = 0
        _, self._users, self._cells = load(0, 0)

    def at(self, t: int) -> tuple[Column, Column]:
        """List the users active at t, in order, and their cells."""
        start, end = int(self._offsets[t]), int(self._offsets[t + 1])
        if start < self._first or end > self._first + self._users.size:
            self._first = start - start % HELD
            _, self._users, self._cells = self._load(self._first, max(self._first + HELD, end))
        here = slice(start - self._first, end - self._first)
        return self._users[here], self._cells[here]

    def everything(self) -> pl.DataFrame:
        """Read all rows, in the columns of a file."""
        _, users, cells = self._load(0, int(self._offsets[-1]))
        times = np.repeat(np.arange(self._offsets.size - 1, dtype=np.int32), np.diff(self._offsets))
        return pl.DataFrame({"t": times, "user": users, "cell": cells}, schema=PANEL)


def rows_in_memory(columns: Columns) -> Load:
    """Make the reader of rows that lie in arrays; nothing is copied."""
    t, user, cell = columns
    return lambda start, end: (t[start:end], user[start:end], cell[start:end])


def rows_in_file(path: Path) -> Load:
    """Make the reader of rows in a parquet file; its row groups are read as they are needed."""
    path = path.absolute()

    def load(start: int, end: int) -> Columns:
        frame = read_rows(path, PANEL, start, end)
        t, user, cell = (frame[name].to_numpy() for name in PANEL)
        return t, user, cell

    return load


def read_rows(
    path: Path, schema: Mapping[str, DataTypeClass], start: int = 0, end: int | None = None
) -> pl.DataFrame:
    """Read rows ``start`` to ``end`` of a parquet file's columns.

    Raises
    ------
    StreamError
        Naming the file, if it is missing or damaged, lacks a column, or holds a value that is no integer.
    """
    with _readable(path):
        scan = pl.scan_parquet(path, glob=False)
        there = scan.collect_schema().names()
        for name in schema:
            if name not in there:
                raise StreamError(f"{path}: column {name!r} is missing; must be there: {', '.join(schema)}")
        frame = scan.select(*schema).slice(start, None if end is None else end - start).collect()
    for name, dtype in schema.items():
        if not frame[name].dtype.is_integer() or frame[name].null_count():
            raise StreamError(
                f"{path}: column {name!r}: must be {dtype} without nulls, not {frame[name].dtype}"
            )
    return frame


def inspect_parquet(path: Path) -> tuple[list[str], int]:
    """Read the names of a parquet file's columns, and its number of rows."""
    with _readable(path):
        scan = pl.scan_parquet(path, glob=False)
        return scan.collect_schema().names(), int(scan.select(pl.len()).collect().item())


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise StreamError(f"{path}: no such file; run prepare first") from None
    except (pl.exceptions.PolarsError, OSError) as error:
        problem = f"{path}: not a whole parquet file ({str(error).splitlines()[0]})"
        raise StreamError(f"{problem}; delete it and run again") from None


@dataclass(frozen=True)
class Census:
    """Findings of one pass over rows.

    Attributes
    ----------
    counts
        Users per cell, ``(T, d)``; not to be used if the rows are out of order.
    ordered
        True if rows are in order of t and then user, without a pair twice.
    least, largest
        Least and largest number of a user.
    """

    counts: IntArray
    ordered: bool
    least: int
    largest: int


def scan_rows(load: Load, rows: int, length: int, d: int, source: str) -> Census:
    """Check rows, and count users per cell.

    Raises
    ------
    StreamError
        Naming the source and the row, if a t or a cell is out of range.
    """
    counts = np.zeros((length, d), dtype=np.int64)
    ordered, least, largest = True, 0, 0
    before = (-1, 0)
    for start in range(0, rows, BLOCK):
        t, user, cell = load(start, min(start + BLOCK, rows))
        refuse(source, "t", t, (t < 0) | (t >= length), f"in 0..{length - 1}", start)
        refuse(source, "cell", cell, (cell < 0) | (cell >= d), f"in 0..{d - 1}", start)
        least, largest = min(least, int(user.min())), max(largest, int(user.max()))
        ordered = ordered and before < (int(t[0]), int(user[0])) and _in_order(t, user)
        before = (int(t[-1]), int(user[-1]))
        if ordered:
            first, last = int(t[0]), int(t[-1])
            place = (t.astype(np.int64) - first) * d + cell
            here = np.bincount(place, minlength=(last - first + 1) * d)
            counts[first : last + 1] += here.reshape(-1, d)
    return Census(counts, ordered, least, largest)


def _in_order(t: Column, user: Column) -> bool:
    later, same = t[1:] > t[:-1], t[1:] == t[:-1]
    return bool((later | (same & (user[1:] > user[:-1]))).all())


def sort_rows(columns: Columns, source: str) -> Columns:
    """Sort rows by t and then user.

    Raises
    ------
    StreamError
        Naming the row, if a user is twice at one t.
    """
    t, user, cell = columns
    order = np.lexsort((user, t))
    again = np.flatnonzero((np.diff(t[order]) == 0) & (np.diff(user[order]) == 0))
    if again.size:
        row = int(order[again + 1].min())
        raise StreamError(f"{source}: row {row}: user {user[row]} at t={t[row]}: must be there once")
    return t[order], user[order], cell[order]


def number_users(user: Column) -> tuple[npt.NDArray[np.uint32], int]:
    """Renumber users 0, 1, … in order, and count them; no copy if they have these numbers already."""
    blocks = [slice(start, start + BLOCK) for start in range(0, user.size, BLOCK)]
    known = np.unique(np.concatenate([user[:0], *(np.unique(user[block]) for block in blocks)]))
    if known.size and (known[0] != 0 or known[-1] != known.size - 1):
        numbers = np.empty(user.size, dtype=np.uint32)
        for block in blocks:
            numbers[block] = np.searchsorted(known, user[block])
        return numbers, known.size
    return user.astype(np.uint32, copy=False), known.size


def refuse(
    source: str, name: str, values: Column, wrong: npt.NDArray[np.bool_], right: str, first: int = 0
) -> None:
    """Raise StreamError naming the first row with a wrong value; row 0 of these is row ``first``."""
    if wrong.any():
        row = int(wrong.argmax())
        raise StreamError(f"{source}: row {first + row}: {name}={values[row]}: must be {right}")
