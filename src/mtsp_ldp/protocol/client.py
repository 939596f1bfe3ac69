"""The client on a phone. It trusts no server: it has its clock, its ledger and its random numbers."""

import fcntl
import json
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
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

    Raises
    ------
    ValueError
        For invalid terms, or a ledger that is damaged or was kept on other terms.
    """

    def __init__(
        self,
        reporter: int,
        cells: int,
        epsilon: float,
        window: int,
        noise: Any = None,
        ledger: Path | None = None,
    ) -> None:
        self.reporter = integer("reporter", reporter, least=0)
        self._cells, self._window = integer("cells", cells, least=1), integer("window", window, least=1)
        self._epsilon = positive("epsilon", epsilon)
        self._noise: Any = SystemNoise() if noise is None else noise
        self._ledger = ledger
        self._spent: list[tuple[int, float]] = []
        self._now = -1
        self._cell: int | None = None
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
        if t < self._now:
            raise ValueError(f"t={t}: must be at least {self._now}, her clock's t")
        if cell is not None:
            cell = integer("cell", cell, 0, self._cells - 1)
        self._now, self._cell = t, cell

    def answer(self, raw: bytes) -> bytes:
        """Answer a request with one perturbed report.

        Raises
        ------
        WireError
            If the bytes are no request.
        Refusal
            If she is inactive, if the request is not of her clock's t or not over the agreed cells, or if
            her window would overflow.
        """
        request = Request.decode(raw)
        if self._cell is None:
            raise Refusal(f"reporter {self.reporter} is inactive")
        if request.question.cells != self._cells:
            raise Refusal(f"{request.question.cells} cells: {self._cells} were agreed upon")
        with self._locked_ledger():
            if request.t != self._now:
                raise Refusal(f"t={request.t}: it is t={self._now} here")
            self._spend(request.epsilon)
        group = request.question.labels[self._cell]
        bits = request.make_oracle().perturb([group], request.question.groups, self._noise)[0]
        return Report(request.t, fingerprint(raw), self.reporter, bits).encode()

    def _spend(self, epsilon: float) -> None:
        """Spend now, or refuse."""
        recent = [(t, spent) for t, spent in self._spent if t > self._now - self._window]
        # exact in sign: the least excess over what is left is refused too
        if not math.fsum([-self._epsilon, *(spent for _, spent in recent), epsilon]) <= 0:
            total = math.fsum([*(spent for _, spent in recent), epsilon])
            raise Refusal(f"t={self._now}: the window would spend {total:.6g} of {self._epsilon:.6g}")
        self._spent = [*recent, (self._now, epsilon)]
        if self._ledger is not None:
            kept = {"terms": self._terms, "now": self._now, "spent": self._spent}
            with atomic_write(self._ledger, durable=True) as partial:
                partial.write_text(json.dumps(kept))

    @property
    def _terms(self) -> dict[str, float]:
        return {"cells": self._cells, "epsilon": self._epsilon, "window": self._window}

    @contextmanager
    def _locked_ledger(self) -> Iterator[None]:
        """Lock the ledger and read it again, so that no other program spends meanwhile."""
        if self._ledger is None:
            yield
            return
        self._ledger.parent.mkdir(parents=True, exist_ok=True)
        with self._ledger.with_name(f".{self._ledger.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._recall()
            yield

    def _recall(self) -> None:
        """Read the ledger from its file; time does not run back to before it."""
        if self._ledger is None or not self._ledger.exists():
            return
        try:
            kept = json.loads(self._ledger.read_text())
            now, spent = int(kept["now"]), [(int(t), float(each)) for t, each in kept["spent"]]
            sound = all(math.isfinite(each) and each > 0 for _, each in spent)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{self._ledger}: no whole ledger ({error!r}); restore it") from None
        if not sound:
            raise ValueError(f"{self._ledger}: no whole ledger (a spending is not above 0); restore it")
        if kept["terms"] != self._terms:
            raise ValueError(f"{self._ledger}: kept on the terms {kept['terms']}, not {self._terms}")
        self._now, self._spent = max(self._now, now), spent
