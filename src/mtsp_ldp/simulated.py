"""Users of a stream behind the door, whose reports are drawn in aggregate: the same law, whatever n.

A *panel* knows each user's cell at each t; *exchangeable* users are known by their counts only.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Literal

import numpy as np
import numpy.typing as npt

from mtsp_ldp.division import Division
from mtsp_ldp.ledger import ReporterLedger
from mtsp_ldp.oracle import GRR, FloatArray, IntArray, Oracle
from mtsp_ldp.population import Population, Witness, _Asked, group_sizes
from mtsp_ldp.stream import Stream
from mtsp_ldp.survey import Answer, Question

Presence = Literal["public", "private"]


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
        self._active = (stream.active * replicate).tolist()
        if self._hides and division.kind != "oue":
            raise ValueError("presence=private: only oue can report the all-zero vector of an absent user")

    def active(self, t: int) -> int:
        """n_t: how many reporters are active at t; all of them where presence is private."""
        return self._reporters if self._hides else int(self._active[t])

    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: _Asked
    ) -> list[Answer]:
        groups, sizes = [asked.counts], [asked.number]
        if len(questions) > 1:
            everybody = np.concatenate([asked.counts, [asked.absent]])
            sizes = group_sizes(asked.number, len(questions), self._coins).tolist()
            groups = deal(everybody, sizes, self._coins)
        held = [question.count(group[: self.d]) for question, group in zip(questions, groups, strict=True)]
        active = self.active(t)
        return [
            Answer(estimates, size, oracle.variance(size), active, oracle.gap, ones)
            for oracle, size, (ones, estimates) in zip(
                oracles, sizes, self._report(oracles, held, sizes), strict=True
            )
        ]

    def _hidden(self, asked: _Asked) -> _Asked:
        """The same, with those who are absent counted in where presence is private."""
        if not self._hides:
            return asked
        everybody = sum(end - start for start, end in asked.ranges)
        return replace(asked, absent=everybody - int(asked.counts.sum()))

    def _report(
        self, oracles: Sequence[Oracle], held: list[IntArray], sizes: list[int]
    ) -> list[tuple[IntArray, FloatArray]]:
        """Ones and estimates of each question."""
        made: dict[int, tuple[IntArray, FloatArray]] = {}
        together = {}
        for place, oracle in enumerate(oracles):
            if isinstance(oracle, GRR):
                ones = oracle.sample(held[place], self._noise)
            elif len(oracles) == 1:
                ones = oracle.sample(held[place], self._noise, sizes[place])
            else:
                together[place] = oracle
                continue
            made[place] = ones, oracle.estimate(ones, sizes[place])
        if together:
            # all unary ones in one draw: they have one epsilon
            oue, widths = next(iter(together.values())), [held[place].size for place in together]
            asked = np.array([sizes[place] for place in together]).repeat(widths)
            ones = oue.sample(np.concatenate([held[place] for place in together]), self._noise, asked)
            estimates = oue.estimate(ones, asked)
            for place, end in zip(together, accumulate(widths), strict=True):
                here = slice(end - held[place].size, end)
                made[place] = ones[here], estimates[here]
        return [made[place] for place in range(len(oracles))]


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
    return deal(counts, group_sizes(int(counts.sum()), groups, coins).tolist(), coins)


def deal(counts: IntArray, sizes: Sequence[int], coins: np.random.Generator) -> list[IntArray]:
    """Deal all users at random into groups of these sizes; users per cell of each."""
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
        self._owner = self._coins.permutation(users).astype(np.intp)
        self._seen = ReporterLedger(self._reporters, self._ledger.window)
        self._cells = np.full(stream.users, -1, dtype=np.int32)
        self._users = np.empty(0, dtype=np.intp)
        self._known = -1

    def _turn(self, t: int) -> None:
        pass

    @property
    def _cell(self) -> npt.NDArray[np.int32]:
        """Cell of each user now, -1 where she is not active; not looked up where counts are enough."""
        if self._known != self._now:
            self._known = self._now
            self._cells[self._users] = -1
            users, cells = self._stream.at(self._now)
            self._users = users.astype(np.intp)  # to index with another type takes three times as long
            self._cells[self._users] = cells
        return self._cells

    def _present(self, t: int, ranges: list[tuple[int, int]]) -> _Asked:
        if ranges == [(0, self._reporters)]:
            return self._hidden(_Asked(ranges, self._stream.counts[t] * self._replicate))
        ranks = np.concatenate([np.arange(start, end) for start, end in ranges])
        owners = np.concatenate([self._owner[start:end] for start, end in ranges])
        cells = self._cell[owners]
        here = np.flatnonzero(cells >= 0)
        counts = np.bincount(cells[here], minlength=self.d)
        return self._hidden(_Asked(ranges, counts, ranks if self._hides else ranks[here]))

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
        self._here = self._left = self._stream.counts[t] * self._replicate
        self._unasked = self._reporters

    def _present(self, t: int, ranges: list[tuple[int, int]]) -> _Asked:
        asked = sum(end - start for start, end in ranges)
        if asked == self._reporters:
            return self._hidden(_Asked(ranges, self._here))
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
