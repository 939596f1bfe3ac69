"""The private side. It holds the data; its only door out is `Population.survey`.

Nothing else leaves a population but the public facts ``d`` and ``n_t``. A survey chooses who reports,
debits the ledger *before* any report exists, and returns noisy estimates. So whoever writes a mechanism
gets w-event epsilon-LDP for free, and cannot read a true count, reuse a user inside a window, or
overspend by a rounding error.

Under population division every reporter has a *phase*: her rank r in an order drawn once, independent of
all data, stands for the point r/n of a circle. A pointer runs round it; a share s asks the active
reporters of the next arc of length s. Shares of a window sum to at most 1, so arcs within a window are
disjoint; being asked does not depend on activity or cell, so an arc is an unbiased sample.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from mtsp_ldp.division import Division
from mtsp_ldp.ledger import FULL, ReporterLedger, WindowLedger
from mtsp_ldp.oracle import GRR, OUE, IntArray, Oracle
from mtsp_ldp.stream import Stream
from mtsp_ldp.survey import Answer, Question

_MOST_REPORTERS = 10**9  # the limit of numpy's hypergeometric draws

Presence = Literal["public", "private"]
Witness = Callable[[int, IntArray, float], None]
"""Told who reports: (t, reporters, epsilon of each report)."""


class Circle:
    """The pointer that runs round the phases of ``reporters`` ranks, in exact whole numbers."""

    def __init__(self, reporters: int) -> None:
        self._reporters = reporters
        self._pointer = 0

    def _rank(self, position: int) -> int:
        return -(-position * self._reporters // FULL)

    def arc(self, share: int) -> list[tuple[int, int]]:
        """Half-open ranges of the ranks whose phase lies in the next ``share`` units."""
        start, end = self._pointer, self._pointer + share
        ranges = [(self._rank(start), self._rank(min(end, FULL)))]
        if end > FULL:
            ranges.append((0, self._rank(end - FULL)))
        return ranges

    def advance(self, share: int) -> None:
        """Move on by ``share`` units."""
        self._pointer = (self._pointer + share) % FULL


@dataclass(frozen=True)
class _Asked:
    """The active reporters of some ranks: who they are where a panel knows it, and their cells."""

    ranges: list[tuple[int, int]]
    counts: IntArray
    who: IntArray | None = None
    absent: int = 0

    @property
    def everybody(self) -> IntArray:
        """Counts per cell, then those who are asked but absent, ``(d + 1,)``."""
        return np.append(self.counts, self.absent)


class Population(ABC):
    """Users who answer surveys under one division.

    Parameters
    ----------
    d
        Number of cells.
    reporters
        How many there are; each has a rank, and so a phase.
    division
        What a share of the window buys.
    window
        w, in timestamps.
    coins
        Public coins: phases and random groups.
    witness
        Told of every report, for audits; it decides nothing.
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
            raise ValueError(f"{reporters} reporters: from 1 to {_MOST_REPORTERS - 1} can be drawn from")
        self.d = d
        self._division = division
        self._ledger = WindowLedger(window)
        self._coins = coins
        self._witness = witness
        self._reporters = reporters
        self._circle = Circle(reporters)
        self._now = -1

    @abstractmethod
    def active(self, t: int) -> int:
        """n_t: how many reporters are active at t (public)."""

    def survey(self, t: int, questions: Sequence[Question], share: int) -> list[Answer] | None:
        """The one door: ask questions of the reporters whom ``share`` units of the window buy.

        Who reports is split uniformly at random into groups of equal size, one per question.

        Returns
        -------
        One answer per question; or None, and nothing is spent, if fewer would report than there are
        questions.

        Raises
        ------
        ValueError
            If there is no question, or one that is not over the d cells.
        PrivacyError
            If the window would overflow. No report exists then, and the state is as before.
        """
        if not questions or any(question.labels.size != self.d for question in questions):
            raise ValueError(f"questions: at least one, each over all {self.d} cells")
        self._check(t, share)
        if t != self._now:
            self._now = t
            self._turn(t)
        arc = self._division.arc(share)
        ranges = [(0, self._reporters)] if arc is None else self._circle.arc(arc)
        asked = self._present(t, ranges)
        if asked.everybody.sum() < len(questions):
            return None
        self._ledger.debit(t, share)
        if arc is not None:
            self._circle.advance(arc)
            self._commit(t, asked)
        oracles = [self._division.oracle(share, question.groups) for question in questions]
        if self._witness is not None:
            self._witness(t, self._identify(asked), max(oracle.epsilon for oracle in oracles))
        return self._answer(t, questions, oracles, asked)

    def _check(self, t: int, share: int) -> None:
        # an overspending request is refused even when nobody would answer it
        ledger = self._ledger
        if not isinstance(share, int) or share <= 0 or share > ledger.remaining(t):
            ledger.debit(t, share)

    @abstractmethod
    def _turn(self, t: int) -> None:
        """Take up the data of t."""

    @abstractmethod
    def _present(self, t: int, ranges: list[tuple[int, int]]) -> _Asked:
        """The active reporters among these ranks."""

    @abstractmethod
    def _commit(self, t: int, asked: _Asked) -> None:
        """Note that the reporters of an arc answer."""

    @abstractmethod
    def _identify(self, asked: _Asked) -> IntArray:
        """Ranks of those who report."""

    @abstractmethod
    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: _Asked
    ) -> list[Answer] | None:
        """Have the reports made, and estimate."""


