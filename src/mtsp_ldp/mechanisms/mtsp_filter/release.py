"""What is released: the levels, shrunk by what cells are like, on the simplex.

Post-processing of what is private already. Nothing of it goes back into the filter: projection pulls small
cells one way, and fed back it would become a drift.
"""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.special import exp, hazard, log_normal_cdf
from mtsp_ldp.mechanisms.mtsp_filter.weights import mix

FEW = 16
"""Number of cells below which they say nothing about each other."""
MEANS = 2.0 ** np.arange(-6, 6)
"""Means of the exponential distributions whose mixture the cells are drawn from, in units of 1/d."""
MIXTURE_MEMORY = 0.9
"""Memory of the mixture's weights, a timestamp."""
MIXTURE_STRENGTH = 8.0
"""Strength of the uniform prior over the mixture's weights, in cells."""
MIXTURE_SWEEPS = 2
"""Rounds of expectation and maximisation a timestamp."""
SHRINKING_CAUTION = 1.5
"""Factor on the variance of cells above the average."""
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

    def learn(self, level: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Find the mixture anew from levels and their variances, ``(d,)``; then shrink them by it."""
        if self._d < FEW:
            return level, variance
        posteriors = self._posteriors(level, variance)
        likelihood = posteriors[0]
        self._seen += 1
        for _ in range(MIXTURE_SWEEPS):
            belongs = self._belongs(likelihood)
            recent = MIXTURE_MEMORY * self._remembered + (1 - MIXTURE_MEMORY) * belongs.mean(axis=1)
            shares = recent / (1 - MIXTURE_MEMORY**self._seen)
            prior = MIXTURE_STRENGTH / MEANS.size
            self.mixture = (prior + self._d * shares) / (MIXTURE_STRENGTH + self._d)
        self._remembered = recent
        return self._mixed(*posteriors)

    def shrink(self, level: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute posterior means and variances of frequencies, ``(d,)``, at the mixture as it is.

        Notes
        -----
        With a level f of variance V and an exponential prior of rate r, the posterior is a normal of mean
        f - r V and variance V, cut at 0: with s = √V, a = f/s - r s and the hazard b = φ(a)/Φ(a), its mean is
        s (a + b), its variance V (1 - b (a + b)), and the likelihood is r exp(a²/2) Φ(a), up to a factor that
        all rates share. Cells above the average are pulled down, which their variance does not know; it is
        multiplied by `SHRINKING_CAUTION`.
        """
        if self._d < FEW:
            return level, variance
        return self._mixed(*self._posteriors(level, variance))

    def _mixed(
        self, likelihood: FloatArray, means: FloatArray, variances: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        mean, spread = mix(self._belongs(likelihood), means, variances)
        return mean, np.where(mean > 1 / self._d, SHRINKING_CAUTION * spread, spread)

    def _belongs(self, likelihood: FloatArray) -> FloatArray:
        weights = self.mixture[:, None] * likelihood
        return np.asarray(weights / weights.sum(axis=0))

    def _posteriors(
        self, level: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        rate = (self._d / MEANS)[:, None]
        deviation = np.sqrt(np.maximum(variance, _LEAST))
        a = level / deviation - rate * deviation
        logs = 0.5 * a * a + log_normal_cdf(a)
        likelihood = rate * exp(logs - logs.max(axis=0))
        b = hazard(a)
        centre = a + b
        return likelihood, deviation * centre, deviation**2 * np.maximum(1 - b * centre, 0.0)
