"""Recommendation of a mechanism for a prepared stream at ε and w: expected errors against the floors.

Errors are those of releases as they are (raw), and projected (non-negative, with a sum of 1), which costs no
privacy. Closed forms where there are some, a short seeded simulation elsewhere, on the same timestamps. No
mechanism that does worse than publishing nothing is recommended, and none is tuned: each runs with its
configured options.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mtsp_ldp.evaluation.expectation import Expectation, has_closed_form
from mtsp_ldp.evaluation.intervals import half_width, positive
from mtsp_ldp.evaluation.measures import SAME, errors
from mtsp_ldp.evaluation.runs import RELEASES
from mtsp_ldp.mechanisms.options import check_terms
from mtsp_ldp.mechanisms.registry import find, readers
from mtsp_ldp.releases.simulation import simulate
from mtsp_ldp.streams.stream import Stream

SECONDS = 55.0
"""Approximate seconds of all simulations on one core; a longer stream is sliced."""
FLAT, TREE = (6e-5, 2.2e-7), (2e-4, 1.5e-6)
"""Seconds a step, and a step and cell, of histograms and of trees, measured on one core."""
FEWEST = 5
"""Repetitions below which a simulation tells nothing."""
WORTH = 0.99
"""Part of the floor's error that a mechanism has to stay below: a gain of less than one percent is none."""
LOOK_UP, START = 1.5e-8, 4e-8
"""Seconds a step and active user of a panel, and a run and reporter of it."""
SCHEMA = {
    "release": pl.String,
    "mechanism": pl.String,
    "epsilon": pl.Float64,
    "window": pl.Int32,
    "mse": pl.Float64,
    "standard_error": pl.Float64,
    "method": pl.String,
    "repetitions": pl.Int32,
}


@dataclass(frozen=True)
class Advice:
    """Table of expected errors, with what wins in it.

    Attributes
    ----------
    table
        A row a release, mechanism, ε and w, floors last: ``mse`` of frequencies, ``standard_error`` (null
        for what is exact), ``method`` (``closed form``, ``simulation``, ``floor``), ``repetitions``, ``high``
        (end of the 95 % interval), ``wins`` over publishing nothing (with all of an interval that allows for
        the number of simulations in the table), ``loses`` to it (with all of its own), ``chosen``, ``tied``
        (it wins too, and its interval meets the chosen one's), and ``open`` (its mean is below that of
        publishing nothing, and it does not win).
    first, last
        First and last timestamp of the slice that all of it is about.
    whole
        True if the slice is the whole stream.
    later
        ``{w: (mechanism, ε)}``: where nothing wins in the table, raw, from which ε on the first of the
        closed forms does; None if none does up to ε = 100.
    """

    table: pl.DataFrame
    first: int
    last: int
    whole: bool
    later: Mapping[int, tuple[str, float] | None]


