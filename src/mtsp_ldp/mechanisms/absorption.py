"""Budget absorption (LBA, LPA): unused budget goes into the next publication.

The timestamps that follow a large publication are then skipped.

Source: LDP-IDS, after Kellaris et al. 2014; MTSP-LDP §2.6.
"""

from mtsp_ldp.mechanisms.adaptive import AdaptiveHistogram, Share, half_step
from mtsp_ldp.mechanisms.base import Setting, register
from mtsp_ldp.privacy.units import Units


class Absorption:
    """Rule of absorption: one unit for each timestamp since the last nullified one."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._unit = half_step(window)
        self._paid = -1  # last timestamp that is nullified, or last publication of one unit

    def candidate(self, t: int) -> Units:
        """Absorb at most w units; 0 at a nullified timestamp."""
        return Units(self._unit * min(max(t - self._paid, 0), self._window))

    def record(self, t: int, share: Units) -> None:
        """Nullify the k - 1 timestamps after a publication of k units."""
        self._paid = t + share // self._unit - 1


@register(lba="budget", lpa="population")
class BudgetAbsorption(AdaptiveHistogram):
    """LBA and LPA: uniform units, absorbed where the release was repeated.

    Parameters
    ----------
    minimum_share
        Share of the window below which nothing is published [extension; 0 is LDP-IDS].
    """

    def __init__(self, setting: Setting, *, minimum_share: Share = 0.0) -> None:
        super().__init__(setting, Absorption(setting.window), minimum_share)
