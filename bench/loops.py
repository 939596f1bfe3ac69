"""Loop of each mechanism against the bare numpy draws that it makes: the same calls, and nothing else."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from bench.measure import Finding, in_turns
from mtsp_ldp import simulate
from mtsp_ldp.experiments.studies import drifting
from mtsp_ldp.foundation.seeds import Generators
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.privacy import stream_population as simulated
from mtsp_ldp.releases import simulation

USERS, CELLS, LENGTH, WINDOW = 100_000, 128, 1000, 20
GOAL: dict[str, float | None] = {"flat": 1.5, "tree": 2.0, "mtsp_filter": None}
"""Ratios to the bare draws; MTSP-F is post-processing, whose time has a goal of its own."""
FILTERED = {64: 0.3, 1024: 3.0}
Call = tuple[str, tuple[Any, ...], dict[str, Any]]


class Recorder:
    """A generator that notes what is drawn from it."""

    def __init__(self, generator: np.random.Generator, calls: list[Call]) -> None:
        self._generator = generator
        self._calls = calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._generator, name)

        def draw(*args: Any, **kwargs: Any) -> Any:
            self._calls.append((name, args, kwargs))
            return method(*args, **kwargs)

        return draw


@contextmanager
def recorded(calls: list[Call]) -> Iterator[None]:
    """Note every draw of the population of a simulation."""

    def populate(*args: Any, random: Generators, **kwargs: Any) -> Any:
        recorders: Any = [Recorder(one, calls) for one in random]
        return simulated.populate(*args, random=Generators(*recorders), **kwargs)

    with mock.patch.object(simulation, "populate", populate):
        yield


def replay(calls: list[Call]) -> None:
    """Draw the same numbers again, and nothing else."""
    rng = np.random.default_rng(0)
    for name, args, kwargs in calls:
        getattr(rng, name)(*args, **kwargs)


def variates(calls: list[Call]) -> Counter[str]:
    """Count the random numbers that were drawn, by distribution."""
    counter: Counter[str] = Counter()
    for name, args, _ in calls:
        if name != "permutation":
            counter[name] += np.broadcast(*args).size if name == "binomial" else np.size(args[0])
    return counter


def run(*, toy: bool = False) -> list[Finding]:
    """Measure the ratio for every mechanism that reads data, on exchangeable users."""
    stream = drifting(USERS, 20 if toy else LENGTH, CELLS)
    found = []
    for name, entry in mechanisms().items():
        if not entry.cls.reads_data:
            continue
        calls: list[Call] = []
        with recorded(calls):
            simulate(stream, name, epsilon=1.0, window=WINDOW)
        seconds = in_turns(
            {
                "run": partial(simulate, stream, name, epsilon=1.0, window=WINDOW),
                "draws": partial(replay, calls),
            },
            1 if toy else 9,
        )
        ratio = seconds["run"] / seconds["draws"]
        release = "tree" if entry.cls.tree else "flat"
        drawn = ", ".join(f"{number:,} {law}" for law, number in sorted(variates(calls).items()))
        found += [
            Finding(name, "seconds", seconds["run"], "s"),
            Finding(f"{name}: {drawn}", "to its bare draws", ratio, "×", GOAL.get(name, GOAL[release])),
        ]
    return found + _filtering(toy)


def _filtering(toy: bool) -> list[Finding]:
    """Measure what a timestamp of MTSP-F takes beyond one of LPU, which asks the same."""
    found = []
    for cells, goal in FILTERED.items():
        stream = drifting(USERS, 20 if toy else 400, cells)
        both = {
            name: partial(simulate, stream, name, epsilon=1.0, window=WINDOW)
            for name in ("mtsp_filter", "lpu")
        }
        seconds = in_turns(both, 1 if toy else 5)
        each = 1000 * (seconds["mtsp_filter"] - seconds["lpu"]) / stream.length
        found.append(Finding(f"MTSP-F's filter, d = {cells}", "a timestamp", each, "ms", goal))
    return found
