"""Uniform allocation (LBU, LPU): the same share at every timestamp, always published.

Source: LDP-IDS (Ren et al. 2022); MTSP-LDP §2.6.
"""

import numpy as np

from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.privacy.survey import Question, Survey
from mtsp_ldp.privacy.units import FULL, Units


@register(lbu="budget", lpu="population")
class Uniform(Mechanism):
    """LBU and LPU: share 1/w at every t."""

    baseline = True
    published = True

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._cells = Question(np.arange(setting.d))
        self._share = Units(FULL // setting.window)

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Publish, unless nobody is there to be asked."""
        answers = survey([self._cells], self._share)
        return Step(answers[0].estimates if answers else None, share_2=answers.spent)