class Simulated(Population):
    """A stream's users, whose reports are drawn in aggregate: the same law, whatever their number.

    Parameters
    ----------
    stream
        The users' data.
    noise
        Private coins: perturbation.
    replicate
        How many independent reporters each user stands for.
    presence
        ``public``: only active users report. ``private`` [extension]: whoever is asked reports, an absent
        user the perturbed all-zero vector; frequencies are then shares of all users.
    """

    def __init__(
        self,
        stream: Stream,
        *,
        division: Division,
        window: int,
        coins: np.random.Generator,
        noise: np.random.Generator,
        replicate: int = 1,
        witness: Witness | None = None,
        presence: Presence = "public",
    ) -> None:
        if replicate < 1:
            raise ValueError(f"replicate={replicate!r}: at least 1 reporter per user")
        super().__init__(
            stream.d,
            stream.users * replicate,
            division=division,
            window=window,
            coins=coins,
            witness=witness,
        )
        self._stream = stream
        self._noise = noise
        self._replicate = replicate
        self._hides = presence == "private"
        if self._hides and division.kind != "oue":
            raise ValueError("presence=private: only oue can report the all-zero vector of an absent user")

    def active(self, t: int) -> int:
        """n_t: how many reporters are active at t; all of them where presence is private."""
        return self._reporters if self._hides else int(self._stream.active[t]) * self._replicate

    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: _Asked
    ) -> list[Answer]:
        groups = split(asked.everybody, len(questions), self._coins)
        held = [question.count(group[: self.d]) for question, group in zip(questions, groups, strict=True)]
        sizes = [int(group.sum()) for group in groups]
        drawn = self._draw(oracles, held, sizes)
        return [
            answer_from(oracle, ones, size, self.active(t))
            for oracle, ones, size in zip(oracles, drawn, sizes, strict=True)
        ]

    def _hidden(self, asked: _Asked) -> _Asked:
        """The same, with those who are absent counted in where presence is private."""
        if not self._hides:
            return asked
        everybody = sum(end - start for start, end in asked.ranges)
        return replace(asked, absent=everybody - int(asked.counts.sum()))

    def _draw(self, oracles: Sequence[Oracle], held: list[IntArray], sizes: list[int]) -> list[IntArray]:
        # all unary questions in one draw of the generator: they have one epsilon
        unary = [place for place, oracle in enumerate(oracles) if isinstance(oracle, OUE)]
        drawn = [
            oracle.sample(h, self._noise) if isinstance(oracle, GRR) else h
            for oracle, h in zip(oracles, held, strict=True)
        ]
        if unary:
            widths = [held[place].size for place in unary]
            asked = np.repeat([sizes[place] for place in unary], widths)
            flat = np.concatenate([held[place] for place in unary])
            oracle = OUE(oracles[unary[0]].epsilon)
            parts = np.split(oracle.sample(flat, self._noise, asked), np.cumsum(widths)[:-1])
            for place, part in zip(unary, parts, strict=True):
                drawn[place] = part
        return drawn


def answer_from(oracle: Oracle, ones: IntArray, reporters: int, active: int) -> Answer:
    """The answer that reports make: estimates and their variance from the ones per group."""
    estimates = oracle.estimate(ones, reporters)
    return Answer(estimates, reporters, oracle.variance(reporters), active, oracle.gap, ones)


