"""What is released: the levels, shrunk by what cells are like, on the simplex.

Post-processing of what is private already. Nothing of it goes back into the filter: projection pulls small
cells one way, and fed back it would become a drift.
"""

import math

import numpy as np
from scipy.special import erfcx, log_ndtr

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.projection import project_on_simplex
from mtsp_ldp.mechanisms.mtsp_filter.weights import exp

FEW = 16
"""Number of cells below which they say nothing about each other."""
MEANS = 2.0 ** np.arange(-6, 6)
"""Means of the exponential distributions whose mixture the cells are drawn from, in units of 1/d."""
MEMORY = 0.9
"""Memory of the mixture's weights, a timestamp."""
CONCENTRATION = 8.0
"""Strength of the uniform prior over the mixture's weights, in cells."""
SWEEPS = 2
"""Rounds of expectation and maximisation a timestamp."""
_LEAST = 1e-16


class Shrinkage:
    """Empirical Bayes over the cells (Efron 2010): most places are empty, few are crowded.

    Parameters
    ----------
    d
        Number of cells.

    Attributes
    ----------
    mixture
        Weights of the exponential distributions, ``(12,)``.
    """

    def __init__(self, d: int) -> None:
        self._d = d
        self.mixture = np.full(MEANS.size, 1.0 / MEANS.size)
        self._remembered = np.zeros(MEANS.size)
        self._seen = 0

    def learn(self, level: FloatArray, variance: FloatArray) -> None:
        """Find the weights of the mixture from levels and their variances, ``(d,)``."""
        if self._d < FEW:
            return
        likelihood, _ = self._posteriors(level, variance)
        self._seen += 1
        for _ in range(SWEEPS):
            belongs = self._belongs(likelihood)
            recent = MEMORY * self._remembered + (1 - MEMORY) * belongs.mean(axis=1)
            shares = recent / (1 - MEMORY**self._seen)
            prior = CONCENTRATION / MEANS.size
            self.mixture = (prior + self._d * shares) / (CONCENTRATION + self._d)
        self._remembered = recent

    def shrink(self, level: FloatArray, variance: FloatArray) -> FloatArray:
        """Compute the posterior means of frequencies, ``(d,)``, at the mixture as it is.

        Notes
        -----
        With a level f of variance V and an exponential prior of rate r, the posterior is a normal of mean
        f - r V and variance V, cut at 0: with s = √V and a = f/s - r s, its mean is s (a + φ(a)/Φ(a)), and
        the likelihood is r exp(a²/2) Φ(a), up to a factor that all rates share.
        """
        if self._d < FEW:
            return level
        likelihood, means = self._posteriors(level, variance)
        return np.asarray((self._belongs(likelihood) * means).sum(axis=0))

    def _belongs(self, likelihood: FloatArray) -> FloatArray:
        weights = self.mixture[:, None] * likelihood
        return np.asarray(weights / weights.sum(axis=0))

    def _posteriors(self, level: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        rate = (self._d / MEANS)[:, None]
        deviation = np.sqrt(np.maximum(variance, _LEAST))
        a = level / deviation - rate * deviation
        logs = 0.5 * a * a + log_ndtr(a)
        likelihood = rate * exp(logs - logs.max(axis=0))
        hazard = math.sqrt(2 / math.pi) / erfcx(a * -math.sqrt(0.5))
        return likelihood, deviation * (a + hazard)


def project(frequencies: FloatArray, *, at_most: bool) -> FloatArray:
    """Project frequencies on the simplex, ``(d,)``; sums of at most 1 where some users are absent."""
    return np.asarray(project_on_simplex(frequencies[None], at_most=at_most)[0])
