"""Studies outside the experiment grid: growth of error and time, and when grouping breaks a group."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mtsp_ldp.audits.equality import equality_table
from mtsp_ldp.audits.leakage import empirical_table, exact_table, exposure_table
from mtsp_ldp.datasets.base import configured
from mtsp_ldp.experiments.config import dataset_config
from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.mechanisms.mtsp.smoothing import NodeGroups
from mtsp_ldp.releases.simulation import simulate
from mtsp_ldp.streams.facts import StreamFacts
from mtsp_ldp.streams.stream import Stream

EPSILON, WINDOW, REPETITIONS = 1.0, 10, 3
MECHANISMS = ["lbu", "lsp", "lpu", "lpa", "mtsp_budget", "mtsp_population"]
SIDES = [4, 8, 16, 32, 64]
USERS = [10**k for k in range(3, 8)]
LENGTHS = [100, 200, 400, 800, 1600, 3200]
# slope of log error and log time that theory expects of the mechanisms that publish at every t
THEORY = {("cells", "mse"): 0.0, ("users", "mse"): -1.0, ("timestamps", "mse"): 0.0}
THEORY |= {("cells", "seconds"): 1.0, ("users", "seconds"): 0.0, ("timestamps", "seconds"): 1.0}


def drifting(users: int, length: int, d: int = 64) -> Stream:
    """Make exchangeable users on d cells of Zipf popularity that swells and ebbs by a tenth in 200 steps."""
    rank = np.arange(1, d + 1)
    phase = 2 * np.pi * rank / d
    wave = 1 + 0.1 * np.sin(2 * np.pi * np.arange(length)[:, None] / 200 + phase)
    shares = wave / rank
    shares /= shares.sum(axis=1, keepdims=True)
    counts = np.floor(shares * users).astype(np.int64)
    counts[:, 0] += users - counts.sum(axis=1)
    return Stream.from_counts(counts, users, facts=StreamFacts(dataset=f"drifting_{users}_{length}"))


def growth() -> dict[str, pl.DataFrame]:
    """Measure error and time as cells, users and timestamps grow.

    Returns
    -------
    dict
        ``errors`` (axis, size, mechanism, repetition, mse), reproducible; ``seconds`` likewise, measured; and
        ``slopes`` (axis, quantity, mechanism, slope, theory) of log-log fits.
    """
    rows = [
        (axis, size, name, repetition, *_timed(stream, name, repetition))
        for axis, size, stream in _streams()
        for name in MECHANISMS
        for repetition in range(REPETITIONS)
    ]
    schema = ["axis", "size", "mechanism", "repetition", "mse", "seconds"]
    table = pl.DataFrame(rows, schema=schema, orient="row")
    slopes = [
        (axis, quantity, name, _slope(table, axis, name, quantity), THEORY[axis, quantity])
        for axis in ("cells", "users", "timestamps")
        for quantity in ("mse", "seconds")
        for name in MECHANISMS
    ]
    return {
        "errors": table.drop("seconds"),
        "seconds": table.drop("mse"),
        "slopes": pl.DataFrame(
            slopes, schema=["axis", "quantity", "mechanism", "slope", "theory"], orient="row"
        ),
    }


def _streams() -> Iterator[tuple[str, int, Stream]]:
    city: dict[str, Any] = {**dataset_config("city"), "days": 1, "events": []}
    for side in SIDES:
        yield "cells", side * side, configured({**city, "grid": side}).prepare(Path())
    for users in USERS:
        yield "users", users, drifting(users, 200)
    for length in LENGTHS:
        yield "timestamps", length, drifting(100_000, length)


def _timed(stream: Stream, name: str, repetition: int) -> tuple[float, float]:
    start = time.perf_counter()
    release = simulate(stream, name, epsilon=EPSILON, window=WINDOW, repetition=repetition)
    seconds = time.perf_counter() - start
    return float(((release.frequencies - stream.frequencies) ** 2).mean()), seconds


def _slope(table: pl.DataFrame, axis: str, name: str, quantity: str) -> float:
    part = table.filter(pl.col("axis") == axis, pl.col("mechanism") == name)
    means = part.group_by("size").agg(pl.col(quantity).mean()).sort("size")
    return float(np.polyfit(np.log(means["size"]), np.log(means[quantity]), 1)[0])


COPIES, PUBLICATIONS = 4000, 80
RULES: dict[str, dict[str, Any]] = {
    "variance": {"grouping": "variance"},
    "variance, window 10": {"grouping": "variance", "window": 10},
    "predictive": {"grouping": "predictive"},
    "none": {"grouping": "none"},
}


def _jump(after: int) -> FloatArray:
    return np.where(np.arange(PUBLICATIONS) < after, 0.0, 5.0)


SIGNALS: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "constant": lambda rng: np.zeros((PUBLICATIONS, COPIES)),
    "jump of 5σ after 10": lambda rng: np.tile(_jump(10)[:, None], COPIES),
    "jump of 5σ after 50": lambda rng: np.tile(_jump(50)[:, None], COPIES),
    "ramp, 0.2σ a step": lambda rng: np.tile(0.2 * np.arange(PUBLICATIONS)[:, None], COPIES),
    "random walk, 0.5σ a step": lambda rng: np.cumsum(rng.normal(0, 0.5, (PUBLICATIONS, COPIES)), axis=0),
}


def grouping() -> dict[str, pl.DataFrame]:
    """Measure how often a new group opens and the error of the release, publication by publication.

    Returns
    -------
    dict
        ``groups``: signal, rule, publication, breaks (share of copies that open a group), mse (in noise
        variances; 1 is no smoothing).
    """
    frames = []
    for signal, make in SIGNALS.items():
        for rule, options in RULES.items():
            walk, noise, _ = generators("grouping", signal)
            truth = make(walk)
            groups = NodeGroups(COPIES, **options)
            for publication, level in enumerate(truth):
                values = level + noise.normal(0.0, 1.0, COPIES)
                released, *_ = groups.add(values, np.ones(COPIES))
                breaks = float((groups.age == 1).mean()) if publication else 0.0
                error = float(((released - level) ** 2).mean())
                frames.append((signal, rule, publication, breaks, error))
    schema = ["signal", "rule", "publication", "breaks", "mse"]
    return {"groups": pl.DataFrame(frames, schema=schema, orient="row")}


def privacy() -> dict[str, pl.DataFrame]:
    """Tabulate audits, equality in law, and what w-event LDP does not protect."""
    return {
        "empirical": empirical_table(),
        "exact": exact_table(),
        "equality": equality_table(),
        "exposure": exposure_table(),
    }


STUDIES: dict[str, Callable[[], dict[str, pl.DataFrame]]] = {
    "growth": growth,
    "grouping": grouping,
    "privacy": privacy,
}
