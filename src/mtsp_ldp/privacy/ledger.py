"""Privacy filters: a ledger refuses a request before anything is spent (Rogers et al. 2016).

Neighbouring streams differ in the cells of one user within one window of w timestamps (w-neighbouring).
"""

from collections import deque

import numpy as np
import numpy.typing as npt

from mtsp_ldp.privacy.units import FULL, Units


class PrivacyError(Exception):
    """A request that would break the w-event guarantee, refused before any report exists."""


class WindowLedger:
    """A privacy filter over shares: those spent in any ``window`` consecutive timestamps sum to at most 1.

    The guarantee needs nothing else: under budget division a share is a fraction of every user's
    epsilon, under population division the length of an arc of users who are asked once.

    Attributes
    ----------
    spent
        Units spent since the start.
    """

    def __init__(self, window: int) -> None:
        if window < 1:
            raise ValueError(f"window={window!r}: must be at least 1 timestamp")
        self.window = window
        self.spent = Units(0)
        self._spent: deque[tuple[int, Units]] = deque()
        self._total = 0
        self._now = -1

    def remaining(self, t: int) -> Units:
        """Compute the units that may still be spent at t."""
        if t < self._now:
            raise PrivacyError(f"t={t}: the ledger is already at t={self._now}")
        self._now = t  # what has left the window is forgotten, so time may not run backwards
        while self._spent and self._spent[0][0] <= t - self.window:
            self._total -= self._spent.popleft()[1]
        return Units(FULL - self._total)

    def check(self, t: int, share: Units) -> None:
        """Refuse what may not be spent at t; time moves on to t, and nothing is spent.

        Raises
        ------
        PrivacyError
            If the share is not a positive integer number of units, if time runs backwards, or if the
            window would overflow.
        """
        if type(share) is not int or share <= 0:  # an int subclass could override comparison
            raise PrivacyError(f"share={share!r}: must be a positive integer number of units of 2^-40")
        left = self.remaining(t)
        if share > left:
            raise PrivacyError(f"t={t}: {share / FULL:.6g} asked, {left / FULL:.6g} of the window left")

    def debit(self, t: int, share: Units) -> None:
        """Spend ``share`` units at t; refuse as `check` does, and then spend nothing."""
        self.check(t, share)
        self._spent.append((t, share))
        self._total += share
        self.spent = Units(self.spent + share)


class ReporterLedger:
    """Time of each reporter's last report with the whole epsilon: an independent check of the arcs.

    It decides nothing; it fails loudly if the arithmetic of arcs were ever wrong.
    """

    def __init__(self, reporters: int, window: int) -> None:
        self._window = window
        self._last = np.full(reporters, -window, dtype=np.int32)

    def record(self, t: int, reporters: npt.NDArray[np.int64]) -> None:
        """Note that these reporters answer at t; refuse if one answered less than w steps ago."""
        recent = self._last[reporters] > t - self._window
        if recent.any():
            who = int(reporters[recent.argmax()])
            raise PrivacyError(f"t={t}: reporter {who} already reported at t={self._last[who]}")
        self._last[reporters] = t
