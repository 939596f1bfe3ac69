"""Targets: one question with its right answer, which releases should meet."""

from dataclasses import dataclass

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray, IntArray
from mtsp_ldp.releases.queries import Box
from mtsp_ldp.releases.release import Release
from mtsp_ldp.releases.windows import Estimate, PeriodQuery


@dataclass(frozen=True)
class EventQuery:
    """Query for events of one period length, with the true events and their thresholds.

    Attributes
    ----------
    asked
        Question about the changes of the cells.
    cells
        The monitored cells that have a threshold, ``(C,)``.
    thresholds
        Change from which on there is an event, per cell, ``(C,)``.
    happens
        Events, ``(T', C)``.
    scale
        Standard deviation of the true changes, ``(C,)``.
    true
        True changes at the defined timestamps, ``(., C)``.
    defined
        Timestamps at which both periods have users, ``(T',)``.
    skipped
        Monitored cells without a rare positive change.
    """

    asked: PeriodQuery
    cells: IntArray
    thresholds: FloatArray
    happens: BoolArray
    scale: FloatArray
    true: FloatArray
    defined: BoolArray
    skipped: int

    @property
    def query(self) -> str:
        """Name of the query in results."""
        return f"event_{self.asked.delta}_{'share' if self.asked.relative else 'count'}"


@dataclass(frozen=True)
class RangeTarget:
    """True counts over delta timestamps, as shares of the users who were there, that releases should meet.

    Attributes
    ----------
    asked
        Question about the intervals of cells.
    users
        Number of users who were there, ``(T', 1)``; NaN where nobody was.
    true
        The shares, ``(T', Q)``.
    """

    asked: PeriodQuery
    users: FloatArray
    true: FloatArray

    def share(self, answer: Estimate) -> FloatArray:
        """Divide a release's answer by the users who were there, ``(T', Q)``."""
        return np.asarray(answer.values / self.users)


@dataclass(frozen=True)
class BoxTarget:
    """True frequencies of boxes of a grid that releases should meet.

    Attributes
    ----------
    numbers
        Cell of each square, ``(side, side)`` indexed [x, y].
    boxes
        B boxes, by their inclusive bounds.
    true
        True frequencies of the boxes, ``(T, B)``; NaN where nobody is active.
    """

    numbers: IntArray
    boxes: list[Box]
    true: FloatArray

    def estimate(self, release: Release) -> FloatArray:
        """Compute the same frequencies from a release, ``(T, B)``."""
        return release.box_frequencies(self.numbers, self.boxes)


@dataclass(frozen=True)
class KnownEvent:
    """An event that a data set names, and that makes its cell's count rise.

    Attributes
    ----------
    query
        Name of the query in results.
    asked
        Question about the changes to look at.
    after
        Slice of these changes, one of which should flag the event.
    bar
        Change from which on the event is flagged.
    """

    query: str
    asked: PeriodQuery
    after: slice
    bar: float
