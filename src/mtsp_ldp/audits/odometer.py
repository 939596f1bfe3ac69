"""Privacy odometer: spending of users, added up from who reported what (Rogers et al. 2016).

It asks nobody, and believes neither a ledger nor a mechanism.
"""

import math
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.mechanisms.options import check_terms
from mtsp_ldp.releases.simulation import simulate
from mtsp_ldp.streams.stream import Stream


class WindowOdometer:
    """The largest epsilon that any reporter spent in any ``window`` consecutive timestamps.

    It is called with each survey's reporters, in order of time (`mtsp_ldp.privacy.population.Witness`), and
    remembers one bit per reporter and survey of the last window.

    Parameters
    ----------
    reporters
        Number of reporters, numbered from 0.
    window
        w, in timestamps.

    Attributes
    ----------
    largest
        Largest epsilon so far; 0 before the first report.
    """

    def __init__(self, reporters: int, window: int) -> None:
        self._window = window
        self._recent: deque[tuple[int, float, npt.NDArray[np.uint8]]] = deque()
        self._sums = np.zeros(reporters, dtype=np.longdouble)
        self.largest = 0.0

    def __call__(self, t: int, reporters: npt.NDArray[np.int64], epsilon: float) -> None:
        """Note that each of these different reporters sent a report with this epsilon at t."""
        while self._recent and self._recent[0][0] <= t - self._window:
            _, spent, said = self._recent.popleft()
            self._sums[np.unpackbits(said, count=self._sums.size).view(bool)] -= spent
        if not reporters.size:
            return
        said = np.zeros(self._sums.size, dtype=bool)
        said[reporters] = True
        self._recent.append((t, epsilon, np.packbits(said)))
        self._sums[reporters] += epsilon
        # running sums find the reporter; her sum is computed again, without their rounding
        most = int(reporters[self._sums[reporters].argmax()])
        byte, bit = divmod(most, 8)
        hers = [spent for _, spent, said in self._recent if said[byte] >> (7 - bit) & 1]
        self.largest = max(self.largest, math.fsum(hers))


def privacy_spend(
    stream: Stream, mechanism: str, *, epsilon: float, window: int, seed: int = 0, **options: Any
) -> float:
    """Replay a simulation, and find the largest epsilon that any user spent in any window.

    It does not believe the ledger: it adds up the reports of each user as they are made. In an exchangeable
    population everybody who is asked counts as reporting. The spend bounds the loss between w-neighbouring
    streams (the neighbouring relation of the guarantee), which differ in the cells of one user within some
    window of w timestamps.

    Returns
    -------
    float
        The largest sum; at most epsilon if the guarantee holds.
    """
    check_terms(epsilon, window, stream.length)
    odometer = WindowOdometer(stream.users, window)
    simulate(stream, mechanism, epsilon=epsilon, window=window, seed=seed, witness=odometer, **options)
    return odometer.largest
