"""Clients behind the survey: requests go out, valid reports are added up, and all others are counted."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.foundation.state import State, capture, restore
from mtsp_ldp.privacy.division import Division
from mtsp_ldp.privacy.ledger import PrivacyError, ReporterLedger
from mtsp_ldp.privacy.oracle import Oracle
from mtsp_ldp.privacy.population import Population, Reporters, answer_from, group_sizes
from mtsp_ldp.privacy.survey import NOT_ASKED, Answer, Answers, Question
from mtsp_ldp.privacy.units import Units
from mtsp_ldp.protocol.wire import Report, Request, WireError, fingerprint, report_size

Transport = Callable[[Mapping[int, bytes]], Iterable[bytes]]
"""Function that delivers a request to each reporter, and returns the bytes that come back, in any order."""


class Fleet(Population):
    """Clients behind the survey; malformed, late, duplicate or oversized reports are counted and not used."""

    def __init__(
        self, d: int, reporters: int, division: Division, window: int, coins: np.random.Generator
    ) -> None:
        super().__init__(d, reporters, division=division, window=window, coins=coins)
        self._id = self._coins.permutation(reporters)
        self._present_now = np.zeros(reporters, dtype=bool)
        self._seen = ReporterLedger(reporters, window)
        self._serial = 0
        self.rejected: Counter[str] = Counter()
        self.transport: Transport | None = None
        self.journal: Callable[[], None] | None = None

    def state(self) -> State:
        """Take all that changes: ledgers, pointer, coins, counts of rejected reports."""
        return capture(self, "fleet", leave=("transport", "journal"))

    def restore(self, state: State) -> None:
        """Go on where `state` was taken."""
        restore(self, state)

    def roll_call(self, active: npt.ArrayLike) -> None:
        """Note who is active now, by number (public)."""
        self._present_now[:] = False
        self._present_now[np.asarray(active, dtype=np.int64)] = True

    def active(self, t: int) -> int:
        """Count the clients who are active now: n_t."""
        return int(self._present_now.sum())

    def survey(self, t: int, questions: Sequence[Question], share: Units) -> Answers:
        """Survey as `Population.survey` does; count what the ledger refuses, and ask nobody then."""
        try:
            return super().survey(t, questions, share)
        except PrivacyError:
            self.rejected["request refused by the ledger"] += 1
            return NOT_ASKED

    def _turn(self, t: int) -> None:
        pass

    def _present(self, t: int, ranges: list[tuple[int, int]]) -> Reporters:
        ranks = np.concatenate([np.arange(start, end) for start, end in ranges])
        who = ranks[self._present_now[self._id[ranks]]]
        nowhere = np.empty(0, dtype=np.int64)  # only they know their cells
        return Reporters(ranges, nowhere, who.size, who)

    def _commit(self, t: int, asked: Reporters) -> None:
        self._seen.record(t, self._identify(asked))

    def _identify(self, asked: Reporters) -> IntArray:
        assert asked.who is not None
        return asked.who

    def _answer(
        self, t: int, questions: Sequence[Question], oracles: Sequence[Oracle], asked: Reporters
    ) -> list[Answer]:
        self._serial += 1
        if self.journal is not None:
            self.journal()  # the arc is on record before anybody is asked
        if self.transport is None:
            raise RuntimeError("no transport")
        who = self._coins.permutation(self._id[self._identify(asked)])
        sizes = group_sizes(who.size, len(questions), self._coins)
        place = dict(zip(who.tolist(), np.repeat(np.arange(sizes.size), sizes).tolist(), strict=True))
        raw = [
            Request.of(t, self._serial, oracle, question).encode()
            for oracle, question in zip(oracles, questions, strict=True)
        ]
        ones = [np.zeros(question.groups, dtype=np.int64) for question in questions]
        heard = self._hear(t, place, raw, ones, self.transport({i: raw[q] for i, q in place.items()}))
        if 0 in heard:
            return []
        return [
            answer_from(oracle, count, number, self.active(t))
            for oracle, count, number in zip(oracles, ones, heard, strict=True)
        ]

    def _hear(
        self,
        t: int,
        place: dict[int, int],
        raw: list[bytes],
        ones: list[IntArray],
        reports: Iterable[bytes],
    ) -> list[int]:
        """Add up the valid reports; return how many there are of each question."""
        marks, done, heard = [fingerprint(request) for request in raw], set(), [0] * len(raw)
        largest = max(report_size(count.size) for count in ones)
        for message in reports:
            reason = "oversized" if len(message) > largest else None
            if reason is None:
                try:
                    report = Report.decode(message)
                except WireError:
                    reason = "malformed"
            if reason is None:
                question = place.get(report.reporter)
                if report.t != t:
                    reason = "late" if report.t < t else "early"
                elif question is None or report.request != marks[question]:
                    reason = "not asked"
                elif report.reporter in done:
                    reason = "duplicate"
                elif report.bits.size != ones[question].size:
                    reason = "malformed"
            if reason is not None:
                self.rejected[reason] += 1
                continue
            assert question is not None
            done.add(report.reporter)
            ones[question] += report.bits
            heard[question] += 1
        if missing := len(place) - len(done):
            self.rejected["missing"] += missing
        return heard
