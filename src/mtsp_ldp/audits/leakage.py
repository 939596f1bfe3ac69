"""Audits: privacy loss of the reports themselves, measured and, for whole small mechanisms, computed.

Empirical: a lower confidence bound on epsilon from an event that tells two cells apart (Clopper and
Pearson 1934). Exact: every transcript of one target user in a small mechanism, data-dependent shares
included, and the largest log-ratio of its probabilities over w-neighbouring streams.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from scipy import stats

from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.mechanisms.session import Session
from mtsp_ldp.privacy.division import Division
from mtsp_ldp.privacy.oracle import OUE
from mtsp_ldp.privacy.population import Circle, answer_from
from mtsp_ldp.privacy.survey import NOT_ASKED, Answers, Question
from mtsp_ldp.privacy.units import Units

TRIALS = 1_000_000
EPSILONS = (0.5, 1.0, 2.0)
CONFIDENCE = 0.99


def lower_bound(hits: int, other: int, trials: int, confidence: float) -> float:
    """Bound epsilon from below by how often an event happened under two inputs.

    Parameters
    ----------
    hits, other
        Number of times, of ``trials`` each; the event is meant to be likelier under the first input.
    confidence
        Confidence level of the bound; both Clopper-Pearson limits share the error.
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
        Budget with which the reports are made.
    claimed
        Names the audit in the keys of seeds; epsilon by default.

    Returns
    -------
    float
        The bound, from the event on the bits of the two groups that a first half of the trials favours.
    """
    oracle = OUE(epsilon)
    noise = generators("audit", d, float(claimed or epsilon)).noise
    # only the two bits that differ in law carry information
    train, test = (
        [np.bincount(oracle.perturb(cells, d, noise)[:, :2] @ [2, 1], minlength=4) for cells in groups]
        for groups in [[np.full(TRIALS // 2, group) for group in (0, 1)]] * 2
    )
    event = int(((train[0] + 1) / (train[1] + 1)).argmax())
    return lower_bound(int(test[0][event]), int(test[1][event]), TRIALS // 2, confidence)


Ask = Callable[[Sequence[int]], tuple[int, float] | None]
"""Function from the target's reports so far (two bits each) to t and epsilon of her next request, or None."""


def exact_loss(ask: Ask, steps: int, window: int) -> float:
    """Compute the largest log-ratio of transcript probabilities over w-neighbouring streams, one user, d = 2.

    Two streams are w-neighbouring (the neighbouring relation of the guarantee) if they differ in the cells of
    one user within some window of w timestamps; a mechanism that keeps its guarantee loses at most epsilon.

    Parameters
    ----------
    ask
        Next request of the server, given the reports so far: it may depend on the target's reports.
    steps
        Number of timestamps; all transcripts are enumerated.
    window
        w: streams may differ in cells within this many consecutive timestamps.

    Returns
    -------
    float
        The privacy loss, in units of epsilon.
    """
    starts = range(max(steps - window, 0) + 1)
    return max(_widest(ask, range(start, start + window), ()) for start in starts)


def _widest(ask: Ask, changed: range, heard: tuple[int, ...]) -> float:
    """Compute the largest log-ratio from here on; streams may differ freely at the changed timestamps."""
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


class _TargetAsked(Exception):
    """Raised where the target is asked and the script has no report yet; carries t and epsilon."""


