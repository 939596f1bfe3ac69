"""Audits: what the reports themselves give away, measured and, for whole small mechanisms, computed.

Empirical: a lower confidence bound on epsilon from an event that tells two cells apart (Clopper and
Pearson 1934). Exact: every transcript of one target user in a small mechanism, data-dependent shares
included, and the largest log-ratio of its probabilities over w-neighbouring streams.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from scipy import stats

from mtsp_ldp.division import DIVISIONS
from mtsp_ldp.mechanisms.base import Setting
from mtsp_ldp.mechanisms.registry import find, mechanisms
from mtsp_ldp.oracle import OUE
from mtsp_ldp.population import Circle, answer_from
from mtsp_ldp.seeds import generators
from mtsp_ldp.survey import Answer, Question

TRIALS = 1_000_000
EPSILONS = (0.5, 1.0, 2.0)
CONFIDENCE = 0.99


def lower_bound(hits: int, other: int, trials: int, confidence: float) -> float:
    """A lower bound on epsilon from how often an event happened under two inputs.

    Parameters
    ----------
    hits, other
        Of ``trials`` each; the event is meant to be likelier under the first.
    confidence
        Of the bound; both Clopper-Pearson limits share the error.
    """
    error = (1 - confidence) / 2
    low = stats.beta.ppf(error, hits, trials - hits + 1) if hits else 0.0
    high = stats.beta.ppf(1 - error, other + 1, trials - other) if other < trials else 1.0
    return float(max(math.log(low / high), 0.0)) if low > 0 else 0.0


def audit_oue(epsilon: float, d: int, confidence: float, claimed: float | None = None) -> float:
    """Bound epsilon from below by reports of OUE over d groups, of users of group 0 and of group 1.

    Parameters
    ----------
    epsilon
        With which the reports are made.
    claimed
        Names the audit in the keys of seeds; epsilon by default.

    Returns
    -------
    The bound, from the event on the bits of the two groups that a first half of the trials favours.
    """
    oracle = OUE(epsilon)
    _, noise = generators("audit", d, float(claimed or epsilon))
    # only the two bits that differ in law carry information
    train, test = (
        [np.bincount(oracle.perturb(held, d, noise)[:, :2] @ [2, 1], minlength=4) for held in groups]
        for groups in [[np.full(TRIALS // 2, group) for group in (0, 1)]] * 2
    )
    event = int(((train[0] + 1) / (train[1] + 1)).argmax())
    return lower_bound(int(test[0][event]), int(test[1][event]), TRIALS // 2, confidence)


Ask = Callable[[Sequence[int]], tuple[int, float] | None]
"""From the target's reports so far (two bits each): when and with which epsilon she is asked next."""


def exact_loss(ask: Ask, steps: int, window: int) -> float:
    """The largest log-ratio of transcript probabilities over w-neighbouring streams of one user, d = 2.

    Parameters
    ----------
    ask
        Whom the server asks next, given what it heard: what she is asked may depend on her own reports.
    steps
        Timestamps; all transcripts are enumerated.
    window
        Streams may differ in cells within this many consecutive timestamps.
    """
    starts = range(max(steps - window, 0) + 1)
    return max(_widest(ask, range(start, start + window), ()) for start in starts)


def _widest(ask: Ask, changed: range, heard: tuple[int, ...]) -> float:
    """The largest log-ratio from here on; streams may differ freely where they may differ at all."""
    asked = ask(heard)
    if asked is None:
        return 0.0
    t, epsilon = asked
    worst = -math.inf
    for report in range(4):
        here = 0.0
        if t in changed:
            here = abs(math.log(_chance(report, 0, epsilon) / _chance(report, 1, epsilon)))
        worst = max(worst, here + _widest(ask, changed, (*heard, report)))
    return worst


class _Asked(Exception):
    pass