def group_sizes(n: int, groups: int, coins: np.random.Generator) -> IntArray:
    """Sizes of random groups that differ by at most one; which are larger is a public coin."""
    return np.asarray(n // groups + (coins.permutation(groups) < n % groups))


def split(counts: IntArray, groups: int, coins: np.random.Generator) -> list[IntArray]:
    """Split users into random groups whose sizes differ by at most one.

    Parameters
    ----------
    counts
        Users per cell, ``(d,)``.
    groups
        Number of groups; which of them are the larger ones is a public coin too.

    Returns
    -------
    Users per cell of each group: multivariate hypergeometric, so exact in law.
    """
    sizes = group_sizes(int(counts.sum()), groups, coins)
    parts, left = [], counts
    for size in sizes[:-1]:
        part = coins.multivariate_hypergeometric(left, size, method="marginals")
        parts.append(part)
        left = left - part
    return [*parts, left]


class Panel(Simulated):
    """Users whose cell at each t is known to themselves; arcs are looked up, user by user."""

    def __init__(self, stream: Stream, **kwargs: object) -> None:
        super().__init__(stream, **kwargs)  # type: ignore[arg-type]
        # the user of each rank; a reporter is known by her rank
        users = np.repeat(np.arange(stream.users, dtype=np.int32), self._replicate)
        self._owner = self._coins.permutation(users)
        self._cell = np.full(stream.users, -1, dtype=np.int64)
        self._seen = ReporterLedger(self._reporters, self._ledger.window)
        self._users = np.empty(0, dtype=np.int64)

    def _turn(self, t: int) -> None:
        self._cell[self._users] = -1
        self._users, cells = self._stream.at(t)
        self._cell[self._users] = cells

    def _present(self, t: int, ranges: list[tuple[int, int]]) -> _Asked:
        if ranges == [(0, self._reporters)]:
            return self._hidden(_Asked(ranges, self._stream.counts[t] * self._replicate))
        ranks = np.concatenate([np.arange(start, end) for start, end in ranges])
        owners = np.concatenate([self._owner[start:end] for start, end in ranges])
        cells = self._cell[owners]
        counts = np.bincount(cells + 1, minlength=self.d + 1)[1:]
        return self._hidden(_Asked(ranges, counts, ranks if self._hides else ranks[cells >= 0]))

    def _commit(self, t: int, asked: _Asked) -> None:
        self._seen.record(t, self._identify(asked))

    def _identify(self, asked: _Asked) -> IntArray:
        if asked.who is not None:
            return asked.who
        return np.flatnonzero(self._cell[self._owner] >= (-1 if self._hides else 0))


class Exchangeable(Simulated):
    """Counts only: at each t the active users are a fresh uniform subset with freshly dealt cells.

    The counts of an arc's active users are multivariate hypergeometric; two arcs of one t are drawn
    without replacement. Ten million users cost no more than ten thousand.
    """

    def _turn(self, t: int) -> None:
        self._left = self._stream.counts[t] * self._replicate
        self._unasked = self._reporters

    def _present(self, t: int, ranges: list[tuple[int, int]]) -> _Asked:
        asked = sum(end - start for start, end in ranges)
        if asked == self._reporters:
            return self._hidden(_Asked(ranges, self._stream.counts[t] * self._replicate))
        active = int(self._left.sum())
        present = int(self._coins.hypergeometric(active, self._unasked - active, asked))
        counts = self._coins.multivariate_hypergeometric(self._left, present, method="marginals")
        return self._hidden(_Asked(ranges, counts))

    def _commit(self, t: int, asked: _Asked) -> None:
        self._left = self._left - asked.counts
        self._unasked -= sum(end - start for start, end in asked.ranges)

    def _identify(self, asked: _Asked) -> IntArray:
        # identities are dealt afresh at each t, so every rank that is asked counts as reporting
        return np.concatenate([np.arange(start, end) for start, end in asked.ranges])


def populate(
    stream: Stream,
    *,
    division: Division,
    window: int,
    coins: np.random.Generator,
    noise: np.random.Generator,
    replicate: int = 1,
    witness: Witness | None = None,
    presence: Presence = "public",
) -> Simulated:
    """The population of a stream: a panel where users are known, else exchangeable users."""
    kind = Panel if stream.is_panel else Exchangeable
    return kind(
        stream,
        division=division,
        window=window,
        coins=coins,
        noise=noise,
        replicate=replicate,
        witness=witness,
        presence=presence,
    )
