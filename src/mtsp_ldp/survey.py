"""What may be asked through the door between private and public, and what comes back.

A mechanism sees nothing of the users but ``d``, ``n_t`` and the answers of a `Survey`.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mtsp_ldp.oracle import FloatArray, IntArray


class Question:
    """A partition of the cells into groups; a user answers with the group that she is in.

    Parameters
    ----------
    labels
        Group of each cell, ``(d,)``: whole numbers 0..g-1, each of them used. So groups can neither
        overlap nor leave a cell out.

    Attributes
    ----------
    cells, groups
        How many of them.
    """

    __slots__ = ("_each_cell", "cells", "groups", "labels")
    labels: npt.NDArray[np.int64]
    cells: int
    groups: int
    _each_cell: bool

    def __init__(self, labels: npt.ArrayLike) -> None:
        given = np.asarray(labels)
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise ValueError("labels: a vector of whole numbers, one per cell")
        if given.min() < 0 or not np.bincount(given).all():
            raise ValueError("labels: every cell in one of the groups 0..g-1, no group empty")
        own = given.astype(np.int64)
        own.flags.writeable = False
        facts = {
            "labels": own,
            "cells": own.size,
            "groups": int(own.max()) + 1,
            "_each_cell": bool((own == np.arange(own.size)).all()),
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a question cannot be changed")

    def __reduce__(self) -> tuple[type, tuple[npt.NDArray[np.int64]]]:
        return type(self), (self.labels,)

    def count(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Users per group, ``(g,)``, from those per cell, ``(d,)``: these, if cells are the groups."""
        if self._each_cell:
            return counts
        grouped = np.bincount(self.labels, weights=counts, minlength=self.groups)
        return grouped.astype(np.int64)


NoiseKind = Literal["paper", "exact"]


class Answer(NamedTuple):
    """The noisy answer to one question.

    Attributes
    ----------
    estimates
        Raw frequencies per group, ``(g,)``.
    reporters
        How many users answered, m.
    variance
        Noise variance of one estimate, as the paper counts it.
    active
        How many users the frequencies speak of, n_t.
    gap
        p - q of the oracle.
    ones
        Reports per group, ``(g,)``.
    """

    estimates: FloatArray
    reporters: int
    variance: float
    active: int
    gap: float
    ones: IntArray

    def exact_variances(self) -> FloatArray:
        """Variance of each estimate around the frequency among all active users, ``(g,)`` [extension].

        The paper's variance leaves out f/m and the sampling of m users among n; this is the unbiased plug-in
        for the whole, not below 0: y (m - y) / (m^2 (m - 1) gap^2) - f (1 - f) / n.
        """
        m, y, f = float(self.reporters), self.ones, self.estimates
        whole = y * (m - y) / (m * m * max(m - 1, 1) * self.gap**2) - f * (1 - f) / self.active
        return np.maximum(whole, 0.0)

    def mean_variance(self, noise: NoiseKind) -> float:
        """Mean variance of the estimates, counted as the ``paper`` does or as ``exact`` [extension]."""
        return self.variance if noise == "paper" else float(self.exact_variances().mean())


class Survey(Protocol):
    """The door at one timestamp."""

    def __call__(self, questions: Sequence[Question], share: int) -> list[Answer] | None:
        """Ask the users that a share of the window buys; each of them answers one question.

        Returns None, and spends nothing, if fewer users than questions would report; and no answer at all,
        though the share is spent, if a question's reports all got lost on their way.
        """
        ...
