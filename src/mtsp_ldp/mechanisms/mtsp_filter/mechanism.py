"""MTSP-F [extension]: ask what LPU asks, release what a filter makes of all reports so far."""

from typing import Annotated

import numpy as np
from pydantic import Field

from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.mechanisms.mtsp_filter.filter import Filter
from mtsp_ldp.mechanisms.mtsp_filter.release import Shrinkage, project
from mtsp_ldp.privacy.survey import Question, Survey
from mtsp_ldp.privacy.units import FULL, Units


@register(mtsp_filter="population")
class FilteredUniform(Mechanism):
    """MTSP-F: share 1/w at every t, filtered.

    Parameters
    ----------
    period
        Timestamps of a period; 0 is none, null (the default) the stream's own.
    """

    def __init__(self, setting: Setting, *, period: Annotated[int, Field(ge=0)] | None = None) -> None:
        super().__init__(setting)
        self._cells = Question(np.arange(setting.d))
        self._share = Units(FULL // setting.window)
        self._complete = setting.presence == "public"
        self._filter = Filter(
            setting.d, setting.period if period is None else period, sums_to_one=self._complete
        )
        self._shrinkage = Shrinkage(setting.d)

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Publish; where nobody is there to be asked, the prediction."""
        answers = survey([self._cells], self._share)
        self._filter.step(n, answers[0] if answers else None)
        level, variance = self._filter.level, self._filter.variance
        self._shrinkage.learn(level, variance)
        released = project(self._shrinkage.shrink(level, variance), at_most=not self._complete)
        return Step(released, share_2=answers.spent)
