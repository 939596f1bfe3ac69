"""Digests of the results of `smoke`, for tests/workflow/smoke.numpy-*.sha256; `make digests` writes them.

A digest of a parquet file is of its contents (column names, types and values, bit by bit) and not of its
bytes, which name the versions that wrote them. Summaries, tables, figures and the page are left out: they are
made of these, and may change in a last digit with scipy, or in their drawing with matplotlib and freetype.

numpy may change its random streams from one minor version to the next (2.5 draws other binomials than 2.4),
so each has its own file. Python's version changes nothing.
"""

import hashlib
import re
from pathlib import Path

import numpy as np
import polars as pl

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "workflow"
MINOR = ".".join(np.__version__.split(".")[:2])


def contents(path: Path) -> str:
    """Digest the columns of a table."""
    digest = hashlib.sha256()
    for column in pl.read_parquet(path):
        digest.update(f"{column.name}:{column.dtype}:".encode())
        if column.dtype == pl.String:
            digest.update("\0".join(map(repr, column)).encode())
        else:
            nothing = False if column.dtype == pl.Boolean else 0
            digest.update(column.is_null().to_numpy().tobytes())
            digest.update(np.ascontiguousarray(column.fill_null(nothing)).tobytes())
    return digest.hexdigest()


def digests(folder: Path) -> dict[str, str]:
    """Digest the streams and runs in a folder where `smoke` is done, by path."""
    runs = folder / "data/runs/smoke"
    streams = [folder / f"data/streams/{stream.name}.parquet" for stream in runs.iterdir()]
    paths = sorted([*streams, *runs.rglob("*.parquet")])
    return {str(path.relative_to(folder)): contents(path) for path in paths}


def committed() -> Path:
    """Find the file of this numpy, or of the newest known where this one has none."""
    known = FOLDER.glob("smoke.numpy-*.sha256")
    files = sorted(known, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)])
    own = FOLDER / f"smoke.numpy-{MINOR}.sha256"
    return own if own in files else files[-1]


if __name__ == "__main__":
    lines = [f"{digest}  {name}\n" for name, digest in digests(Path()).items()]
    (FOLDER / f"smoke.numpy-{MINOR}.sha256").write_text("".join(lines))
