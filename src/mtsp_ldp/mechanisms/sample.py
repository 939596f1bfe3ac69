"""Sampling (LSP): the whole window at one timestamp in w, repeated in between.

Source: LDP-IDS; MTSP-LDP §2.6, which counts LSP as population division. The random phase is a
reconstruction: a fixed one can flip verdicts on periodic streams.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.privacy.survey import Question, Survey
from mtsp_ldp.privacy.units import FULL, Units


class OneInWindow:
    """Schedule that gives the whole window to one timestamp in w; parameters and errors as of `Sample`."""

    def __init__(self, setting: Setting, phase: Literal["random"] | int) -> None:
        self._window = setting.window
        if phase == "random":
            self._phase = int(setting.coins.integers(self._window))
        elif phase < self._window:
            self._phase = phase
        else:
            raise ValueError(f"phase={phase!r}: must be random, or an integer in 0..{self._window - 1}")
        self._first = Units(FULL * self._phase // self._window)

    def share(self, t: int) -> Units:
        """Give the share of t: all at the phase; at t = 0 what the phase's first turn can spare."""
        if t == 0 and self._phase:
            return self._first
        if t % self._window != self._phase:
            return Units(0)
        return Units(FULL - self._first) if t == self._phase else FULL


@register(lsp="population")
class Sample(Mechanism):
    """LSP: share 1 at t = phase (mod w).

    Parameters
    ----------
    phase
        Phase: ``"random"`` draws it uniformly from 0..w-1; an integer fixes it (0 is the textbook's). With
        a phase above 0, t = 0 publishes with share phase/w and t = phase with the rest.
    """

    baseline = True
    published = True

    def __init__(
        self, setting: Setting, *, phase: Literal["random"] | Annotated[int, Field(ge=0)] = "random"
    ) -> None:
        super().__init__(setting)
        self._cells = Question(np.arange(setting.d))
        self._schedule = OneInWindow(setting, phase)

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Publish at the phase, repeat elsewhere."""
        share = self._schedule.share(t)
        if not share:
            return Step()
        answers = survey([self._cells], share)
        return Step(answers[0].estimates if answers else None, share_2=answers.spent)
