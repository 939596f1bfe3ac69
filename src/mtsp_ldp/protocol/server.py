"""The server of the operator: any registered mechanism, over clients instead of a simulation.

The server knows who is active (public) and the noisy bits; nothing else reaches it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.foundation.files import BrokenFileError
from mtsp_ldp.foundation.state import State, capture, decode, encode, read_state, restore, write_state
from mtsp_ldp.mechanisms.session import Session
from mtsp_ldp.privacy.division import Division
from mtsp_ldp.privacy.ledger import PrivacyError, ReporterLedger
from mtsp_ldp.privacy.oracle import Oracle
from mtsp_ldp.privacy.population import Population, Reporters, answer_from, group_sizes
from mtsp_ldp.privacy.survey import NOT_ASKED, Answer, Answers, Question
from mtsp_ldp.privacy.units import Units
from mtsp_ldp.protocol.wire import MOST_CELLS, Report, Request, WireError, fingerprint, report_size

Transport = Callable[[Mapping[int, bytes]], Iterable[bytes]]
"""Function that delivers a request to each reporter, and returns the bytes that come back, in any order."""
STATE = 5
LAST = 2**31 - 1
"""The last timestamp that a ledger of reporters can hold."""


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


class Server:
    """Publishes a stream with a registered mechanism over clients, in constant memory.

    Parameters
    ----------
    mechanism
        A registered name; it fixes the division.
    d
        Number of cells.
    reporters
        Number of clients, numbered from 0.
    epsilon, window
        Terms that the clients agreed to.
    seed
        Seed of the public coins. Clients never use it.
    state
        File to save the state to before every question; None saves nowhere.
    options
        Options of the mechanism, and ``initial``, ``noise``, ``oracle``; ``presence`` is public here.

    Raises
    ------
    ValueError
        Naming a parameter or option, its value and what is allowed.
    TypeError
        If ``state`` is given and the mechanism remembers what cannot be restored: at the start, or before the
        first question after it.
    """

    def __init__(
        self,
        mechanism: str,
        d: int,
        reporters: int,
        *,
        epsilon: float,
        window: int,
        seed: int,
        state: Path | None = None,
        **options: Any,
    ) -> None:
        if not 1 <= d <= MOST_CELLS:
            raise ValueError(f"d={d!r}: must be 1 to {MOST_CELLS} cells, which fit into a request")
        coins = np.random.default_rng(seed)
        self._session = Session(mechanism, d, epsilon=epsilon, window=window, coins=coins, **options)
        if self._session.presence != "public":
            raise ValueError("presence='private': must be public over clients; the inactive answer nothing")
        self._terms = {"mechanism": mechanism, "d": d, "reporters": reporters, "seed": seed}
        self._terms |= {"epsilon": epsilon, "window": window, **options}
        self.fleet = Fleet(d, reporters, self._session.division, window, coins)
        self._made = self._session.made()
        self._t = -1
        self._state = state
        if state is not None:
            self._take()  # what cannot be saved is refused at the start

    def step(self, t: int, active: npt.ArrayLike, transport: Transport) -> FloatArray:
        """Publish at t.

        Parameters
        ----------
        t
            Timestamp, later than any before; a t that was begun before a crash is not begun again.
        active
            Numbers of the active clients.
        transport
            Function that delivers requests and returns reports.

        Returns
        -------
        FloatArray
            Released frequencies, ``(d,)``.
        """
        if t <= self._t:
            raise ValueError(f"t={t}: must be above {self._t}, the last t")
        if t > LAST:
            raise ValueError(f"t={t}: must be at most {LAST}")
        self._t = int(t)
        self.fleet.roll_call(active)
        self.fleet.transport = transport
        self.fleet.journal = None if self._state is None else lambda: self.save(self._state)  # type: ignore[arg-type]
        self._session.step(t, self.fleet)
        if self._state is not None:
            self.save(self._state)
        return self.frequencies

    @property
    def frequencies(self) -> FloatArray:
        """Current release, ``(d,)``."""
        return self._session.frequencies.copy()

    def _take(self) -> State:
        return {
            "version": STATE,
            "terms": {name: encode(value, name) for name, value in self._terms.items()},
            "t": self._t,
            "file": None if self._state is None else str(self._state),
            "fleet": self.fleet.state(),
            **self._session.state(self._made),
        }

    def save(self, path: Path) -> None:
        """Write the whole state as JSON and arrays in one npz; it appears whole or not at all."""
        write_state(path, self._take())

    @classmethod
    def restore(cls, path: Path) -> "Server":
        """Make the server again as it was saved.

        Raises
        ------
        BrokenFileError
            If the file is not a server's state of this version.
        """
        state = read_state(path)
        if state.get("version") != STATE:
            raise BrokenFileError(f"{path}: must be a server's state of version {STATE}")
        file = state["file"]
        terms = {name: decode(value) for name, value in state["terms"].items()}
        server = cls(**terms, state=None if file is None else Path(file))
        server._t = state["t"]
        server.fleet.restore(state["fleet"])
        server._session.restore(state)
        return server
