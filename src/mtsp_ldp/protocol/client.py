"""The client on a phone. It trusts no server: it has its clock, its ledger and its random numbers."""

import fcntl
import json
import math
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.foundation.numbers import integer, positive
from mtsp_ldp.protocol.wire import Report, Request, fingerprint


class Refusal(Exception):
    """A request that this client does not answer; no report exists."""


class SystemNoise:
    """Uniform numbers from the operating system's source, as far as the oracles ask for them."""

    def __init__(self) -> None:
        self._source = random.SystemRandom()

    def random(self, shape: int | tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Draw uniform numbers on [0, 1), of 53 bits."""
        size = int(np.prod(shape))
        return np.array([self._source.random() for _ in range(size)]).reshape(shape)

    def integers(
        self, low: int, high: int, shape: int | tuple[int, ...], dtype: type[np.integer[Any]] = np.int64
    ) -> npt.NDArray[np.integer[Any]]:
        """Draw uniform integers in low..high-1."""
        size = int(np.prod(shape))
        return np.array([self._source.randrange(low, high) for _ in range(size)], dtype).reshape(shape)


class Client:
    """One user: her clock, her cell, her window ledger, her answers.

    Whether she answers depends on what she is asked, on her clock, on her ledger and on whether she is active
    (which is public); never on her cell. A refusal changes nothing. Her reports are w-event epsilon-LDP:
    their neighbouring relation is w-neighbouring, two streams that differ in her cells within some window of
    w timestamps.

    Parameters
    ----------
    reporter
        Number of the client at the server; it decides when she is asked, and tells nothing of where she is.
    cells
        Number of cells that she agreed to be asked about, d.
    epsilon, window
        Terms that she agreed to: in any ``window`` consecutive timestamps her reports spend at most epsilon.
    noise
        Source of random numbers; the operating system's by default. A seeded generator is for tests only.
    ledger
        File in which each spending is written before its report exists, so that it survives a restart of the
        phone and is shared by all programs on it. None keeps the ledger in memory only.
    create
        True makes the ledger if there is none: on first use only, since a client whose ledger is lost does
        not know what she has told.

    Raises
    ------
    ValueError
        For invalid terms, or a ledger that is missing, damaged, another reporter's, kept on other terms, or
        older than what this client remembers of it.
    """

    def __init__(
        self,
        reporter: int,
        cells: int,
        epsilon: float,
        window: int,
        noise: Any = None,
        ledger: Path | None = None,
        *,
        create: bool = False,
    ) -> None:
        self.reporter = integer("reporter", reporter, least=0)
        self._cells, self._window = integer("cells", cells, least=1), integer("window", window, least=1)
        self._epsilon = positive("epsilon", epsilon)
        self._noise: Any = SystemNoise() if noise is None else noise
        self._ledger = ledger
        self._spent: list[tuple[int, float]] = []
        self._here: tuple[int, int | None] = (-1, None)  # her clock and her cell, one value
        self._told = -1  # the last t that the ledger has
        self._one_at_a_time = Lock()
        with self._locked_ledger():
            if create and ledger is not None and not ledger.exists():
                self._write(-1, [])
            self._recall()

    def turn(self, t: int, cell: int | None) -> None:
        """Move her clock to timestamp t, and her to a cell (None: inactive).

        The cell never leaves the client.

        Raises
        ------
        ValueError
            If her clock ran backwards, or the cell is none of those agreed upon.
        """
        t = integer("t", t)
        if cell is not None:
            cell = integer("cell", cell, 0, self._cells - 1)
        with self._one_at_a_time:
            now = max(self._here[0], self._told)
            if t < now:
                raise ValueError(f"t={t}: must be at least {now}, her clock's t")
            self._here = t, cell

    def answer(self, raw: bytes) -> bytes:
        """Answer a request with one perturbed report.

        Raises
        ------
        WireError
            If the bytes are no request.
        Refusal
            If she is inactive, if the request is not of her clock's t or not over the agreed cells, if
            another program with her ledger is at a later t, or if her window would overflow.
        """
        request = Request.decode(raw)
        with self._one_at_a_time, self._locked_ledger():
            self._recall()
            now, cell = self._here
            if cell is None:
                raise Refusal(f"reporter {self.reporter} is inactive")
            if request.question.cells != self._cells:
                raise Refusal(f"{request.question.cells} cells: {self._cells} were agreed upon")
            if self._told > now:
                raise Refusal(f"t={request.t}: it is t={now} here, and t={self._told} in her ledger")
            if request.t != now:
                raise Refusal(f"t={request.t}: it is t={now} here")
            self._spend(now, request.epsilon)
        group = request.question.labels[cell]
        bits = request.make_oracle().perturb([group], request.question.groups, self._noise)[0]
        return Report(request.t, fingerprint(raw), self.reporter, bits).encode()

    def _spend(self, now: int, epsilon: float) -> None:
        """Spend now, or refuse."""
        recent = [(t, spent) for t, spent in self._spent if t > now - self._window]
        # exact in sign: the least excess over what is left is refused too
        if not math.fsum([-self._epsilon, *(spent for _, spent in recent), epsilon]) <= 0:
            total = math.fsum([*(spent for _, spent in recent), epsilon])
            raise Refusal(f"t={now}: the window would spend {total:.6g} of {self._epsilon:.6g}")
        spent = [*recent, (now, epsilon)]
        self._write(now, spent)
        self._told, self._spent = now, spent

    def _write(self, now: int, spent: list[tuple[int, float]]) -> None:
        if self._ledger is not None:
            with atomic_write(self._ledger, durable=True) as partial:
                partial.write_text(json.dumps({"terms": self._terms, "now": now, "spent": spent}))

    @property
    def _terms(self) -> dict[str, float]:
        return {
            "reporter": self.reporter,
            "cells": self._cells,
            "epsilon": self._epsilon,
            "window": self._window,
        }

    @contextmanager
    def _locked_ledger(self) -> Iterator[None]:
        """Lock the ledger, so that no other program spends meanwhile."""
        if self._ledger is None:
            yield
            return
        self._ledger.parent.mkdir(parents=True, exist_ok=True)
        with self._ledger.with_name(f".{self._ledger.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _recall(self) -> None:
        """Read the ledger from its file, which may know more than this client, but not less."""
        if self._ledger is None:
            return
        try:
            kept = json.loads(self._ledger.read_text(encoding="utf-8"))
            now = integer("now", kept["now"], least=-1)
            spent = [(integer("t", t, 0, now), positive("spent", each)) for t, each in kept["spent"]]
            terms = kept["terms"]
        except FileNotFoundError:
            raise ValueError(
                f"{self._ledger}: no such ledger; create=True makes one on first use, a lost one must be "
                "restored"
            ) from None
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{self._ledger}: no whole ledger ({error!r}); restore it") from None
        if terms != self._terms:
            raise ValueError(f"{self._ledger}: kept on the terms {terms}, not {self._terms}")
        known = [(t, each) for t, each in self._spent if t > now - self._window]
        if now < self._told or Counter(known) - Counter(spent):
            raise ValueError(
                f"{self._ledger}: no whole ledger (it lacks what this client has spent up to "
                f"t={self._told}); restore it"
            )
        self._told, self._spent = now, spent
