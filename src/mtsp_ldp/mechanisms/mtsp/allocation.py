"""M2: optimal budget allocation over the dissimilarities of the last w timestamps.

Source: MTSP-LDP §3.3, Algorithm 2. Known behaviour, to be shown and not hidden: at t = 0 the whole half
goes; on a static stream OBA publishes on noise.
"""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from mtsp_ldp.ledger import FULL, NOTHING, units


def optimal_allocation(
    dissimilarities: Sequence[float], variance: Callable[[float], float]
) -> tuple[int, bool]:
    """How many of the window's timestamps should publish, and whether the last one is among them.

    Parameters
    ----------
    dissimilarities
        Those that exist in the window, ``(W,)``; the last entry is the present.
    variance
        Node variance of a tree that is published with a given share of the window (0-1).

    Returns
    -------
    k
        The smallest minimiser of E(k) = k var(1/(2k)) + the sum of all but the k largest.
    selected
        Whether fewer than k of the others are strictly greater than the last.
    """
    values = np.asarray(dissimilarities, dtype=np.float64)
    # what stays after the k largest went, k = 0..W: sums from the small end
    kept = np.concatenate([np.cumsum(np.sort(values))[::-1], [0.0]])
    paid = [0.0] + [k * variance(1 / (2 * k)) for k in range(1, values.size + 1)]
    k = int(np.argmin(kept + paid))
    return k, bool(np.count_nonzero(values > values[-1]) < k)


class OptimalAllocation:
    """OBA along a stream: the window's dissimilarities and what its publications spent."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._seen: deque[tuple[int, float]] = deque()
        self._spent: deque[tuple[int, int]] = deque()

    def choose(self, t: int, dissimilarity: float, variance: Callable[[int], float]) -> tuple[int, int]:
        """k* at t, and the units that t should publish with (0: approximate).

        Parameters
        ----------
        t
            The present.
        dissimilarity
            dis_t.
        variance
            Node variance of a tree published with given units.
        """
        self._seen.append((t, dissimilarity))
        for queue in (self._seen, self._spent):
            while queue and queue[0][0] <= t - self._window:
                queue.popleft()
        k, selected = optimal_allocation(
            [value for _, value in self._seen], lambda share: variance(units(share))
        )
        if not selected:
            return k, 0
        left = FULL // 2 - sum(share for _, share in self._spent)
        share = min(units(1 / (2 * k)), left)
        return k, share if share >= NOTHING else 0

    def record(self, t: int, share: int) -> None:
        """Note a publication at t."""
        self._spent.append((t, share))
