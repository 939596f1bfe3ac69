"""What runs on a phone. It trusts no server: it keeps its own ledger and its own random numbers."""

import math
import random
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.protocol.wire import Report, Request, fingerprint


class Refusal(Exception):
    """A request that this client does not answer; nothing was told."""


class SystemNoise:
    """Uniform numbers from the operating system's source, as far as the oracles ask for them."""

    def __init__(self) -> None:
        self._source = random.SystemRandom()

    def random(self, shape: int | tuple[int, ...]) -> npt.NDArray[np.float64]:
        """Uniform on [0, 1), of 53 bits."""
        size = int(np.prod(shape))
        return np.array([self._source.random() for _ in range(size)]).reshape(shape)

    def integers(
        self, low: int, high: int, shape: int | tuple[int, ...], dtype: type[np.integer[Any]] = np.int64
    ) -> npt.NDArray[np.integer[Any]]:
        """Uniform whole numbers in low..high-1."""
        size = int(np.prod(shape))
        return np.array([self._source.randrange(low, high) for _ in range(size)], dtype).reshape(shape)


class Client:
    """One user: her cell, her window ledger, her answers.

    Parameters
    ----------
    reporter
        Her number at the server; it says when she is asked, and nothing of where she is.
    epsilon, window
        What she agreed to: in any ``window`` consecutive timestamps her reports spend at most epsilon.
    noise
        Random numbers; the operating system's by default. A seeded generator is for tests only.

    Attributes
    ----------
    cell
        Where she is; None is inactive. It never leaves the client.
    """

    def __init__(self, reporter: int, epsilon: float, window: int, noise: Any = None) -> None:
        self.reporter = reporter
        self.cell: int | None = None
        self._epsilon = epsilon
        self._window = window
        self._noise: Any = SystemNoise() if noise is None else noise
        self._spent: deque[tuple[int, float]] = deque()
        self._now = -1

    def answer(self, raw: bytes) -> bytes:
        """One perturbed report.

        Raises
        ------
        WireError
            If the bytes are no request.
        Refusal
            If she is inactive, if t lies before an earlier request, or if her window would overflow.
        """
        request = Request.decode(raw)
        if self.cell is None:
            raise Refusal(f"reporter {self.reporter} is inactive")
        if request.t < self._now:
            raise Refusal(f"t={request.t}: already at t={self._now}")
        if not 0 <= self.cell < request.question.labels.size:
            raise Refusal(f"cell {self.cell} is not in the question")
        while self._spent and self._spent[0][0] <= request.t - self._window:
            self._spent.popleft()
        total = math.fsum([*(spent for _, spent in self._spent), request.epsilon])
        if total > self._epsilon:
            raise Refusal(f"t={request.t}: the window would spend {total:.6g} of {self._epsilon:.6g}")
        # spent before the report exists
        self._now = request.t
        self._spent.append((request.t, request.epsilon))
        group = request.question.labels[self.cell]
        bits = request.make_oracle().perturb([group], request.question.groups, self._noise)[0]
        return Report(request.t, fingerprint(raw), self.reporter, bits).encode()
