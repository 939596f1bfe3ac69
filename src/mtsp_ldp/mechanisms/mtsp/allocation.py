"""M2: optimal budget allocation over the dissimilarities of the last w timestamps.

Source: MTSP-LDP §3.3, Algorithm 2. Known behaviour, to be shown and not hidden: at t = 0 the whole half
is spent; on a static stream OBA publishes on noise.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from mtsp_ldp.mechanisms.absorption import Absorption
from mtsp_ldp.mechanisms.adaptive import LdpIdsRule, smallest_share
from mtsp_ldp.mechanisms.distribution import Distribution
from mtsp_ldp.privacy.units import FULL, Units, to_units


def optimal_allocation(
    dissimilarities: Sequence[float] | npt.NDArray[np.float64], variance: Callable[[float], float]
) -> tuple[int, bool]:
    """Choose how many of the window's timestamps should publish, and whether the last one is among them.

    Parameters
    ----------
    dissimilarities
        Dissimilarities in the window, ``(W,)``; the last entry is the present one.
    variance
        Node variance of a tree that is published with a given share of the window (0-1).

    Returns
    -------
    k : int
        The smallest minimiser of E(k) = k var(1/(2k)) + the sum of all but the k largest.
    selected : bool
        True if fewer than k of the others are strictly greater than the last.
    """
    paid = [k * variance(1 / (2 * k)) for k in range(1, len(dissimilarities) + 1)]
    return _cheapest(np.asarray(dissimilarities, dtype=np.float64), paid)


def _cheapest(values: npt.NDArray[np.float64], paid: list[float]) -> tuple[int, bool]:
    """Find the smallest minimiser k of E, with costs ``paid[k - 1]``; tell whether the last is selected."""
    # the sum of all but the k largest, k = 0..W: cumulated from the small end
    kept = np.concatenate([np.cumsum(np.sort(values))[::-1], [0.0]])
    k = int((kept + np.array([0.0, *paid])).argmin())
    return k, bool(np.count_nonzero(values > values[-1]) < k)


class Allocation(Protocol):
    """Rule that decides when to publish, and with which share."""

    def choose(
        self, t: int, dissimilarity: float, spread: float, variance: Callable[[Units], float]
    ) -> tuple[int, Units]:
        """Choose k at t (-1 where there is none), and the units to publish with (0: approximate).

        Parameters
        ----------
        t
            The present.
        dissimilarity
            dis_t.
        spread
            Standard deviation of dis_t where nothing changed.
        variance
            Node variance of a tree published with given units.
        """
        ...

    def record(self, t: int, share: Units) -> None:
        """Note a publication at t."""
        ...


class OptimalAllocation:
    """OBA along a stream: the window's dissimilarities and what its publications spent.

    Parameters
    ----------
    window
        w, in timestamps.
    minimum_share
        Share of the window below which nothing is published [extension; 0 spends scraps, as the paper does].
    shrunk
        [extension] Sort max(0, dis - spread sqrt(2 ln(W + 1))), and publish only where dis_t exceeds the
        variance of the publication.
    """

    def __init__(self, window: int, minimum_share: float = 0.0, shrunk: bool = False) -> None:
        self._window = window
        self._shares = [to_units(1 / (2 * k)) for k in range(1, window + 1)]
        self._least = smallest_share(minimum_share)
        self._shrunk = shrunk
        self._seen: deque[tuple[int, float]] = deque()
        self._spent: deque[tuple[int, Units]] = deque()

    def choose(
        self, t: int, dissimilarity: float, spread: float, variance: Callable[[Units], float]
    ) -> tuple[int, Units]:
        """Choose as `Allocation.choose` says."""
        self._seen.append((t, dissimilarity))
        for queue in (self._seen, self._spent):
            while queue and queue[0][0] <= t - self._window:
                queue.popleft()
        values = np.array([value for _, value in self._seen])
        if self._shrunk:
            values = np.maximum(values - spread * math.sqrt(2 * math.log(values.size + 1)), 0.0)
        paid = [k * variance(share) for k, share in enumerate(self._shares[: values.size], start=1)]
        k, selected = _cheapest(values, paid)
        if not selected:
            return k, Units(0)
        left = FULL // 2 - sum(share for _, share in self._spent)
        share = min(self._shares[k - 1], Units(left))
        if share < self._least or (self._shrunk and variance(share) >= dissimilarity):
            return k, Units(0)
        return k, share

    def record(self, t: int, share: Units) -> None:
        """Note a publication at t."""
        self._spent.append((t, share))


AllocationKind = Literal["oba", "oba_shrunk", "distribution", "absorption"]


def make_allocation(rule: AllocationKind, window: int, minimum_share: float) -> Allocation:
    """Make OBA, its shrunken form, or a rule of LDP-IDS in its place."""
    if rule == "distribution":
        return LdpIdsRule(Distribution(window), minimum_share)
    if rule == "absorption":
        return LdpIdsRule(Absorption(window), minimum_share)
    return OptimalAllocation(window, minimum_share, shrunk=rule == "oba_shrunk")
