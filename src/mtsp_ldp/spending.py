"""What users spent, replayed from who reported what: it believes neither a ledger nor a mechanism."""

import math
from collections import deque

import numpy as np
import numpy.typing as npt


class WindowSpend:
    """The largest epsilon that any reporter spent in any ``window`` consecutive timestamps.

    Is told of each report as it is made, in order of time (`population.Witness`). It remembers one bit per
    reporter and survey of the last window.

    Parameters
    ----------
    reporters
        How many there are, numbered from 0.
    window
        w, in timestamps.

    Attributes
    ----------
    largest
        0 before the first report.
    """

    def __init__(self, reporters: int, window: int) -> None:
        self._window = window
        self._recent: deque[tuple[int, float, npt.NDArray[np.uint8]]] = deque()
        self._sums = np.zeros(reporters, dtype=np.longdouble)
        self.largest = 0.0

    def __call__(self, t: int, reporters: npt.NDArray[np.int64], epsilon: float) -> None:
        """Each of these reporters, none of them twice, sent a report with this epsilon at t."""
        while self._recent and self._recent[0][0] <= t - self._window:
            _, spent, said = self._recent.popleft()
            self._sums[np.unpackbits(said, count=self._sums.size).view(bool)] -= spent
        if not reporters.size:
            return
        said = np.zeros(self._sums.size, dtype=bool)
        said[reporters] = True
        self._recent.append((t, epsilon, np.packbits(said)))
        self._sums[reporters] += epsilon
        # running sums find the reporter; hers is added up anew, without their rounding
        most = int(reporters[self._sums[reporters].argmax()])
        byte, bit = divmod(most, 8)
        hers = [spent for _, spent, said in self._recent if said[byte] >> (7 - bit) & 1]
        self.largest = max(self.largest, math.fsum(hers))
