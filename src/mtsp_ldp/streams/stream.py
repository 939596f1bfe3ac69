"""The canonical stream: who is where at each timestamp, on disk and in memory.

A *panel* holds (t, user, cell); an *exchangeable* stream holds counts (t, cell, count) and a number of
users. Input is checked at this border; an error names the file and the row. The rows of a panel that is
read from a file stay there (see `mtsp_ldp.streams.rows`); counts are in memory.
"""

from dataclasses import fields
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.foundation.files import atomic_write, digest_file
from mtsp_ldp.streams.facts import MOST_CELLS, MOST_COUNTS, PreparedFacts, StreamError, StreamFacts
from mtsp_ldp.streams.given import column, table_of, whole
from mtsp_ldp.streams.rows import (
    ROW_GROUP,
    Column,
    Columns,
    Rows,
    inspect_parquet,
    number_users,
    read_rows,
    refuse,
    rows_in_file,
    rows_in_memory,
    scan_rows,
    sort_rows,
)

__all__ = ["Stream", "StreamError"]

COUNTS = {"t": pl.Int32, "cell": pl.UInt16, "count": pl.Int64}


class Stream:
    """Locations of users over T timestamps and d cells. Make one by `read` or a ``from_`` method.

    Attributes
    ----------
    counts
        Users per cell, ``(T, d)``.
    active
        n_t, ``(T,)``; public.
    users
        Number of users who ever appear (a panel), or the fixed population (exchangeable).
    is_panel
        True if the cells of each user are known.
    facts
        Facts beside the rows; see `mtsp_ldp.streams.facts.StreamFacts`.
    key
        Name of the stream in the keys of random seeds.
    """

    def __init__(
        self,
        counts: IntArray,
        users: int,
        rows: Rows | None,
        *,
        facts: StreamFacts | None = None,
    ) -> None:
        self.counts = counts
        self.active: IntArray = counts.sum(axis=1)
        self.users = users
        self.facts = facts or StreamFacts()
        self._rows = rows

    @property
    def is_panel(self) -> bool:
        """True if the cells of each user are known."""
        return self._rows is not None

    @property
    def length(self) -> int:
        """T, the number of timestamps."""
        return int(self.counts.shape[0])

    @property
    def d(self) -> int:
        """Number of cells."""
        return int(self.counts.shape[1])

    @property
    def key(self) -> str:
        """Name of the stream in the keys of seeds."""
        return self.facts.dataset

    @property
    def replicate(self) -> int:
        """Number of independent reporters that each user stands for by default."""
        return self.facts.replicate

    @property
    def period(self) -> int:
        """Number of timestamps of a period, 0 where there is none; see `StreamFacts.timestamps_a_period`."""
        return self.facts.timestamps_a_period

    @cached_property
    def frequencies(self) -> npt.NDArray[np.float64]:
        """True frequencies, ``(T, d)``; NaN where nobody is active."""
        with np.errstate(invalid="ignore"):
            shares: npt.NDArray[np.float64] = self.counts / self.active[:, None]
        return shares

    def at(self, t: int) -> tuple[Column, Column]:
        """List the users active at t, in order, and their cells (a panel only)."""
        if self._rows is None:
            raise StreamError("an exchangeable stream knows counts, not users")
        return self._rows.at(t)

    @classmethod
    def from_panel(
        cls,
        t: npt.ArrayLike,
        user: npt.ArrayLike,
        cell: npt.ArrayLike,
        d: int,
        *,
        length: int | None = None,
        users: int | None = None,
        facts: StreamFacts | None = None,
    ) -> "Stream":
        """Make a panel from rows in any order.

        Parameters
        ----------
        t, user, cell
            One entry a row; (t, user) unique. Users may have any integers. Arrays of int32, uint32 and
            uint16 that are in order of t and then user, with users 0, 1, …, are kept as they are, uncopied.
        d
            Number of cells; every cell is below it.
        length
            T; the last t + 1 by default.
        users
            Number of users, numbered from 0, those included who never appear; by default those who do.
        """
        rows = {"t": t, "user": user, "cell": cell}
        given = {name: column(name, values) for name, values in rows.items()}
        d, known = whole("d", d, least=1), 0 if users is None else whole("users", users, least=1)
        sizes = {each.shape for each in given.values()}
        if len(sizes) > 1 or given["t"].ndim != 1:
            raise StreamError(f"panel: t, user, cell: must be of one length, not of shapes {sorted(sizes)}")
        if d > MOST_CELLS:
            raise StreamError(f"panel: d={d}: must be at most {MOST_CELLS} cells")
        if length is None and given["t"].size == 0:
            raise StreamError("panel: no rows: must be at least one")
        steps = int(given["t"].max()) + 1 if length is None else whole("length", length, least=1)
        if steps * d > MOST_COUNTS:
            raise StreamError(
                f"panel: T = {steps:,} and d = {d:,} are too many: t must be numbers of timestamps 0, 1, …, "
                f"no times (T × d at most {MOST_COUNTS:,})"
            )
        return cls._panel((given["t"], given["user"], given["cell"]), d, steps, known, facts, "panel")

    @classmethod
    def _panel(
        cls, columns: Columns, d: int, length: int, known: int, facts: StreamFacts | None, source: str
    ) -> "Stream":
        """Make a panel whose rows are in memory."""
        size = columns[0].size
        found = scan_rows(rows_in_memory(columns), size, length, d, source)
        if not found.ordered:
            columns = sort_rows(columns, source)
            found = scan_rows(rows_in_memory(columns), size, length, d, source)
        t, user, cell = columns
        if not 0 <= found.least <= found.largest < known:
            user, known = number_users(user)
        compact = (t, user.astype(np.uint32, copy=False), cell.astype(np.uint16, copy=False))
        rows = Rows(rows_in_memory(compact), found.counts.sum(axis=1))
        return cls(found.counts, max(known, 1), rows, facts=facts)

    @classmethod
    def from_counts(
        cls,
        counts: npt.ArrayLike,
        population: int | None = None,
        *,
        facts: StreamFacts | None = None,
    ) -> "Stream":
        """Make an exchangeable stream.

        Parameters
        ----------
        counts
            Users per cell, ``(T, d)``.
        population
            Fixed number of users; the largest n_t by default.
        """
        table = table_of(counts)
        largest = int(table.sum(axis=1).max())
        if population is not None and whole("population", population) < largest:
            raise StreamError(f"population={population}: must be at least the largest n_t, {largest}")
        return cls(table, max(population or largest, 1), None, facts=facts)

    @classmethod
    def read(cls, path: str | Path) -> "Stream":
        """Read a prepared stream, ``<name>.parquet`` with ``<name>.json`` beside it.

        Raises
        ------
        StreamError
            Naming the file and the row, for anything that is not a canonical stream.
        """
        source = Path(path)
        facts = PreparedFacts.read(source.with_suffix(".json"))
        columns, size = inspect_parquet(source)
        if "count" in columns:
            stream = cls._exchangeable(read_rows(source, COUNTS), facts, str(source))
        else:
            load = rows_in_file(source)
            found = scan_rows(load, size, facts.T, facts.d, str(source))
            if not found.ordered or not 0 <= found.least <= found.largest < facts.users:
                stream = cls._panel(load(0, size), facts.d, facts.T, facts.users, facts, str(source))
            else:
                stream = cls(found.counts, facts.users, Rows(load, found.counts.sum(axis=1)), facts=facts)
        facts.check(source, stream.users, stream.active)
        return stream

    @classmethod
    def _exchangeable(cls, frame: pl.DataFrame, facts: PreparedFacts, source: str) -> "Stream":
        t, cell, count = (frame[name].cast(pl.Int64).to_numpy() for name in ("t", "cell", "count"))
        refuse(source, "t", t, (t < 0) | (t >= facts.T), f"in 0..{facts.T - 1}")
        refuse(source, "cell", cell, (cell < 0) | (cell >= facts.d), f"in 0..{facts.d - 1}")
        refuse(source, "count", count, count < 0, "at least 0")
        again = frame.select(pl.struct("t", "cell").is_duplicated()).to_series().to_numpy()
        refuse(source, "cell", cell, again, "at each t once")
        counts = np.zeros((facts.T, facts.d), dtype=np.int64)
        counts[t, cell] = count
        return cls.from_counts(counts, facts.users, facts=facts)

    def described(self, sha256: str = "") -> PreparedFacts:
        """Give the facts with the sizes of the stream, and the digest of its file."""
        known = {one.name: getattr(self.facts, one.name) for one in fields(StreamFacts)}
        return PreparedFacts(
            **known,
            users=self.users,
            T=self.length,
            d=self.d,
            kind="panel" if self.is_panel else "exchangeable",
            mean_active=round(float(self.active.mean()), 1),
            active=tuple(self.active.tolist()),
            sha256=sha256,
        )

    def write(self, path: str | Path) -> None:
        """Write ``<name>.parquet`` and, beside it, ``<name>.json`` with the stream's facts."""
        target = Path(path)
        if self._rows is not None:
            frame = self._rows.everything()
        else:
            t, cell = np.nonzero(self.counts)
            frame = pl.DataFrame({"t": t, "cell": cell, "count": self.counts[t, cell]}, schema=COUNTS)
        with atomic_write(target) as partial:
            frame.write_parquet(partial, compression="zstd", row_group_size=ROW_GROUP)
            digest = digest_file(partial)
        with atomic_write(target.with_suffix(".json")) as partial:
            self.described(digest).write(partial)
