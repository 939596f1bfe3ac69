"""Who spent what in which window. A ledger refuses before anything is spent; it never forgives.

A window's resource is counted in *shares*: whole numbers of 2^-40, rounded down, so that sums are exact
and no float residue ever becomes a report.
"""

import math
from collections import deque

import numpy as np
import numpy.typing as npt

FULL = 1 << 40
"""The whole window, in units of a share."""
NOTHING = 1 << 10
"""A remainder below this (2^-30 of the window) is nothing left."""


class PrivacyError(Exception):
    """A request that would break the w-event guarantee, refused before any report exists."""


def units(share: float) -> int:
    """A share of the window (0-1) in units, rounded down."""
    return math.floor(share * FULL)


class WindowLedger:
    """Shares spent in the last ``window`` timestamps; any window's sum stays at most 1.

    The guarantee needs nothing else: under budget division a share is a fraction of every user's
    epsilon, under population division the length of an arc of users who are asked once.

    Attributes
    ----------
    spent
        Units spent since the start.
    """

    def __init__(self, window: int) -> None:
        if window < 1:
            raise ValueError(f"window={window!r}: at least 1 timestamp")
        self.window = window
        self.spent = 0
        self._spent: deque[tuple[int, int]] = deque()
        self._total = 0
        self._now = -1

    def remaining(self, t: int) -> int:
        """Units that may still be spent at t."""
        if t < self._now:
            raise PrivacyError(f"t={t}: the ledger is already at t={self._now}")
        self._now = t  # what has left the window is forgotten, so time may not run backwards
        while self._spent and self._spent[0][0] <= t - self.window:
            self._total -= self._spent.popleft()[1]
        return FULL - self._total

    def check(self, t: int, share: int) -> None:
        """Refuse what may not be spent at t; time moves on to t, and nothing is spent.

        Raises
        ------
        PrivacyError
            If the share is not a positive whole number of units, if time runs backwards, or if the
            window would overflow.
        """
        if type(share) is not int or share <= 0:  # no kind of one's own, which might compare as it likes
            raise PrivacyError(f"share={share!r}: a positive whole number of 2^-40")
        left = self.remaining(t)
        if share > left:
            raise PrivacyError(f"t={t}: {share / FULL:.6g} asked, {left / FULL:.6g} of the window left")

    def debit(self, t: int, share: int) -> None:
        """Spend ``share`` units at t; refused as by `check`, and then nothing is spent."""
        self.check(t, share)
        self._spent.append((t, share))
        self._total += share
        self.spent += share


class ReporterLedger:
    """When each reporter last sent a report with the whole epsilon: an independent check of the arcs.

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
