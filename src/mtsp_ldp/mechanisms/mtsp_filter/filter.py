"""The filter: the bank of models, their weights, and one step of both."""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.mechanisms.mtsp_filter.models import SPREAD, make_bank
from mtsp_ldp.mechanisms.mtsp_filter.regressors import Activity, season
from mtsp_ldp.mechanisms.mtsp_filter.report import observe
from mtsp_ldp.mechanisms.mtsp_filter.weights import ModelWeights, mix
from mtsp_ldp.privacy.survey import Answer

FLOOR = 0.1
"""Least scale of a cell's noise, in units of 1/d: a quiet place may wake up."""
LONGEST = 1000
"""Timestamps of a gap that are predicted one by one; after so many nothing but the season is left to know."""


class Filter:
    """Levels of d cells, from reports so far.

    Parameters
    ----------
    d
        Number of cells.
    period
        Timestamps of a period; 0 where there is none.
    sums_to_one
        True if frequencies sum to 1; shares of all users do not where some are absent.

    Attributes
    ----------
    bank, parts
        The kinds of models, and the first and last + 1 of the models of each.
    level, variance
        Posterior mean and variance of the frequencies, ``(d,)``: not projected, not shrunk.
    believed, by_model
        Weight of each model, and its posterior mean and variance of f_t, ``(K, d)``.
    innovation
        Observation minus prediction, and its variance, by each model, ``(K, d)``; None without an answer.
    """

    def __init__(self, d: int, period: int, *, sums_to_one: bool = True) -> None:
        self.bank = make_bank(d, seasonal=period > 0)
        ends = np.cumsum([kind.mean.shape[1] for kind in self.bank]).tolist()
        self.parts, models = list(zip([0, *ends[:-1]], ends, strict=True)), ends[-1]
        self.weights = ModelWeights(models, d)
        self.level = np.full(d, 1.0 / d)
        self.variance = np.full(d, (SPREAD / d) ** 2)
        self.believed = self.weights.joint
        self.by_model = np.zeros((models, d)), np.zeros((models, d))
        self.innovation: tuple[FloatArray, FloatArray] | None = None
        self._activity = Activity()
        self._period = period
        self._sums_to_one = sums_to_one
        self._t = -1
        self._active = 0

    def step(self, t: int, n: int, answer: Answer | None) -> None:
        """Go on to t, with n active users; without an answer, predict only.

        Timestamps that were left out are predicted, with n of the one before them.
        """
        for missed in range(max(self._t + 1, t - LONGEST), t):
            self._go_on(missed, self._active if self._t >= 0 else n, None)
        self._go_on(t, n, answer)

    def _go_on(self, t: int, n: int, answer: Answer | None) -> None:
        self._t, self._active = t, n
        wave = [season(t, self._period)] if self._period else []
        regressors = [np.ones(1), self._activity.at(n), np.array([1.0, 0.0]), *wave]
        scale = np.maximum(self.level, FLOOR / self.level.size)
        found = [kind.predict(h, scale) for kind, h in zip(self.bank, regressors, strict=True)]
        mean, variance = (np.concatenate(part) for part in zip(*found, strict=True))
        weights = self.weights.joint
        self.innovation = None
        if answer is not None:
            predicted = (weights * mean).sum(axis=0)
            seen = observe(answer, predicted, sums_to_one=self._sums_to_one)
            error, total = seen.values - mean, variance + seen.variances
            self.innovation = error, total
            for kind, (first, end) in zip(self.bank, self.parts, strict=True):
                kind.update(error[first:end], total[first:end])
            weights = self.weights.learn(error, total)
            mean += variance / total * error
            variance = variance * (seen.variances / total)
        self.believed, self.by_model = weights, (mean, variance)
        self.level, self.variance = mix(weights, mean, variance)
