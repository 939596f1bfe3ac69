"""What a mechanism knows beyond its releases: means and variances of weighted windows."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from mtsp_ldp.foundation.arrays import FloatArray, IntArray


class Windows(NamedTuple):
    """Weighted sums Σ_s c_s f_s of frequencies over windows of L timestamps.

    Attributes
    ----------
    weights
        Weights c, ``(W, L)``: window i is over the timestamps i, …, i + L - 1. They are public.
    cells
        Cells to answer for, ``(C,)``; None asks for averages of all d cells, whose weights are not negative
        and sum to 1: such answers are frequencies, and made non-negative with a sum of 1 as releases are.
    """

    weights: FloatArray
    cells: IntArray | None = None


class Moments(NamedTuple):
    """Mean and variance of weighted sums given all reports up to the window's end, ``(W, C)``."""

    mean: FloatArray
    variance: FloatArray


class Posterior(Protocol):
    """Beliefs about a whole stream; they are functions of its reports alone and cost no budget."""

    def moments(self, asked: Sequence[Windows]) -> list[Moments]:
        """Compute mean and variance of weighted windows."""
        ...
