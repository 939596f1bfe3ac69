"""Users of a stream behind the survey, whose reports are drawn in aggregate: the same law, whatever n.

A *panel* knows each user's cell at each t; *exchangeable* users are known by their counts only.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import accumulate, repeat

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.foundation.seeds import Generators
from mtsp_ldp.privacy.dealing import deal
from mtsp_ldp.privacy.division import Division
from mtsp_ldp.privacy.ledger import ReporterLedger
from mtsp_ldp.privacy.oracle import OUE, Oracle
from mtsp_ldp.privacy.population import Population, Reporters, Witness, answer_from, group_sizes
from mtsp_ldp.privacy.survey import Answer, Presence, Question
from mtsp_ldp.streams.stream import Stream


class StreamPopulation(Population):
    """A stream's users, whose reports are drawn in aggregate: the same law, whatever their number.

    Parameters
    ----------
    stream
        The users' data.
    random
        Public coins, the users' noise, and the chance that puts users into arcs and groups.
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
        random: Generators,
        replicate: int = 1,
        witness: Witness | None = None,
        presence: Presence = "public",
    ) -> None:
        if replicate < 1:
            raise ValueError(f"replicate={replicate!r}: must be at least 1 reporter per user")
        super().__init__(
            stream.d,
            stream.users * replicate,
            division=division,
            window=window,
            coins=random.coins,
            witness=witness,
        )
        self._stream = stream
        self._noise, self._people = random.noise, random.people
        self._replicate = replicate
        self._hides = presence == "private"
        self._counts = stream.counts.view() if replicate == 1 else stream.counts * replicate
        self._counts.flags.writeable = False  # it is handed around, and is the truth
        self._active = (stream.active * replicate).tolist()
        if self._hides and division.oracle_kind != "oue":
            raise ValueError(
                "presence='private': oracle must be oue: an absent user reports the all-zero vector"
            )

    def active(self, t: int) -> int:
        """Count the reporters who are active at t (n_t); all of them where presence is private."""
        return self._reporters if self._hides else self._active[t]

    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: Reporters
    ) -> list[Answer]:
        if len(questions) == 1:
            truth, sizes = [questions[0].count(asked.counts)], [asked.number]
        else:
            sizes = group_sizes(asked.number, len(questions), self._coins).tolist()
            truth = deal(questions, asked.counts, asked.absent, sizes, self._people)
        ones = self._report(oracles, truth, sizes)
        return list(map(answer_from, oracles, ones, sizes, repeat(self.active(t))))

    def _present(self, t: int, ranges: list[tuple[int, int]]) -> Reporters:
        if ranges == [(0, self._reporters)]:
            return self._hidden(Reporters(ranges, self._counts[t], self._active[t]))
        return self._hidden(self._sampled(t, ranges))

    @abstractmethod
    def _sampled(self, t: int, ranges: list[tuple[int, int]]) -> Reporters:
        """Find the active reporters among some of the ranks."""

    def _hidden(self, asked: Reporters) -> Reporters:
        """Add the absent reporters where presence is private."""
        if not self._hides:
            return asked
        everybody = sum(end - start for start, end in asked.ranges)
        return asked._replace(number=everybody, absent=everybody - asked.number)

    def _report(self, oracles: Sequence[Oracle], truth: list[IntArray], sizes: list[int]) -> list[IntArray]:
        """Draw the ones of each question."""
        first = oracles[0]
        if len(oracles) > 1 and isinstance(first, OUE) and all(isinstance(oracle, OUE) for oracle in oracles):
            # in one draw: all have one epsilon
            widths = [counts.size for counts in truth]
            drawn = first.sample(np.concatenate(truth), self._noise, np.array(sizes).repeat(widths))
            ends = list(accumulate(widths))
            return [drawn[end - width : end] for end, width in zip(ends, widths, strict=True)]
        asked = zip(oracles, truth, sizes, strict=True)
        return [oracle.sample(counts, self._noise, size) for oracle, counts, size in asked]


class Panel(StreamPopulation):
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

    def _sampled(self, t: int, ranges: list[tuple[int, int]]) -> Reporters:
        ranks = np.concatenate([np.arange(start, end) for start, end in ranges])
        owners = np.concatenate([self._owner[start:end] for start, end in ranges])
        cells = self._cell[owners]
        here = np.flatnonzero(cells >= 0)
        counts = np.bincount(cells[here], minlength=self.d)
        return Reporters(ranges, counts, here.size, ranks if self._hides else ranks[here])

    def _commit(self, t: int, asked: Reporters) -> None:
        self._seen.record(t, self._identify(asked))

    def _identify(self, asked: Reporters) -> IntArray:
        if asked.who is not None:
            return asked.who
        return np.flatnonzero(self._cell[self._owner] >= (-1 if self._hides else 0))


class Exchangeable(StreamPopulation):
    """Counts only: at each t the active users are a fresh uniform subset with freshly dealt cells.

    The counts of an arc's active users are multivariate hypergeometric; two arcs of one t are drawn
    without replacement. Ten million users cost no more than ten thousand.
    """

    def _turn(self, t: int) -> None:
        self._left, self._left_active = self._counts[t], self._active[t]
        self._unasked = self._reporters

    def _sampled(self, t: int, ranges: list[tuple[int, int]]) -> Reporters:
        asked = sum(end - start for start, end in ranges)
        active = self._left_active
        chance = self._people if self._hides else self._coins  # who is present is public, or not
        present = int(chance.hypergeometric(active, self._unasked - active, asked))
        counts = self._people.multivariate_hypergeometric(self._left, present, method="marginals")
        return Reporters(ranges, counts, present)

    def _commit(self, t: int, asked: Reporters) -> None:
        self._left = self._left - asked.counts
        self._left_active -= asked.number - asked.absent
        self._unasked -= sum(end - start for start, end in asked.ranges)

    def _identify(self, asked: Reporters) -> IntArray:
        # identities are dealt afresh at each t, so every rank that is asked counts as reporting
        return np.concatenate([np.arange(start, end) for start, end in asked.ranges])


def populate(
    stream: Stream,
    *,
    division: Division,
    window: int,
    random: Generators,
    replicate: int = 1,
    witness: Witness | None = None,
    presence: Presence = "public",
) -> StreamPopulation:
    """Make the population of a stream: a panel where users are known, else exchangeable users."""
    population = Panel if stream.is_panel else Exchangeable
    return population(
        stream,
        division=division,
        window=window,
        random=random,
        replicate=replicate,
        witness=witness,
        presence=presence,
    )
