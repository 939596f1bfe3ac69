"""MTSP-F [extension]: ask what LPU asks, release what a filter makes of all reports so far."""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.projection import project_on_simplex
from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.mechanisms.mtsp_filter.filter import Filter
from mtsp_ldp.mechanisms.mtsp_filter.queries import WindowPosterior
from mtsp_ldp.mechanisms.mtsp_filter.release import Shrinkage
from mtsp_ldp.mechanisms.sample import OneInWindow
from mtsp_ldp.privacy.survey import NOT_ASKED, Answer, Question, Survey
from mtsp_ldp.privacy.units import FULL, Units


@register(mtsp_filter="population")
class FilteredUniform(Mechanism):
    """MTSP-F: share 1/w at every t, filtered.

    Parameters
    ----------
    period
        Timestamps of a period; 0 is none, null (the default) the stream's own.
    schedule
        Reports to ask for: ``uniform`` those of LPU, share 1/w at every t; ``sample`` those of LSP, share 1
        at one t in w, to tell what the schedule is worth and what the filter.
    lag
        Timestamps that the release of each t waits for more reports; 0 publishes at once.
    """

    seconds = (2e-4, 6e-6)

    def __init__(
        self,
        setting: Setting,
        *,
        period: Annotated[int, Field(ge=0)] | None = None,
        schedule: Literal["uniform", "sample"] = "uniform",
        lag: Annotated[int, Field(ge=0, le=3)] = 0,
    ) -> None:
        super().__init__(setting)
        self.lag = lag
        self._cells = Question(np.arange(setting.d))
        self._share = Units(FULL // setting.window)
        self._sample = OneInWindow(setting, "random") if schedule == "sample" else None
        self._period = setting.period if period is None else period
        self._filter, self._shrinkage = self._start()

    def _start(self) -> tuple[Filter, Shrinkage]:
        """Make filter and shrinkage as they are before the first report."""
        d = self.setting.d
        return Filter(d, self._period, sums_to_one=self.setting.presence == "public"), Shrinkage(d)

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Publish; where nobody is there to be asked, the prediction."""
        share = self._share if self._sample is None else self._sample.share(t)
        answers = survey([self._cells], share) if share else NOT_ASKED
        answer = answers[0] if answers else None
        self._filter.step(t, n, answer)
        shrunk, variance = self._shrinkage.learn(self._filter.level, self._filter.variance)
        return Step(self._finish(shrunk), variance, share_2=answers.spent, answer=answer)

    def _finish(self, frequencies: FloatArray) -> FloatArray:
        """Project frequencies on the simplex, ``(d,)``; shares of all users sum to at most 1."""
        at_most = self.setting.presence == "private"
        return np.asarray(project_on_simplex(frequencies[None], at_most=at_most)[0])

    def posterior(self, answers: Sequence[Answer | None], active: Sequence[int]) -> WindowPosterior:
        """Make the joint posterior of all windows, for queries over periods."""
        return WindowPosterior(self._start, self._finish, answers, active, self.lag)
