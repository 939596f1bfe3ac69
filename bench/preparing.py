"""prepare on as many rows as YJMob100K has. The rows are synthetic: the published ones need a network."""

import gzip
import tempfile
from pathlib import Path
from typing import IO, cast

import numpy as np
import polars as pl

from bench.measure import Finding, python, watched

ROWS, DAYS, SLOTS, SIDE = 112_000_000, 75, 48, 200
PEOPLE = 100_000
LIMIT = 4000.0


def make_raw(path: Path, rows: int) -> int:
    """Write a gzipped csv ``uid,d,t,x,y``, person by person as published; return its number of rows."""
    rng = np.random.default_rng(0)
    slots, people = DAYS * SLOTS, max(rows * PEOPLE // ROWS, 1)
    chance, written = rows / (people * slots), 0
    with cast(IO[bytes], gzip.open(path, "wb", compresslevel=1)) as file:
        file.write(b"uid,d,t,x,y\n")
        for first in range(0, people, 1000):
            mine = np.arange(first, min(first + 1000, people))
            who, when = np.nonzero(rng.random((mine.size, slots)) < chance)
            home = rng.integers(1, SIDE + 1, (mine.size, 2))
            x, y = np.clip(home[who].T + rng.integers(-8, 9, (2, who.size)), 1, SIDE)
            part = pl.DataFrame({"uid": mine[who], "d": when // SLOTS, "t": when % SLOTS, "x": x, "y": y})
            part.write_csv(file, include_header=False)
            written += part.height
    return written


def run(*, toy: bool = False) -> list[Finding]:
    """Measure seconds and peak memory of ``prepare dataset=yjmob100k``."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw" / "yjmob100k"
        raw.mkdir(parents=True)
        rows = make_raw(raw / "yjmob100k-dataset1.csv.gz", ROWS // 50_000 if toy else ROWS)
        command = python("-m", "mtsp_ldp.stages.prepare", "dataset=yjmob100k", f"data={folder}")
        seen = watched(command)
    what = f"yjmob100k, {rows:,} rows"
    return [
        Finding(what, "speed", rows / seen.seconds, "rows/s"),
        Finding(what, "seconds", seen.seconds, "s"),
        Finding(what, "peak memory", seen.own_peak, "MB", LIMIT),
    ]
