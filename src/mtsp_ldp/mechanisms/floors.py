"""Floors: constant baselines that read no data (trivial baselines). They ask nobody."""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.mechanisms.base import Mechanism, Step, register
from mtsp_ldp.privacy.survey import Survey


@register(zero="budget")
class Zero(Mechanism):
    """Constant baseline: releases 0 for every cell at every t."""

    reads_data = False

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Publish nothing, so that the initial release is repeated."""
        return Step()


@register(uniform="budget")
class UniformGuess(Zero):
    """Constant baseline: releases 1/d for every cell at every t."""

    def initial(self) -> FloatArray:
        """Make the release of 1/d for every cell."""
        return np.full(self.setting.d, 1.0 / self.setting.d)
