"""Growth of time with users, cells, timestamps, the window, repetitions and active users."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from bench.measure import Finding, in_turns, slope
from mtsp_ldp import Stream, simulate
from mtsp_ldp.evaluation.runs import run_cell
from mtsp_ldp.experiments.studies import drifting
from mtsp_ldp.mechanisms.mtsp.allocation import optimal_allocation

NAMES = ("lbu", "lba", "lpu", "lpa", "mtsp_budget", "mtsp_population")
WINDOW, REPEATS = 10, 5
Runs = Mapping[int, Callable[[], object]]


def run(*, toy: bool = False) -> list[Finding]:
    """Measure slopes of log seconds over log size, and the goals that are not slopes."""
    scale = 10 if toy else 1
    found: list[Finding] = []
    for name in ("lbu", "mtsp_population") if toy else NAMES:
        for axis, runs in _axes(name, scale):
            found += _grown(name, axis, runs, 1 if toy else REPEATS)
    sizes = [10**k for k in (range(2, 4) if toy else range(3, 7))]
    values = np.random.default_rng(0).random(max(sizes))
    runs = {w: partial(optimal_allocation, values[:w], lambda share: 1.0 / share) for w in sizes}
    seconds = in_turns(runs, REPEATS)
    # of w log w over three decades; a line of slope 1 lies below it
    wanted = slope(sizes, [w * np.log2(w) for w in sizes])
    growth = slope(sizes, list(seconds.values()))
    what = f"OBA alone, w = {sizes[0]:,} to {sizes[-1]:,}"
    found.append(Finding(what, "slope in w", growth, "", wanted + 0.1))
    return found + _active(scale, 1 if toy else REPEATS)


def _axes(name: str, scale: int) -> Iterator[tuple[str, Runs]]:
    def of(stream: Stream, window: int = WINDOW) -> Callable[[], object]:
        return partial(simulate, stream, name, epsilon=1.0, window=window)

    length = 200 // scale
    yield "n", {n: of(drifting(n, length)) for n in (10**4, 10**5, 10**6, 10**7)}
    yield "d", {d: of(drifting(10**6, length, d)) for d in (16, 64, 256, 1024)}
    yield "T", {t // scale: of(drifting(10**5, t // scale)) for t in (200, 400, 800, 1600)}
    long = drifting(10**5, 800 // scale)
    yield "w", {w: of(long, w) for w in (5, 20, 80)}
    short = drifting(10**5, length)
    yield (
        "repetitions",
        {
            r: partial(run_cell, short, name, {}, epsilon=1.0, window=WINDOW, repetitions=r, seed=0)
            for r in (1, 2, 4, 8)
        },
    )


def _grown(name: str, axis: str, runs: Runs, repeats: int) -> list[Finding]:
    for warm in runs.values():
        warm()
    seconds = in_turns(runs, repeats)
    sizes, times = list(seconds), list(seconds.values())
    found = [Finding(f"{name}, {axis} = {min(sizes):,} to {max(sizes):,}", "slope", slope(sizes, times), "")]
    if axis == "n":
        ratio = max(times) / min(times)
        goal = 1.2 if name in ("lbu", "lba", "mtsp_budget") else None
        found.append(Finding(f"{name}, any n", "slowest to fastest", ratio, "×", goal))
    return found


def _active(scale: int, repeats: int) -> list[Finding]:
    """Measure population division over a panel: at most linear in the active users."""
    users, length, rng = 10**6 // scale, 50, np.random.default_rng(1)
    streams = {}
    for active in (users // 80, users // 20, users // 5):
        t = np.repeat(np.arange(length), active)
        who = np.concatenate([np.sort(rng.choice(users, active, replace=False)) for _ in range(length)])
        cells = rng.integers(0, 64, t.size)
        streams[active] = Stream.from_panel(t, who, cells, 64, users=users)
    found = []
    for name in ("lpu", "mtsp_population"):
        runs = {
            active: partial(simulate, stream, name, epsilon=1.0, window=WINDOW)
            for active, stream in streams.items()
        }
        seconds = in_turns(runs, repeats)
        growth = slope(list(seconds), list(seconds.values()))
        what = f"{name}, {min(streams):,} to {max(streams):,} of {users:,} users active"
        found.append(Finding(what, "slope", growth, "", 1.1))
    return found
