"""The private side. It holds the data; the only way to them is `Population.survey` (a queryable).

The whole privacy argument stands here. Two streams are w-neighbouring if they differ in the cells of one user
within some window of w timestamps; when a user is active is the same in both. Nothing leaves a
population but the public facts ``d`` and ``n_t``, and the noisy answers to surveys. A survey chooses who
reports, debits the ledger (a privacy filter) *before* any report exists, and returns estimates. So whoever
writes a mechanism gets w-event epsilon-LDP for free, and cannot read a true count, reuse a user inside a
window, or overspend by a rounding error.

Under population division every reporter has a *phase*: her rank r in an order drawn once, independent of
all data, stands for the point r/n of a circle. A pointer runs round it; a share s asks the active
reporters of the next arc of length s. Shares of a window sum to at most 1, so arcs within a window are
disjoint; being asked does not depend on activity or cell, so an arc is an unbiased sample.

Behind the survey are the users of a stream (`mtsp_ldp.privacy.stream_population`) or clients
(`mtsp_ldp.protocol`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.privacy.division import Division
from mtsp_ldp.privacy.ledger import WindowLedger
from mtsp_ldp.privacy.oracle import Oracle
from mtsp_ldp.privacy.survey import NOT_ASKED, Answer, Answers, Question
from mtsp_ldp.privacy.units import FULL, Units

_MOST_REPORTERS = 10**9  # the limit of numpy's hypergeometric draws

Witness = Callable[[int, IntArray, float], None]
"""Function that is called with each survey's reporters: (t, reporters, epsilon of each report)."""


class Circle:
    """The pointer that runs round the phases of ``reporters`` ranks, in exact integers."""

    def __init__(self, reporters: int) -> None:
        self._reporters = reporters
        self._pointer = 0

    def _rank(self, position: int) -> int:
        return -(-position * self._reporters // FULL)

    def arc(self, share: Units) -> list[tuple[int, int]]:
        """Find the half-open ranges of the ranks whose phase lies in the next ``share`` units."""
        start, end = self._pointer, self._pointer + share
        ranges = [(self._rank(start), self._rank(min(end, FULL)))]
        if end > FULL:
            ranges.append((0, self._rank(end - FULL)))
        return ranges

    def advance(self, share: Units) -> None:
        """Move the pointer on by ``share`` units."""
        self._pointer = (self._pointer + share) % FULL


class Reporters(NamedTuple):
    """Reporters among some ranks.

    Attributes
    ----------
    ranges
        Half-open ranges of ranks that are asked.
    counts
        Users per cell of the active ones, ``(d,)``; empty where only the users know their cells.
    number
        Number of reports: from the active ones, and from the absent where presence is private.
    who
        Ranks of the reporters, where they are known.
    absent
        Number of reporters who are absent.
    """

    ranges: list[tuple[int, int]]
    counts: IntArray
    number: int
    who: IntArray | None = None
    absent: int = 0


class Population(ABC):
    """Users who answer surveys under one division.

    Parameters
    ----------
    d
        Number of cells.
    reporters
        Number of reporters; each has a rank, and so a phase.
    division
        Division of the window.
    window
        w, in timestamps.
    coins
        Public coins: phases and random groups.
    witness
        Function that is called with every survey's reporters, for audits; it decides nothing.
    """

    def __init__(
        self,
        d: int,
        reporters: int,
        *,
        division: Division,
        window: int,
        coins: np.random.Generator,
        witness: Witness | None = None,
    ) -> None:
        if not 1 <= reporters < _MOST_REPORTERS:
            raise ValueError(f"reporters={reporters}: must be 1 to {_MOST_REPORTERS - 1}, numpy's limit")
        self.d = d
        self._division = division
        self._ledger = WindowLedger(window)
        self._coins = coins
        self._witness = witness
        self._reporters = reporters
        self._circle = Circle(reporters)
        self._now = -1

    @property
    def spent(self) -> Units:
        """Units of the window that all surveys spent so far, together (public)."""
        return self._ledger.spent

    @abstractmethod
    def active(self, t: int) -> int:
        """Count the reporters who are active at t: n_t (public)."""

    def survey(self, t: int, questions: Sequence[Question], share: Units) -> Answers:
        """Ask questions of the reporters whom ``share`` units buy: the only way to data (a queryable).

        Who reports is split uniformly at random into groups of equal size, one per question.

        Returns
        -------
        Answers
            One answer per question and what was spent. No answers, and nothing spent, if fewer would report
            than there are questions; no answers, and the share spent, if the reports to a question got lost.

        Raises
        ------
        ValueError
            If there is no question, one that is no `Question` or not over the d cells, or one whose oracle is
            not exact at its epsilon. Nothing is spent then.
        PrivacyError
            If the window would overflow. No report exists then, and the state is as before.
        """
        # copy the list, accept exactly `Question`: a subclass could override `count()` and read true counts
        questions = list(questions)
        strange = [one for one in questions if type(one) is not Question or one.cells != self.d]
        if strange or not questions:
            raise ValueError(f"questions: must be at least one, each a Question over all {self.d} cells")
        self._ledger.check(t, share)  # refused even if nobody would answer it
        oracles = [self._division.oracle(share, question.groups) for question in questions]
        if t != self._now:
            self._now = t
            self._turn(t)
        arc = self._division.arc(share)
        ranges = [(0, self._reporters)] if arc is None else self._circle.arc(arc)
        asked = self._present(t, ranges)
        if asked.number < len(questions):
            return NOT_ASKED
        self._ledger.debit(t, share)
        if arc is not None:
            self._circle.advance(arc)
            self._commit(t, asked)
        if self._witness is not None:
            self._witness(t, self._identify(asked), max(oracle.epsilon for oracle in oracles))
        return Answers(share, self._answer(t, questions, oracles, asked))

    @abstractmethod
    def _turn(self, t: int) -> None:
        """Load the data of t."""

    @abstractmethod
    def _present(self, t: int, ranges: list[tuple[int, int]]) -> Reporters:
        """Find the active reporters among these ranks."""

    @abstractmethod
    def _commit(self, t: int, asked: Reporters) -> None:
        """Note that the reporters of an arc answer."""

    @abstractmethod
    def _identify(self, asked: Reporters) -> IntArray:
        """List the ranks of those who report."""

    @abstractmethod
    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: Reporters
    ) -> list[Answer]:
        """Collect the reports and estimate; return no answers if nobody answered one of the questions."""


def answer_from(oracle: Oracle, ones: IntArray, reporters: int, active: int) -> Answer:
    """Make an answer of reports: estimates and their variance from the ones per group."""
    estimates = oracle.estimate(ones, reporters)
    return Answer(estimates, reporters, oracle.variance(reporters), active, oracle, ones)


def group_sizes(n: int, groups: int, coins: np.random.Generator) -> IntArray:
    """Draw sizes of random groups that differ by at most one; a public coin says which are larger."""
    return np.asarray(n // groups + (coins.permutation(groups) < n % groups))
