"""One cell of the grid: all repetitions of a mechanism on a stream, scored; its files, written and read."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mtsp_ldp.evaluation.scoring import score
from mtsp_ldp.evaluation.workload import Workload
from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.files import atomic_write, read_table, read_table_metadata
from mtsp_ldp.mechanisms.registry import find
from mtsp_ldp.releases.release import Release
from mtsp_ldp.releases.simulation import simulate
from mtsp_ldp.streams.stream import Stream

RELEASES = ("raw", "projected")
NOT_PRIVATE = "no: a simulated release is reproducible from its seed"
"""Said in every file of a run."""
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


@dataclass(frozen=True)
class RunFiles:
    """The files of one cell: scores of all repetitions; release and trace of repetition 0."""

    stem: str

    @property
    def scores(self) -> str:
        """File of the long scores; see `SCHEMA`."""
        return f"{self.stem}.parquet"

    @property
    def release(self) -> str:
        """File of the release: columns t, cell, frequency, and standard_error where there is one."""
        return f"{self.stem}.release.parquet"

    @property
    def trace(self) -> str:
        """File of the budget as it was spent, one row a t."""
        return f"{self.stem}.trace.parquet"

    @property
    def all(self) -> list[str]:
        """All three files."""
        return [self.scores, self.release, self.trace]


@dataclass(frozen=True)
class Run:
    """Release and trace of one run.

    Attributes
    ----------
    trace
        One row a t: t, active, share_1, share_2, published, dissimilarity, k.
    frequencies
        Shares of the active users, ``(T, d)``.
    """

    trace: pl.DataFrame
    frequencies: FloatArray


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
    """Run and score all repetitions of one cell.

    Parameters
    ----------
    epsilon, window
        Budget and length of the window; None for a floor, which depends on neither.
    label
        Name of a variant in the results; random numbers are keyed by the mechanism, so that variants of one
        mechanism are compared on the same ones.

    Returns
    -------
    scores : DataFrame
        In long form; see `SCHEMA`.
    release : Release
        The release of repetition 0.
    """
    _check_terms(mechanism, epsilon=epsilon, window=window)
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
        scores = score(release, workload)
        projected = release.projected()
        for name, found in zip(
            RELEASES, (scores, scores if projected is release else score(projected, workload)), strict=True
        ):
            rows += [(*key, name, *result) for result in found]
        share = float(release.trace["published"].mean())  # type: ignore[arg-type]
        rows.append((*key, "raw", "publication", "share", share))
    if first is None:
        raise ValueError(f"repetitions={repetitions!r}: must be at least 1")
    return pl.DataFrame(rows, schema=SCHEMA, orient="row"), first


def _check_terms(mechanism: str, **terms: float | None) -> None:
    """Raise ValueError for a mechanism that reads data and lacks one of its terms."""
    for name, value in terms.items():
        if value is None and find(mechanism).cls.reads_data:
            raise ValueError(f"{name}=None: must be a number, which {mechanism} depends on")


def write_run(files: RunFiles, scores: pl.DataFrame, release: Release, provenance: Mapping[str, str]) -> None:
    """Write the files of one cell, each of them whole.

    Where the scores come from, the digest of the stream among it, is told in their file alone: digests of the
    true stream would tell who was where to whoever can try.
    """
    published = pl.DataFrame(
        {
            "t": np.repeat(np.arange(release.length, dtype=np.int32), release.d),
            "cell": np.tile(np.arange(release.d, dtype=np.uint16), release.length),
            "frequency": release.frequencies.ravel(),
        }
    )
    if release.tree is None and release.variances is not None:
        errors = np.sqrt(release.variances[release.which])
        published = published.with_columns(standard_error=errors.ravel())
    presence = "private" if release.of_all_users else "public"
    about = {**versions(), "presence": presence, "projection": release.projection, "private": NOT_PRIVATE}
    for path, frame, metadata in (
        (files.scores, scores, {**provenance, **about}),
        (files.release, published, about),
        (files.trace, release.trace, about),
    ):
        with atomic_write(path) as partial:
            frame.write_parquet(partial, compression="zstd", metadata=metadata)


def read_run(files: RunFiles, stream: Stream) -> Run:
    """Read release and trace of one cell.

    With private presence a release holds shares of all users; they come out as shares of the active ones.
    """
    released = read_table(files.release)["frequency"].to_numpy().reshape(stream.counts.shape)
    trace = read_table(files.trace)
    if read_table_metadata(files.release).get("presence") == "private":
        active = np.maximum(stream.active * stream.replicate, 1)
        released = released * (trace["active"].to_numpy() / active)[:, None]
    return Run(trace, released)


def versions() -> dict[str, str]:
    """List the versions of the packages that results depend on."""
    return {"python": platform.python_version(), "numpy": np.__version__, "polars": pl.__version__}
