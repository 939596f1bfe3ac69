"""Public things that frequencies may follow: how many users are active, and the time of day."""

import math
from collections import deque

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray

ACTIVITY_MEMORY = 200
"""Timestamps over which the usual activity is averaged: a week or more of most streams."""
BACK = 4
"""Timestamps back to which the recent change of the activity is counted."""
HARMONICS = 2
"""Number of sines and cosines of the period: 1 to 4 do equally well on made cities."""


class Activity:
    """Regressors of n_t: h = (1, u, v).

    u is ln n_t minus its running mean, v its change since four timestamps ago; both look back only.
    """

    def __init__(self) -> None:
        self._logs: deque[float] = deque(maxlen=BACK + 1)
        self._mean = 0.0
        self._seen = 0

    def at(self, n: int) -> FloatArray:
        """Give h at the next timestamp, with n active users, ``(3,)``."""
        now = math.log(max(n, 1))
        self._seen += 1
        self._logs.append(now)
        self._mean += (now - self._mean) / min(self._seen, ACTIVITY_MEMORY)
        return np.array([1.0, now - self._mean, now - self._logs[0]])


def season(t: int, period: int) -> FloatArray:
    """Give h = (1, cos, sin of the period, cos, sin of half of it) at t, ``(1 + 2 HARMONICS,)``."""
    angles = [2 * math.pi * k * (t % period) / period for k in range(1, HARMONICS + 1)]
    waves = [wave(angle) for angle in angles for wave in (math.cos, math.sin)]
    return np.array([1.0, *waves])
