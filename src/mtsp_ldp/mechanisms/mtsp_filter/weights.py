"""Which model to believe, in every cell: by likelihood, with a prior that the cells share.

A model that suits many cells is likely to suit one more. The prior multiplies a cell's own weights, it is
never folded into them, so that no report counts twice.
"""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.special import exp

SHARE = 0.002
"""Share of the weights that starts anew each timestamp, so that no model dies (Herbster and Warmuth 1998)."""
PRIOR_STRENGTH = 2.0
"""Strength of the uniform prior over models, in cells; 0.5 to 8 do equally well on made cities."""
PRIOR_SWEEPS = 3
"""Rounds of finding the shared prior from the weights, and the weights from the prior, a timestamp."""


class ModelWeights:
    """Weights of K models in d cells.

    Attributes
    ----------
    own
        Weight of each model by the cell's own reports, ``(K, d)``; a column sums to 1.
    shared
        Prior over the models that all cells share, ``(K,)``.
    """

    def __init__(self, models: int, d: int) -> None:
        self.own = np.full((models, d), 1.0 / models)
        self.shared = np.full(models, 1.0 / models)

    @property
    def joint(self) -> FloatArray:
        """Weight of each model in each cell, own times shared, ``(K, d)``; a column sums to 1."""
        weights: FloatArray = self.own * self.shared[:, None]
        weights /= weights.sum(axis=0)
        return weights

    def learn(self, error: FloatArray, total: FloatArray) -> FloatArray:
        """Multiply by the likelihood of an observation, find the shared prior again; return `joint`.

        Parameters
        ----------
        error, total
            Observation minus prediction, and its variance S, of each model, ``(K, d)``: the likelihood is
            S^-1/2 exp(-e^2 / 2S).

        Notes
        -----
        The shared prior solves π = (c/K + Σ_j w_j) / (c + d) with w_jk ∝ π_k own_jk by a few sweeps. Then a
        fixed share of the own weights goes back to all models alike.
        """
        power = error * error
        power /= -2.0 * total
        power -= power.max(axis=0)
        self.own *= exp(power)
        self.own /= np.sqrt(total)
        self.own /= self.own.sum(axis=0)
        models, d = self.own.shape
        for _ in range(PRIOR_SWEEPS):
            found = self.joint.sum(axis=1)
            self.shared = (PRIOR_STRENGTH / models + found) / (PRIOR_STRENGTH + d)
        joint = self.joint
        self.own *= 1.0 - SHARE
        self.own += SHARE / models
        return joint


def mix(weights: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute mean and variance of a mixture over the models, ``(…, d)``, of arrays ``(K, …, d)``."""
    centre = (weights * mean).sum(axis=0)
    spread = (weights * (variance + (mean - centre) ** 2)).sum(axis=0)
    return centre, spread
