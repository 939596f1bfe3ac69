"""The frame of LBD, LBA, LPD and LPA: estimate the dissimilarity, then publish or approximate.

Decisions use raw estimates. Source: LDP-IDS; MTSP-LDP §2.6.
"""

import math
from typing import Protocol

import numpy as np

from mtsp_ldp.ledger import FULL, NOTHING
from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step
from mtsp_ldp.survey import Question, Survey


class Rule(Protocol):
    """How much of the publications' half of the window a timestamp may have."""

    def candidate(self, t: int) -> int:
        """Units that a publication at t would get; 0 where none may be made."""
        ...

    def record(self, t: int, share: int) -> None:
        """Note what was spent on a publication at t; called where share > 0."""
        ...


def half_step(window: int) -> int:
    """The share 1/(2w) that each timestamp spends on its dissimilarity, in units."""
    return FULL // (2 * window)


class AdaptiveHistogram(Mechanism):
    """Publishes where the dissimilarity exceeds the variance of a publication.

    Parameters
    ----------
    rule
        The candidate shares.
    """

    def __init__(self, setting: Setting, rule: Rule) -> None:
        super().__init__(setting)
        self._rule = rule
        self._cells = Question(np.arange(setting.d))
        self._unit = half_step(setting.window)
        self._release = self.initial()

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """M1, then M2 (LDP-IDS, Algorithms 1 and 2)."""
        first = survey([self._cells], self._unit)
        if first is None:
            return Step()
        gap = first[0].estimates - self._release
        dissimilarity = float(np.mean(gap * gap)) - first[0].variance
        share = self._rule.candidate(t)
        second = None
        if self.pays(dissimilarity, share, n):
            second = survey([self._cells], share)
        if second is None:
            return Step(share_1=self._unit, dissimilarity=dissimilarity)
        self._rule.record(t, share)
        self._release = second[0].estimates
        return Step(self._release, None, self._unit, share, dissimilarity)

    def pays(self, dissimilarity: float, share: int, n: int) -> bool:
        """Whether a publication with this share is expected to err less than the last release."""
        error = self.setting.division.variance(share, n) if share >= NOTHING else math.inf
        return dissimilarity > error