def mechanism_asks(
    name: str, *, epsilon: float, window: int, steps: int, others: int, seed: int, drive: int | None = None
) -> Ask:
    """What a registered mechanism asks of one target among others whose reports are fixed, d = 2.

    Parameters
    ----------
    others
        Number of other users; all report whenever their phase comes.
    seed
        Of the others' fixed reports and of the target's phase.
    drive
        The window that the mechanism works with, if not the true one: a fault to be caught.
    """
    entry = find(name)
    division = DIVISIONS[entry.division](epsilon)
    rank, n = seed * 7 % (others + 1), others + 1
    own = drive or window

    def ask(heard: Sequence[int]) -> tuple[int, float] | None:
        script = np.random.default_rng([seed, 1])
        server = entry.kind(Setting(2, own, division, np.random.default_rng(seed)))
        circle, left = Circle(n), list(heard)

        def survey(t: int, questions: Sequence[Question], share: int) -> list[Answer] | None:
            arc = division.arc(share)
            ranges = [(0, n)] if arc is None else circle.arc(arc)
            reporters = sum(end - start for start, end in ranges)
            if reporters < len(questions):
                return None
            if arc is not None:
                circle.advance(arc)
            mine = np.zeros(2, dtype=np.int64)
            oracle = division.oracle(share)
            if any(start <= rank < end for start, end in ranges):
                if not left:
                    raise _Asked(t, oracle.epsilon)
                report = left.pop(0)
                mine = np.array([report >> 1, report & 1])
            rest = script.integers(0, reporters + 1, 2)
            ones = np.minimum(rest, reporters - 1) + mine
            return [answer_from(oracle, ones, reporters, n)]

        try:
            for t in range(steps):
                server.step(t, n, lambda questions, share, t=t: survey(t, questions, share))
        except _Asked as asked:
            t, spent = asked.args
            return int(t), float(spent)
        return None

    return ask


def _chance(report: int, cell: int, epsilon: float) -> float:
    oracle = OUE(epsilon)
    bits = (report >> 1, report & 1)
    own, other = (bits[0], bits[1]) if cell == 0 else (bits[1], bits[0])
    p, q = oracle.p, oracle.q
    return (p if own else 1 - p) * (q if other else 1 - q)


EXACT_SEEDS = range(4)


def empirical_table() -> pl.DataFrame:
    """The empirical audit, with one family-wise confidence over its rows.

    Returns
    -------
    what, groups, epsilon, bound, share (bound / epsilon).
    """
    cases = [(name, d, epsilon) for name, d in (("OUE", 2), ("tree level", 8)) for epsilon in EPSILONS]
    confidence = 1 - (1 - CONFIDENCE) / len(cases)
    rows = [(name, d, epsilon, audit_oue(epsilon, d, confidence)) for name, d, epsilon in cases]
    frame = pl.DataFrame(rows, schema=["what", "groups", "epsilon", "bound"], orient="row")
    return frame.with_columns(share=pl.col("bound") / pl.col("epsilon"))


def exact_table() -> pl.DataFrame:
    """The exact audit of every mechanism that reads data, d = 2, epsilon = 1.

    Returns
    -------
    mechanism, window, loss (the largest over the others' fixed reports and the target's phase).
    """
    rows = []
    for name, entry in mechanisms().items():
        if not entry.kind.reads_data:
            continue
        # a target who is asked twice a timestamp has 4^(2 steps) transcripts
        twice = entry.division == "budget" and name != "lbu"
        for window in (2, 3) if twice else (2, 3, 4):
            steps = 3 if twice else 5
            asks = [
                mechanism_asks(name, epsilon=1.0, window=window, steps=steps, others=30, seed=seed)
                for seed in EXACT_SEEDS
            ]
            rows.append((name, window, max(exact_loss(ask, steps, window) for ask in asks)))
    return pl.DataFrame(rows, schema=["mechanism", "window", "loss"], orient="row")


GUESS_TRIALS, GUESS_CELLS, GUESS_WINDOWS = 20_000, (64, 95), (1, 2, 5, 20)


def exposure_table() -> pl.DataFrame:
    """How often the best guess finds the cell of a user who never moves, from one report a window.

    With OUE the most likely cell is the one whose bit was set most often; ties are broken at random.

    Returns
    -------
    epsilon, cells, windows, total (epsilon * windows, what she lost in all), accuracy, chance (1 / cells).
    """
    rows = []
    for epsilon in EPSILONS:
        for d in GUESS_CELLS:
            _, noise = generators("exposure", d, epsilon)
            for windows in GUESS_WINDOWS:
                oracle = OUE(epsilon)
                seen = noise.binomial(windows, oracle.q, (GUESS_TRIALS, d)) + noise.random((GUESS_TRIALS, d))
                seen[:, 0] = noise.binomial(windows, oracle.p, GUESS_TRIALS) + noise.random(GUESS_TRIALS)
                accuracy = float((seen.argmax(axis=1) == 0).mean())
                rows.append((epsilon, d, windows, epsilon * windows, accuracy, 1 / d))
    columns = ["epsilon", "cells", "windows", "total", "accuracy", "chance"]
    return pl.DataFrame(rows, schema=columns, orient="row")
