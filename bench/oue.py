"""OUE: both of our realisations against two peers that perturb one user at a time in Python."""

from collections.abc import Callable
from functools import partial

import numpy as np

from bench.measure import Finding, in_turns
from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.privacy.oracle import OUE

EPSILON, CELLS = 1.0, 128
SIZES = (100_000, 1_000_000)
CHECK_USERS, CHECKS = 1000, 200
MANY = 200
BATCH = 10_000  # reports that are kept at once
Realisation = Callable[[IntArray, np.random.Generator], FloatArray]
"""Function from the users' cells to estimated frequencies, raw, ``(d,)``."""


def per_user(cells: IntArray, rng: np.random.Generator) -> FloatArray:
    """Estimate from one perturbed report per user."""
    oracle, ones = OUE(EPSILON), np.zeros(CELLS, dtype=np.int64)
    for start in range(0, cells.size, BATCH):
        reports = oracle.perturb(cells[start : start + BATCH], CELLS, rng)
        ones += reports.sum(axis=0, dtype=np.uint16)  # fewer reports than 2^16
    return oracle.estimate(ones, cells.size)


def aggregate(counts: IntArray, rng: np.random.Generator) -> FloatArray:
    """Estimate from two binomial draws a cell; the counts are what a simulation has."""
    oracle = OUE(EPSILON)
    return oracle.estimate(oracle.sample(counts, rng), counts.sum())


def pure_ldp() -> Realisation:
    """Set up the package pure-ldp: ``UEClient`` and ``UEServer``."""
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    client, server = (cls(EPSILON, CELLS, use_oue=True, index_mapper=int) for cls in (UEClient, UEServer))

    def run(cells: IntArray, rng: np.random.Generator) -> FloatArray:
        server.reset()
        for cell in cells.tolist():
            server.aggregate(client.privatise(cell))
        return np.asarray(server.estimate_all(range(CELLS), suppress_warnings=True)) / cells.size

    return run


def multi_freq() -> Realisation:
    """Set up ``UE_Client`` of multi-freq-ldpy; its estimate is clipped, so ours is made of its reports."""
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    UE_Client(0, CELLS, EPSILON)  # compiles

    def run(cells: IntArray, rng: np.random.Generator) -> FloatArray:
        ones = np.zeros(CELLS)
        for start in range(0, cells.size, BATCH):
            ones += sum(UE_Client(cell, CELLS, EPSILON) for cell in cells[start : start + BATCH].tolist())
        return OUE(EPSILON).estimate(ones, cells.size)

    return run


def peers() -> dict[str, Realisation]:
    """Collect the peers that are installed, by name."""
    found = {}
    for name, make in (("pure-ldp", pure_ldp), ("multi-freq-ldpy", multi_freq)):
        try:
            found[name] = make()
        except ImportError:
            print(f"{name} is not installed: left out")
    return found


def users(n: int) -> IntArray:
    """Draw the cells of n users, of Zipf popularity."""
    popularity = 1.0 / np.arange(1, CELLS + 1)
    return np.random.default_rng(n).choice(CELLS, n, p=popularity / popularity.sum())


def run(*, toy: bool = False) -> list[Finding]:
    """Measure users a second, our ratio to the faster peer, and whether all have one distribution."""
    others = peers()
    sizes = (200,) if toy else SIZES
    found = [finding for n in sizes for finding in _speed(n, others, 1 if toy or n > 10**5 else 3)]
    return found + _law({"per user": per_user, **others}, 5 if toy else CHECKS)


def _speed(n: int, others: dict[str, Realisation], repeats: int) -> list[Finding]:
    cells, rng = users(n), np.random.default_rng(0)
    counts = np.bincount(cells, minlength=CELLS)

    def aggregates() -> None:
        for _ in range(MANY):  # one takes less than a clock is good for
            aggregate(counts, rng)

    ours: dict[str, Callable[[], object]] = {
        "aggregate": aggregates,
        "per user": partial(per_user, cells, rng),
    }
    # the peers take up to ten thousand times as long: ours are measured before and after them
    before = in_turns(ours, 5 * repeats)
    theirs = in_turns({name: partial(peer, cells, rng) for name, peer in others.items()}, repeats)
    after = in_turns(ours, 5 * repeats)
    seconds = {name: (before[name] + after[name]) / 2 for name in ours} | theirs
    seconds["aggregate"] /= MANY
    found = [Finding(f"{name}, n = {n:,}", "speed", n / taken, "users/s") for name, taken in seconds.items()]
    if theirs:
        best = min(theirs.values())
        for name, goal in (("aggregate", 5000.0), ("per user", 10.0)):
            ratio = best / seconds[name]
            found.append(Finding(f"{name}, n = {n:,}", "to the faster peer", ratio, "×", goal, at_least=True))
    return found


def _law(realisations: dict[str, Realisation], checks: int) -> list[Finding]:
    """Compare means in standard errors, and variances to the exact one, over all cells."""
    cells, rng = users(CHECK_USERS), np.random.default_rng(1)
    counts = np.bincount(cells, minlength=CELLS)
    exact = OUE(EPSILON).variance(cells.size) + counts / cells.size**2
    found = []
    drawn = {name: np.array([make(cells, rng) for _ in range(checks)]) for name, make in realisations.items()}
    drawn["aggregate"] = np.array([aggregate(counts, rng) for _ in range(checks)])
    for name, estimates in drawn.items():
        gap = (estimates.mean(axis=0) - counts / cells.size) / np.sqrt(exact / checks)
        ratio = float((((estimates - counts / cells.size) ** 2).mean(axis=0) / exact).mean())
        worst = float(np.abs(gap).max())
        found.append(Finding(name, "largest mean error of a cell", worst, "std errors", 4.5))
        found.append(Finding(name, "variance to the exact one, off", abs(ratio - 1), "", 0.05))
    return found
