"""The frame of LBD, LBA, LPD and LPA: estimate the dissimilarity, then publish or approximate.

Decisions use raw estimates. Source: LDP-IDS; MTSP-LDP §2.6.
"""

from collections.abc import Callable
from typing import Annotated, Protocol

import numpy as np
from pydantic import Field

from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step
from mtsp_ldp.privacy.division import ExpectedVariance
from mtsp_ldp.privacy.survey import NOT_ASKED, Question, Survey
from mtsp_ldp.privacy.units import FULL, NOTHING, Units, to_units

Share = Annotated[float, Field(ge=0, le=0.5)]
"""Fraction of the window that a publication may have."""


class Rule(Protocol):
    """Rule that offers a timestamp a share of the publications' half of the window."""

    def candidate(self, t: int) -> Units:
        """Offer the units that a publication at t would get; 0 where none may be made."""
        ...

    def record(self, t: int, share: Units) -> None:
        """Note what was spent on a publication at t; called where share > 0."""
        ...


def half_step(window: int) -> Units:
    """Compute the share 1/(2w) that each timestamp spends on its dissimilarity, in units."""
    return Units(FULL // (2 * window))


def smallest_share(minimum: float) -> Units:
    """Compute the units below which a publication is not worth making.

    Parameters
    ----------
    minimum
        Share of the window (0-1); 0 spends scraps as they are, down to what counts as nothing.
    """
    return max(to_units(minimum), NOTHING)


class LdpIdsRule:
    """The decision of LDP-IDS: publish where the dissimilarity exceeds the variance of a publication now.

    Parameters
    ----------
    rule
        Rule of the candidate shares.
    minimum_share
        Share of the window below which a candidate is refused.
    """

    def __init__(self, rule: Rule, minimum_share: float = 0.0) -> None:
        self._rule = rule
        self._least = smallest_share(minimum_share)

    def record(self, t: int, share: Units) -> None:
        """Note what was spent on a publication at t."""
        self._rule.record(t, share)

    def choose(
        self, t: int, dissimilarity: float, spread: float, variance: Callable[[Units], float]
    ) -> tuple[int, Units]:
        """Choose the units to publish with (0: approximate), and no k (-1); ``spread`` is ignored."""
        share = self._rule.candidate(t)
        pays = share >= self._least and dissimilarity > variance(share)
        return -1, share if pays else Units(0)


class AdaptiveHistogram(Mechanism):
    """Publishes a histogram where a rule's candidate share pays."""

    baseline = True
    published = True

    def __init__(self, setting: Setting, rule: Rule, minimum_share: float) -> None:
        super().__init__(setting)
        self._decision = LdpIdsRule(rule, minimum_share)
        self._cells = Question(np.arange(setting.d))
        self._variance = ExpectedVariance(setting.division, [setting.d])
        self._unit = half_step(setting.window)
        self._release = self.initial()

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Run M1, then M2 (LDP-IDS, Algorithms 1 and 2)."""
        first = survey([self._cells], self._unit)
        if not first:
            return Step(share_1=first.spent)
        gap = first[0].estimates - self._release
        noise = first[0].mean_variance(self.setting.noise)
        dissimilarity = float(np.add.reduce(gap * gap)) / gap.size - noise
        _, share = self._decision.choose(t, dissimilarity, noise, lambda share: self._variance(share, n))
        second = survey([self._cells], share) if share else NOT_ASKED
        if second.spent:
            self._decision.record(t, second.spent)
        published = second[0].estimates if second else None
        if published is not None:
            self._release = published
        return Step(published, None, first.spent, second.spent, dissimilarity)
