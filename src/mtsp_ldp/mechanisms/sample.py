"""Sampling (LSP): the whole window at one timestamp in w, repeated in between.

Source: LDP-IDS; MTSP-LDP §2.6, which counts LSP as population division. The random phase is a
reconstruction: a fixed one can flip verdicts on periodic streams.
"""

import numpy as np

from mtsp_ldp.ledger import FULL
from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.survey import Question, Survey


@register(lsp="population")
class Sample(Mechanism):
    """Share 1 at t = phase (mod w).

    Parameters
    ----------
    phase
        ``"random"`` draws it uniformly from 0..w-1; a whole number fixes it (0 is the textbook's). With
        a phase above 0, t = 0 publishes with share phase/w and t = phase with the rest.
    """

    def __init__(self, setting: Setting, *, phase: int | str = "random") -> None:
        super().__init__(setting)
        window = setting.window
        if phase == "random":
            self._phase = int(setting.coins.integers(window))
        elif isinstance(phase, int) and not isinstance(phase, bool) and 0 <= phase < window:
            self._phase = phase
        else:
            raise ValueError(f"phase={phase!r}: random, or a whole number in 0..{window - 1}")
        self._cells = Question(np.arange(setting.d))
        self._first = FULL * self._phase // window

    def _share(self, t: int) -> int:
        if t == 0 and self._phase:
            return self._first
        if t % self.setting.window != self._phase:
            return 0
        return FULL - self._first if t == self._phase else FULL

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Publish at the phase, repeat elsewhere."""
        share = self._share(t)
        answers = survey([self._cells], share) if share else None
        if not answers:
            return Step(share_2=0 if answers is None else share)
        return Step(published=answers[0].estimates, share_2=share)
