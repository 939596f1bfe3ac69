"""Budget distribution (LBD, LPD): each publication takes half of what the window still has.

Source: LDP-IDS, after Kellaris et al. 2014; MTSP-LDP §2.6.
"""

from collections import deque

from mtsp_ldp.mechanisms.adaptive import AdaptiveHistogram, Share
from mtsp_ldp.mechanisms.base import Setting, register
from mtsp_ldp.privacy.units import FULL, Units


class Distribution:
    """Rule of distribution: half of what publications have left of the window."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._spent: deque[tuple[int, Units]] = deque()
        self._left = FULL // 2

    def candidate(self, t: int) -> Units:
        """Take half of: 1/2 minus what the last w - 1 timestamps spent."""
        while self._spent and self._spent[0][0] <= t - self._window:
            self._left += self._spent.popleft()[1]
        return Units(self._left // 2)

    def record(self, t: int, share: Units) -> None:
        """Note a publication."""
        self._spent.append((t, share))
        self._left -= share


@register(lbd="budget", lpd="population")
class BudgetDistribution(AdaptiveHistogram):
    """LBD and LPD: exponentially decaying shares, recycled when they leave the window.

    Parameters
    ----------
    minimum_share
        Share of the window below which nothing is published [extension; 0 is LDP-IDS].
    """

    def __init__(self, setting: Setting, *, minimum_share: Share = 0.0) -> None:
        super().__init__(setting, Distribution(setting.window), minimum_share)
