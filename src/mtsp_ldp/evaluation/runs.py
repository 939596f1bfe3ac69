"""One cell of the grid: all repetitions of a mechanism on a stream, scored, as the files between stages."""

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mtsp_ldp.evaluation.scoring import score
from mtsp_ldp.evaluation.workload import Workload
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.releases.release import Release
from mtsp_ldp.releases.simulation import simulate
from mtsp_ldp.streams.stream import Stream

ANY = "any"
"""Stands for epsilon and window in the files of the floors, which depend on neither."""
RELEASES = ("raw", "simplex")
SCHEMA = {
    "dataset": pl.String,
    "mechanism": pl.String,
    "epsilon": pl.Float64,
    "window": pl.Int32,
    "repetition": pl.Int32,
    "release": pl.String,
    "query": pl.String,
    "measure": pl.String,
    "value": pl.Float64,
}


def run_cell(
    stream: Stream,
    mechanism: str,
    options: Mapping[str, Any],
    *,
    epsilon: float | None,
    window: int | None,
    repetitions: int,
    seed: int,
    label: str | None = None,
) -> tuple[pl.DataFrame, Release]:
    """All repetitions of one cell.

    Parameters
    ----------
    epsilon, window
        None for a floor, which depends on neither.
    label
        Names a variant in the results; random numbers are keyed by the mechanism, so that variants of one
        mechanism are compared on the same ones.

    Returns
    -------
    The scores in long form, and the release of repetition 0.
    """
    workload = Workload(stream, stream.replicate)
    rows: list[tuple[Any, ...]] = []
    first: Release | None = None
    for repetition in range(repetitions):
        release = simulate(
            stream,
            mechanism,
            epsilon=1.0 if epsilon is None else epsilon,
            window=1 if window is None else window,
            seed=seed,
            replicate=stream.replicate,
            repetition=repetition,
            **options,
        )
        first = first or release
        key = (stream.key, label or mechanism, epsilon, window, repetition)
        for name, scored in zip(RELEASES, (release, release.simplex()), strict=True):
            rows += [(*key, name, *result) for result in score(scored, workload)]
        share = float(release.trace["published"].mean())  # type: ignore[arg-type]
        rows.append((*key, "raw", "publication", "share", share))
    if first is None:
        raise ValueError(f"repetitions={repetitions!r}: at least 1")
    return pl.DataFrame(rows, schema=SCHEMA, orient="row"), first


def write_cell(stem: Path, scores: pl.DataFrame, release: Release, provenance: Mapping[str, str]) -> None:
    """Write ``<stem>.parquet``, ``<stem>.release.parquet`` and ``<stem>.trace.parquet``, whole."""
    steps, d = release.which.size, release.d
    published = pl.DataFrame(
        {
            "t": np.repeat(np.arange(steps, dtype=np.int32), d),
            "cell": np.tile(np.arange(d, dtype=np.uint16), steps),
            "frequency": release.frequencies.ravel(),
        }
    )
    files = {".trace.parquet": release.trace, ".release.parquet": published, ".parquet": scores}
    metadata = {**provenance, **versions()}
    for suffix, frame in files.items():
        with atomic_write(stem.with_name(stem.name + suffix)) as partial:
            frame.write_parquet(partial, compression="zstd", metadata=metadata)


def versions() -> dict[str, str]:
    """Of what the numbers depend on."""
    return {"python": platform.python_version(), "numpy": np.__version__, "polars": pl.__version__}
