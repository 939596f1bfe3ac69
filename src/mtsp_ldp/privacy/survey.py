"""Questions and answers: all that passes between the private side and the public side.

A mechanism sees nothing of the users but ``d``, ``n_t`` and the answers of a `Survey`.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol, overload

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.privacy.oracle import Oracle
from mtsp_ldp.privacy.units import Units


class Question:
    """A partition of the cells into groups; a user answers with the group that she is in.

    Parameters
    ----------
    labels
        Group of each cell, ``(d,)``: integers 0..g-1, each of them used. So groups can neither overlap
        nor leave a cell out.

    Attributes
    ----------
    cells, groups
        Number of cells, and of groups.
    """

    __slots__ = ("_each_cell", "cells", "groups", "labels")
    labels: npt.NDArray[np.int64]
    cells: int
    groups: int
    _each_cell: bool

    def __init__(self, labels: npt.ArrayLike) -> None:
        given = np.asarray(labels)
        if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iu":
            raise ValueError("labels: must be a vector of integers, one per cell")
        if given.min() < 0 or not np.bincount(given).all():
            raise ValueError("labels: must put every cell into one of the groups 0..g-1, none of them empty")
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
        """Add up users per cell, ``(d,)``, to users per group, ``(g,)``."""
        if self._each_cell:
            return counts
        grouped = np.bincount(self.labels, weights=counts, minlength=self.groups)
        return grouped.astype(np.int64)


NoiseKind = Literal["paper", "exact"]
Presence = Literal["public", "private"]
"""Presence: ``public``, only active users report; ``private`` [extension], whoever is asked reports."""


class Answer(NamedTuple):
    """The noisy answer to one question.

    Attributes
    ----------
    estimates
        Raw frequencies per group, ``(g,)``.
    reporters
        Number of users who answered, m.
    variance
        Noise variance of one estimate, by the paper's formula.
    active
        Number of users that the frequencies are shares of, n_t.
    oracle
        Oracle of the reports: public, with p and q.
    ones
        Reports per group, ``(g,)``.
    """

    estimates: FloatArray
    reporters: int
    variance: float
    active: int
    oracle: Oracle
    ones: IntArray

    def exact_variances(self) -> FloatArray:
        """Estimate the variance of each estimate around the frequency among all active users, ``(g,)``.

        [extension] The paper's variance leaves out f/m and the sampling of m users among n; this is the
        unbiased plug-in for the whole, not below 0: y (m - y) / (m^2 (m - 1) gap^2) - f (1 - f) / n.
        """
        m, y, f = float(self.reporters), self.ones, self.estimates
        whole = y * (m - y) / (m * m * max(m - 1, 1) * self.oracle.gap**2) - f * (1 - f) / self.active
        return np.maximum(whole, 0.0)

    def mean_variance(self, noise: NoiseKind) -> float:
        """Average the variances of the estimates, as the ``paper`` counts them or ``exact`` [extension]."""
        return self.variance if noise == "paper" else float(self.exact_variances().mean())


class Answers(Sequence[Answer]):
    """The answers to one survey, and what it spent.

    No answers and nothing spent: fewer users than questions would have reported, so nobody was asked. No
    answers but something spent: the reports to a question all got lost on their way.

    Parameters
    ----------
    spent
        Units of the window that the survey spent.
    answers
        One per question, or none.
    """

    __slots__ = ("_answers", "spent")

    def __init__(self, spent: Units, answers: Sequence[Answer] = ()) -> None:
        self.spent = spent
        self._answers = answers

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    @overload
    def __getitem__(self, place: int) -> Answer: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Answer]: ...
    def __getitem__(self, place: int | slice) -> Answer | Sequence[Answer]:
        return self._answers[place]


NOT_ASKED = Answers(Units(0))
"""Answers of a survey that was not made: none, and nothing spent."""


class Survey(Protocol):
    """Queryable in the sense of OpenDP: the door to data at one timestamp."""

    def __call__(self, questions: Sequence[Question], share: Units) -> Answers:
        """Ask the users that a share of the window buys; each of them answers one question."""
        ...


class Surveyed(Protocol):
    """Users as a mechanism's session meets them: how many are active, and answers to surveys.

    Attributes
    ----------
    d
        Number of cells.
    spent
        Units that all surveys spent so far, together.
    """

    d: int

    @property
    def spent(self) -> Units:
        """Units that all surveys spent so far, together."""

    def active(self, t: int) -> int:
        """Count the users who are active at t: n_t (public)."""

    def survey(self, t: int, questions: Sequence[Question], share: Units) -> Answers:
        """Answer questions at t at the cost of a share."""
