"""The bank: many ways in which a frequency may move, each a small linear filter, for all cells at once.

Every model says f_t = h_t · x_t and x_t = F x_(t-1) + noise, with h_t public and the same for all cells. The
noise of a cell is in proportion to its level: what is busy moves more. Arrays are ``(S, K, d)``: S numbers of
state, K models of a kind, d cells, so that every operation runs along the cells.

Source: the Kalman filter (1960), for models of Harvey (1989): local level, regression, damped trend.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.mechanisms.mtsp_filter.regressors import HARMONICS

SPREAD = 3.0
"""Standard deviation of a cell's first level, in units of 1/d."""
LEVELS = (*(10.0 ** (power / 2) for power in range(-15, -4)), 0.5)
"""Noise variances of the levels, from still to restless; the last forgets everything: it is the jump."""
COEFFICIENTS = tuple(
    (level, noise, prior) for noise, prior in ((0.0, 0.1), (1e-6, 1.0)) for level in (1e-6, 1e-5, 1e-4)
)
"""Of activity and season: noise variance of the level, of a coefficient, and its prior variance times d^2."""
TRENDS = tuple((damping, 10.0**power) for damping in (0.9, 0.98) for power in range(-10, -4))
"""Damping of a slope, and its noise variance."""
SLOPE = 1e-8
"""Prior variance of a slope."""


class Prediction(NamedTuple):
    """Mean and variance of f_t by each model, ``(K, d)``."""

    mean: FloatArray
    variance: FloatArray


class StateSpace:
    """K models of one kind for d cells.

    Parameters
    ----------
    d
        Number of cells; every level starts at 1/d.
    prior
        Prior variances of the state, ``(S, K)``.
    noise
        Noise variances of the state a timestamp, in units of the cell's scale, ``(S, K)``.
    damping
        Damping φ of each model, ``(K,)``, where the state is level and slope: F = [[1, φ], [0, φ]]. None
        where F = 1.

    Attributes
    ----------
    mean, covariance
        Mean ``(S, K, d)`` and covariance ``(S, S, K, d)`` of the state.
    damping
        φ, ``(K, 1)``; None where F = 1.
    h, with_f, variance
        Of the last prediction: regressors ``(S,)``, covariance of the state with f ``(S, K, d)``, and
        variance of f ``(K, d)``.
    """

    def __init__(
        self, d: int, prior: npt.ArrayLike, noise: npt.ArrayLike, damping: npt.ArrayLike | None = None
    ) -> None:
        variances = np.array(prior, dtype=np.float64)
        size, number = variances.shape
        self._noise = np.array(noise, dtype=np.float64)[..., None]
        self.damping = None if damping is None else np.array(damping, dtype=np.float64)[:, None]
        self.mean = np.zeros((size, number, d))
        self.mean[0] = 1.0 / d
        self.covariance = np.zeros((size, size, number, d))
        for place in range(size):
            self.covariance[place, place] = variances[place][:, None]
        self.with_f = np.zeros((size, number, d))
        self.variance = np.zeros((number, d))
        self.h = np.ones(size)

    def predict(self, h: FloatArray, scale: FloatArray) -> Prediction:
        """Move on by one timestamp: x ← F x, P ← F P F' + Q; mean h · x and variance h · P h.

        Parameters
        ----------
        h
            Regressors, ``(S,)``.
        scale
            Scale of the noise of each cell, ``(d,)``.
        """
        self.h = h
        if self.damping is not None:
            self.move(self.mean)
            self.move(self.covariance)
            self.move(np.swapaxes(self.covariance, 0, 1))
        for place in range(h.size):
            self.covariance[place, place] += self._noise[place] * scale
        self.with_f = self.weigh(self.covariance)
        self.variance = self.weigh(self.with_f)
        return Prediction(self.weigh(self.mean), self.variance)

    def move(self, state: FloatArray) -> None:
        """Apply F to the first axis, in place: level + φ slope, φ slope."""
        if self.damping is not None:
            state[1] *= self.damping
            state[0] += state[1]

    def weigh(self, state: FloatArray) -> FloatArray:
        """Contract the first axis with h."""
        total: FloatArray = self.h[0] * state[0]
        for weight, part in zip(self.h[1:], state[1:], strict=True):
            if weight:
                total = total + weight * part
        return total

    def update(self, error: FloatArray, total: FloatArray) -> None:
        """Learn from an observation: x ← x + g e, P ← P - g (P h)', with the gain g = P h / S.

        Parameters
        ----------
        error
            Observation minus prediction, e, ``(K, d)``.
        total
            Variance of it, S = h · P h + R, ``(K, d)``.
        """
        gain = self.with_f / total
        self.mean += gain * error
        for place, part in enumerate(gain):
            self.covariance[place] -= part * self.with_f


def make_bank(d: int, *, seasonal: bool) -> list[StateSpace]:
    """Make the models of d cells: levels, activity, trends, and the season where the stream has a period."""
    level = (SPREAD / d) ** 2
    base, noise, prior = np.array(COEFFICIENTS).T

    def regression(weights: list[float]) -> StateSpace:
        shrunk = np.outer(weights, np.ones(base.size))
        priors = np.vstack([np.full(base.size, level), shrunk * prior / d**2])
        return StateSpace(d, priors, np.vstack([base, shrunk * noise]))

    damping, slope = np.array(TRENDS).T
    still = np.zeros(slope.size)
    bank = [
        StateSpace(d, np.full((1, len(LEVELS)), level), [LEVELS]),
        regression([1.0, 1.0]),
        StateSpace(d, [still + level, still + SLOPE], [still, slope], damping),
    ]
    if seasonal:
        # a harmonic's coefficients are expected to be smaller the finer it is
        bank.append(regression([1.0 / k**2 for k in range(1, HARMONICS + 1) for _ in ("cos", "sin")]))
    return bank
