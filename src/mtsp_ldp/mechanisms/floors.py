"""The trivial floors: what publishing nothing is worth. They ask nobody."""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.mechanisms.base import Mechanism, Step, register
from mtsp_ldp.privacy.survey import Survey


@register(zero="budget")
class Zero(Mechanism):
    """Releases 0 for every cell, for ever."""

    reads_data = False

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Do nothing."""
        return Step()


@register(uniform="budget")
class UniformGuess(Zero):
    """Releases 1/d for every cell, for ever."""

    def initial(self) -> FloatArray:
        """Everybody spread evenly."""
        return np.full(self.setting.d, 1.0 / self.setting.d)
