"""Equality in law: the aggregate simulation against one perturbed report per user, mechanism by mechanism."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy import stats

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.mechanisms.session import Session
from mtsp_ldp.privacy.oracle import Oracle
from mtsp_ldp.privacy.population import Reporters, answer_from, group_sizes
from mtsp_ldp.privacy.stream_population import Panel
from mtsp_ldp.privacy.survey import Answer, Question
from mtsp_ldp.streams.stream import Stream

SEEDS, USERS, LENGTH, CELLS, WINDOW, EPSILON = 2000, 40, 6, 4, 3, 1.5
FAMILY_ERROR = 0.01


class PerUser(Panel):
    """A panel in which every user's report is made bit by bit, as a client makes it."""

    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: Reporters
    ) -> list[Answer]:
        who = self._coins.permutation(self._identify(asked))
        sizes = group_sizes(who.size, len(questions), self._coins)
        answers = []
        for question, oracle, group in zip(
            questions, oracles, np.split(who, np.cumsum(sizes)[:-1]), strict=True
        ):
            labels = question.labels[self._cell[self._owner[group]]]
            ones = oracle.perturb(labels, question.groups, self._noise).sum(axis=0)
            answers.append(answer_from(oracle, ones, group.size, self.active(t)))
        return answers


def small_stream() -> Stream:
    """Make a stream of forty users who come and go among four cells, over six timestamps."""
    rng = generators("equality").coins
    there = rng.random((LENGTH, USERS)) < 0.8
    t, user = np.nonzero(there)
    cell = rng.choice(CELLS, t.size, p=[0.5, 0.3, 0.15, 0.05])
    return Stream.from_panel(t, user, cell, CELLS, length=LENGTH)


def releases(population_class: type[Panel], name: str, seeds: int) -> FloatArray:
    """Release a small stream with public and private coins per seed.

    Returns
    -------
    FloatArray
        Released frequencies under one realisation, ``(seeds, T, d)``.
    """
    stream, found = small_stream(), np.empty((seeds, LENGTH, CELLS))
    for seed in range(seeds):
        random = generators("equality", population_class.__name__, name, seed)
        session = Session(name, CELLS, epsilon=EPSILON, window=WINDOW, coins=random.coins)
        population = population_class(stream, division=session.division, window=WINDOW, random=random)
        for t in range(LENGTH):
            session.step(t, population)
            found[seed, t] = session.frequencies
    return found


def compare(name: str, seeds: int = SEEDS) -> tuple[float, float, float]:
    """Compare both realisations of one mechanism.

    Returns
    -------
    gap : float
        The largest difference of means, in standard errors.
    ratio : float
        The variance ratio that is farthest from 1.
    p : float
        The smallest p-value of the two-sample Kolmogorov-Smirnov tests, times the number of tests.
    """
    ours, theirs = (releases(cls, name, seeds).reshape(seeds, -1) for cls in (Panel, PerUser))
    moving = (ours.std(axis=0) > 0) | (theirs.std(axis=0) > 0)
    ours, theirs = ours[:, moving], theirs[:, moving]
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / seeds)
    gap = float(np.abs((ours.mean(axis=0) - theirs.mean(axis=0)) / error).max())
    ratio = ours.var(axis=0) / theirs.var(axis=0)
    farthest = float(ratio[np.abs(np.log(ratio)).argmax()])
    smallest = min(stats.ks_2samp(a, b, method="asymp").pvalue for a, b in zip(ours.T, theirs.T, strict=True))
    return gap, farthest, min(float(smallest) * ours.shape[1], 1.0)


def equality_table() -> pl.DataFrame:
    """Compare every mechanism that reads data; equal where no p-value is below the family's error.

    Returns
    -------
    DataFrame
        Columns mechanism, mean_gap (standard errors), variance_ratio, p (corrected within the mechanism),
        equal.
    """
    names = [name for name, entry in mechanisms().items() if entry.cls.reads_data]
    rows = [(name, *compare(name)) for name in names]
    frame = pl.DataFrame(rows, schema=["mechanism", "mean_gap", "variance_ratio", "p"], orient="row")
    return frame.with_columns(equal=pl.col("p") > FAMILY_ERROR / len(names))