class _Script:
    """Users whose reports are fixed, one of them a target whose reports are given; d = 2.

    Parameters
    ----------
    heard
        The target's reports so far.
    rank
        Rank of the target.
    users
        Number of users; all report whenever their phase comes.
    seed
        Seed of the others' reports.
    """

    d = 2

    def __init__(self, division: Division, heard: Sequence[int], rank: int, users: int, seed: int) -> None:
        self._division = division
        self._left = list(heard)
        self._rank = rank
        self._users = users
        self._others = np.random.default_rng([seed, 1])
        self._circle = Circle(users)
        self.spent = Units(0)

    def active(self, t: int) -> int:
        """Count all users: none is ever absent."""
        return self._users

    def survey(self, t: int, questions: Sequence[Question], share: Units) -> Answers:
        """Answer one question. The window is not checked: a fault is to be caught by its loss."""
        arc = self._division.arc(share)
        ranges = [(0, self._users)] if arc is None else self._circle.arc(arc)
        reporters = sum(end - start for start, end in ranges)
        if reporters < len(questions):
            return NOT_ASKED
        if arc is not None:
            self._circle.advance(arc)
        target = np.zeros(2, dtype=np.int64)
        oracle = self._division.oracle(share)
        if any(start <= self._rank < end for start, end in ranges):
            if not self._left:
                raise _TargetAsked(t, oracle.epsilon)
            report = self._left.pop(0)
            target = np.array([report >> 1, report & 1])
        ones = np.minimum(self._others.integers(0, reporters + 1, 2), reporters - 1) + target
        self.spent = Units(self.spent + share)
        return Answers(share, [answer_from(oracle, ones, reporters, self._users)])


def mechanism_asks(
    name: str, *, epsilon: float, window: int, steps: int, others: int, seed: int, drive: int | None = None
) -> Ask:
    """Make the function that finds the requests of a mechanism to one target among others, d = 2.

    Parameters
    ----------
    others
        Number of other users, whose reports are fixed.
    seed
        Seed of the others' reports and of the target's phase.
    drive
        The window that the mechanism works with, if not the true one: a fault to be caught.
    """
    users = others + 1

    def ask(heard: Sequence[int]) -> tuple[int, float] | None:
        coins = np.random.default_rng(seed)
        session = Session(name, 2, epsilon=epsilon, window=drive or window, coins=coins)
        script = _Script(session.division, heard, seed * 7 % users, users, seed)
        try:
            for t in range(steps):
                session.step(t, script)
        except _TargetAsked as asked:
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
    """Run the empirical audit, with one family-wise confidence over its rows.

    Returns
    -------
    DataFrame
        Columns what, groups, epsilon, bound, share (bound / epsilon).
    """
    cases = [(name, d, epsilon) for name, d in (("OUE", 2), ("tree level", 8)) for epsilon in EPSILONS]
    confidence = 1 - (1 - CONFIDENCE) / len(cases)
    rows = [(name, d, epsilon, audit_oue(epsilon, d, confidence)) for name, d, epsilon in cases]
    frame = pl.DataFrame(rows, schema=["what", "groups", "epsilon", "bound"], orient="row")
    return frame.with_columns(share=pl.col("bound") / pl.col("epsilon"))


def exact_table() -> pl.DataFrame:
    """Run the exact audit of every mechanism that reads data, d = 2, epsilon = 1.

    Returns
    -------
    DataFrame
        Columns mechanism, window, loss (the largest over the others' fixed reports and the target's phase).
    """
    rows = []
    for name, entry in mechanisms().items():
        if not entry.cls.reads_data:
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
    """Estimate how often the best guess finds the cell of a user who never moves, from one report a window.

    With OUE the most likely cell is the one whose bit was set most often; ties are broken at random.

    Returns
    -------
    DataFrame
        Columns epsilon, cells, windows, total (epsilon * windows, the lifetime loss), accuracy, chance
        (1 / cells).
    """
    rows = []
    for epsilon in EPSILONS:
        for d in GUESS_CELLS:
            noise = generators("exposure", d, epsilon).noise
            for windows in GUESS_WINDOWS:
                oracle = OUE(epsilon)
                seen = noise.binomial(windows, oracle.q, (GUESS_TRIALS, d)) + noise.random((GUESS_TRIALS, d))
                seen[:, 0] = noise.binomial(windows, oracle.p, GUESS_TRIALS) + noise.random(GUESS_TRIALS)
                accuracy = float((seen.argmax(axis=1) == 0).mean())
                rows.append((epsilon, d, windows, epsilon * windows, accuracy, 1 / d))
    columns = ["epsilon", "cells", "windows", "total", "accuracy", "chance"]
    return pl.DataFrame(rows, schema=columns, orient="row")
