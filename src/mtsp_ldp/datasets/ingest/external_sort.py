"""External sort: rows on disk in sorted runs, read back in ranges of a key, for what exceeds memory."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 4_000_000
"""Rows kept in memory at once."""
_GROUP = 100_000  # rows of a parquet row group: the least that a range reads of a run


class ExternalSort:
    """Rows sorted on disk by a key of integers from 0.

    Parameters
    ----------
    folder
        Folder for the runs; it must not exist yet.
    key
        Name of the key's column.
    """

    def __init__(self, folder: Path, key: str) -> None:
        folder.mkdir(parents=True)
        self._folder, self._key = folder, key
        self._runs: list[Path] = []
        self.counts = np.zeros(0, dtype=np.int64)
        """Number of rows of each value of the key."""

    def add(self, frame: pl.DataFrame) -> None:
        """Write some rows as a sorted run."""
        if frame.is_empty():
            return
        run = self._folder / f"{len(self._runs)}.parquet"
        frame.sort(self._key).write_parquet(run, compression="lz4", row_group_size=_GROUP, statistics=True)
        self._runs.append(run)
        seen = np.bincount(frame[self._key].to_numpy(), minlength=self.counts.size)
        seen[: self.counts.size] += self.counts
        self.counts = seen

    def ranges(self) -> Iterator[pl.DataFrame]:
        """Read all rows, in frames of ascending ranges of the key; a value of the key is in one frame."""
        low = 0
        while low < self.counts.size:
            within = np.cumsum(self.counts[low:]) <= ROWS
            high = low + max(int(within.sum()), 1)
            here = pl.col(self._key).is_between(low, high - 1)
            yield pl.concat([pl.scan_parquet(run).filter(here) for run in self._runs]).collect()
            low = high