def advise(
    stream: Stream,
    epsilons: Sequence[float],
    windows: Sequence[int],
    options: Callable[[str], Mapping[str, Any]],
    *,
    repetitions: int = 5,
    seed: int = 1,
    seconds: float = SECONDS,
    progress: Callable[[list[tuple[str, float, int]]], Iterable[tuple[str, float, int]]] = iter,
) -> Advice:
    """Estimate the errors of every mechanism over ε × w, and choose the one to use.

    Parameters
    ----------
    stream
        A prepared stream.
    epsilons, windows
        The grid.
    options
        Function from a mechanism's name to its options.
    repetitions, seed
        Number of repetitions of the simulations, and their seed.
    seconds
        Approximate seconds of the simulations; decides the length of the slice (at least three windows)
        without reading a clock.
    progress
        Iterates over the simulated (mechanism, ε, w), and may show a progress bar.

    Raises
    ------
    ValueError
        Naming the key, its value and what is allowed.
    """
    _check(stream, epsilons, windows, repetitions)
    epsilons, windows = sorted(set(map(float, epsilons))), sorted(set(windows))
    names = readers()
    closed = [name for name in names if has_closed_form(name, options(name))]
    cells = [(epsilon, window) for window in windows for epsilon in epsilons]
    length = _length(stream, names, seconds / (len(cells) * repetitions), 3 * max(windows))
    first = _place(stream, length)
    part = slice_stream(stream, first, length)
    expected = Expectation(part)
    rows: list[tuple[Any, ...]] = [
        ("raw", name, *cell, expected.error(name, *cell), None, "closed form", None)
        for name in closed
        for cell in cells
    ]
    for name, epsilon, window in progress([(name, *cell) for name in names for cell in cells]):
        found = _simulated(part, name, epsilon, window, repetitions, seed, options(name))
        rows += [
            (release, name, epsilon, window, *errors, "simulation", repetitions)
            for release, errors in found.items()
            if release != "raw" or name not in closed
        ]
    rows += _floor_rows(expected, cells)
    table = _judged(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    raw = table.filter(pl.col("release") == "raw")
    lost = raw.group_by("window").agg(pl.col("chosen").any()).filter(~pl.col("chosen"))["window"]
    later = {window: _first(expected, closed, window) for window in sorted(lost.to_list())}
    return Advice(table, first, first + length - 1, length == stream.length, later)


def _floor_rows(expected: Expectation, cells: Sequence[tuple[float, int]]) -> list[tuple[Any, ...]]:
    # the constant 0 is projected on the constant 1/d
    floors = {"raw": expected.floors, "projected": dict.fromkeys(expected.floors, expected.floors["uniform"])}
    return [
        (release, name, *cell, floors[release][name], None, "floor", None)
        for release in RELEASES
        for name in floors[release]
        for cell in cells
    ]


def _check(stream: Stream, epsilons: Sequence[float], windows: Sequence[int], repetitions: int) -> None:
    if not epsilons or not windows:
        raise ValueError(f"epsilon={list(epsilons)}, window={list(windows)}: must be at least one of each")
    for epsilon in epsilons:
        for window in windows:
            check_terms(epsilon, window, stream.length)
    if not isinstance(repetitions, int) or repetitions < 2:
        raise ValueError(f"repetitions={repetitions!r}: must be an integer, at least 2 for a standard error")


def _length(stream: Stream, names: Sequence[str], seconds: float, least: int) -> int:
    """Estimate how many timestamps of these mechanisms fit; a function of public sizes, not of the clock."""
    step = 0.0
    for name in names:
        cls = find(name).cls
        fixed, per_cell = cls.seconds or (TREE if cls.tree else FLAT)
        step += fixed + per_cell * stream.d
        if stream.is_panel:
            seconds -= START * stream.users * stream.replicate
        if stream.is_panel and find(name).division == "population":
            step += LOOK_UP * float(stream.active.mean())
    return min(stream.length, max(int(seconds / step) if step else stream.length, least))


def _place(stream: Stream, length: int) -> int:
    """Place the slice where most timestamps have users, as close to the middle as that is."""
    busy = np.concatenate([[0], np.cumsum(stream.active > 0)])
    there = busy[length:] - busy[:-length]
    starts = np.flatnonzero(there == there.max())
    return int(starts[np.abs(starts - (stream.length - length) // 2).argmin()])


def slice_stream(stream: Stream, first: int, length: int) -> Stream:
    """Slice consecutive timestamps of a stream into a new one; the whole stream is returned as it is."""
    if length == stream.length:
        return stream
    if not stream.is_panel:
        counts = stream.counts[first : first + length]
        return Stream.from_counts(counts, stream.users, facts=stream.facts)
    rows = [stream.at(t) for t in range(first, first + length)]
    t = np.repeat(np.arange(length, dtype=np.int32), [user.size for user, _ in rows])
    user, cell = (np.concatenate(column) for column in zip(*rows, strict=True))
    # all users keep their phases, those who are elsewhere in time included
    return Stream.from_panel(t, user, cell, stream.d, length=length, users=stream.users, facts=stream.facts)


def _simulated(
    stream: Stream,
    name: str,
    epsilon: float,
    window: int,
    repetitions: int,
    seed: int,
    options: Mapping[str, Any],
) -> dict[str, tuple[float, float]]:
    """Simulate the mean squared error over repetitions and its standard error, raw and projected."""
    found: dict[str, list[float]] = {release: [] for release in RELEASES}
    for repetition in range(repetitions):
        release = simulate(
            stream,
            name,
            epsilon=epsilon,
            window=window,
            seed=seed,
            replicate=stream.replicate,
            repetition=repetition,
            **options,
        )
        for kind, one in zip(RELEASES, (release, release.projected()), strict=True):
            found[kind].append(errors(one.frequencies, stream.frequencies)["mse"])
    return {
        column: (float(np.mean(each)), float(np.std(each, ddof=1) / np.sqrt(repetitions)))
        for column, each in found.items()
    }


def _judged(table: pl.DataFrame) -> pl.DataFrame:
    """Add to the table intervals, what wins, what is chosen and what ties with it."""
    number = table["repetitions"].fill_null(2)
    deviation = table["standard_error"].fill_null(0.0) * number.sqrt()
    low, high = positive(table["mse"], half_width(deviation, number))
    simulated = pl.col("method") == "simulation"
    comparisons = max(table.filter(simulated).height, 1)
    _, surely = positive(table["mse"], half_width(deviation, number, comparisons))
    cell, error, floors = ["release", "epsilon", "window"], pl.col("mse"), pl.col("method") == "floor"
    known = ~floors & (~simulated | (pl.col("repetitions") >= FEWEST))
    candidate = pl.when(pl.col("wins")).then(error)
    return (
        table.with_columns(low=low, high=high, surely=surely)
        .with_columns(floor=error.filter(floors).min().over("release"))
        .with_columns(
            wins=known & (pl.col("surely") < WORTH * pl.col("floor")),
            loses=~floors & (pl.col("low") > pl.col("floor") * SAME),
            open=~floors & (error < WORTH * pl.col("floor")),
        )
        .with_columns(
            chosen=(candidate == candidate.min().over(cell)).fill_null(False),
            open=pl.col("open") & ~pl.col("wins"),
        )
        .with_columns(end=pl.when(pl.col("chosen")).then(pl.col("high")).max().over(cell))
        .with_columns(
            tied=(pl.col("wins") & ~pl.col("chosen") & (pl.col("low") <= pl.col("end"))).fill_null(False)
        )
        .drop("low", "end", "floor", "surely")
    )


def _first(expected: Expectation, closed: Sequence[str], window: int) -> tuple[str, float] | None:
    """Find the closed form that beats the floors at the smallest ε, and that ε."""
    least = {name: expected.least_epsilon(name, window) for name in closed}
    able = {name: value for name, value in least.items() if value is not None}
    if not able:
        return None
    name = min(able, key=lambda one: able[one])
    return name, able[name]
