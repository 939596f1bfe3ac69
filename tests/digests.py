"""Digests of what `smoke` computes, for tests/workflow/smoke.sha256; `make digests` prints them there.

Of a parquet file the contents count and not the bytes, which name the versions that wrote them: column
names, types and values, bit by bit. Tables are text and count as they are. Figures and the page are left
out: drawing changes with matplotlib and freetype, and the page names the commit.
"""

import hashlib
from pathlib import Path

import numpy as np
import polars as pl

DIGESTS = Path(__file__).parent / "workflow" / "smoke.sha256"


def contents(path):
    """Digest of a table's columns."""
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


def digests(folder):
    """Of the streams, runs and tables in a folder where `smoke` is done, by path."""
    tables = [folder / "data/streams", folder / "data/runs/smoke"]
    found = {path: contents(path) for place in tables for path in place.rglob("*.parquet")}
    for path in (folder / "reports/smoke/tables").glob("*"):
        found[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    return {str(path.relative_to(folder)): digest for path, digest in sorted(found.items())}


if __name__ == "__main__":
    for name, digest in digests(Path()).items():
        print(f"{digest}  {name}")
