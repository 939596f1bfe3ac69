"""What error a stream can be released with, before anything is run: closed forms where there are some.

Source: the exact variance of an OUE estimate (spec: 4e^ε / (n (e^ε - 1)²) + f/n), plus the sampling error of
those who are asked, plus how far the stream moves until the next publication.
"""

from functools import cached_property

import numpy as np
import numpy.typing as npt

from mtsp_ldp.oracle import OUE, FloatArray
from mtsp_ldp.stream import Stream

CLOSED_FORMS = ("lbu", "lpu", "lsp")
"""Mechanisms whose expected error is known without a simulation."""
_PHASES = 10
_SEARCHED = (1e-2, 1e2)


class Expectation:
    """Expected mean squared errors of released frequencies (raw) of one stream.

    Parameters
    ----------
    stream
        A prepared stream.
    replicate
        Independent reporters of each user; the stream's own by default.
    """

    def __init__(self, stream: Stream, replicate: int | None = None) -> None:
        here = stream.active > 0
        self.active: FloatArray = np.multiply(stream.active[here], float(replicate or stream.replicate))
        """Reporters at each timestamp with somebody, ``(T',)``."""
        self._frequencies = stream.frequencies[here]
        self._times = np.flatnonzero(here)

    @cached_property
    def floors(self) -> dict[str, float]:
        """Error of publishing 0, and of publishing 1/d, for ever."""
        squares = float((self._frequencies**2).mean())
        d = self._frequencies.shape[1]
        return {"zero": squares, "uniform": squares - 1.0 / d**2}

    @property
    def floor(self) -> float:
        """The least error of publishing nothing."""
        return min(self.floors.values())

    def error(self, mechanism: str, epsilon: float, window: int) -> float:
        """Expected mean squared error over timestamps and cells.

        Parameters
        ----------
        mechanism
            One of `CLOSED_FORMS`.
        epsilon, window
            Budget of every window of so many timestamps.

        Raises
        ------
        KeyError
            For a mechanism without a closed form.
        """
        return {"lbu": self._lbu, "lpu": self._lpu, "lsp": self._lsp}[mechanism](epsilon, window)

    def deviation(self, mechanism: str, epsilon: float, window: int) -> float:
        """Standard deviation of one released frequency where a uniform mechanism publishes it.

        The mean of the noise variance over time, without the cell's own share in it.
        """
        if mechanism == "lbu":
            return float(np.sqrt((OUE(epsilon / window).variance(1) / self.active).mean()))
        asked = self.active / window if mechanism == "lpu" else self.active
        return float(np.sqrt((OUE(epsilon).variance(1) / asked).mean()))

    def least_epsilon(self, mechanism: str, window: int) -> float | None:
        """The smallest budget, of 0.01 to 100, with which a mechanism beats the floors; None if none does."""
        low, high = _SEARCHED
        if self.error(mechanism, high, window) >= self.floor:
            return None
        for _ in range(40):
            middle = float(np.sqrt(low * high))
            if self.error(mechanism, middle, window) < self.floor:
                high = middle
            else:
                low = middle
        return high

    def _lbu(self, epsilon: float, window: int) -> float:
        return self._released(self._noise(epsilon / window, self.active))

    def _lpu(self, epsilon: float, window: int) -> float:
        return self._released(self._noise(epsilon, self.active / window))

    def _lsp(self, epsilon: float, window: int) -> float:
        phases = np.unique(np.linspace(0, window - 1, min(window, _PHASES)).astype(int))
        return float(np.mean([self._sampled(epsilon, window, int(phase)) for phase in phases]))

    def _sampled(self, epsilon: float, window: int, phase: int) -> float:
        """LSP with a phase."""
        share = np.where(self._times % window == phase, 1.0, 0.0)
        share[self._times == phase] = 1.0 - phase / window
        share[self._times == 0] = phase / window if phase else 1.0
        return self._released(self._noise(epsilon, share * self.active))

    def _noise(self, epsilon: float, asked: FloatArray) -> FloatArray:
        """Mean variance over cells of estimates from so many of the active, by timestamp; inf if nobody."""
        f, n = self._frequencies, self.active
        some = np.maximum(asked, 1.0)
        drawn = (f * (1 - f)).mean(axis=1) / some * (n - some) / np.maximum(n - 1, 1)
        total = OUE(epsilon).variance(1) / some + f.mean(axis=1) / some + np.maximum(drawn, 0.0)
        return np.where(asked < 1, np.inf, total)

    def _released(self, noise: FloatArray) -> float:
        """Error where timestamps of finite noise publish and the others repeat; 0 before the first."""
        f, moments = self._frequencies, np.arange(noise.size)
        latest: npt.NDArray[np.intp] = np.maximum.accumulate(np.where(np.isfinite(noise), moments, -1))
        drift = ((f - f[latest]) ** 2).mean(axis=1)
        return float(np.where(latest < 0, (f**2).mean(axis=1), noise[latest] + drift).mean())
