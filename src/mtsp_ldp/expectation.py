"""What error a stream can be released with, before anything is run: closed forms where there are some.

Source: the exact variance of an OUE estimate (spec: 4e^ε / (n (e^ε - 1)²) + f/n), plus the sampling error of
those who are asked, plus how far the stream moves until the next publication.
"""

from functools import cached_property

import numpy as np
from scipy import stats

from mtsp_ldp.oracle import OUE, FloatArray
from mtsp_ldp.stream import Stream

CLOSED_FORMS = ("lbu", "lpu", "lsp")
"""Mechanisms whose expected error is known without a simulation."""
_PHASES = 10
_MANY = 200  # reporters, of whom few more or less are asked
_NEGLIGIBLE = 1e-9
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
        self._reporters = stream.users * (replicate or stream.replicate)
        self._moves: dict[int, FloatArray] = {}

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
        return self._released(epsilon / window, np.ones_like(self.active))

    def _lpu(self, epsilon: float, window: int) -> float:
        return self._released(epsilon, np.full_like(self.active, 1.0 / window))

    def _lsp(self, epsilon: float, window: int) -> float:
        phases = np.unique(np.linspace(0, window - 1, min(window, _PHASES)).astype(int))
        return float(np.mean([self._sampled(epsilon, window, int(phase)) for phase in phases]))

    def _sampled(self, epsilon: float, window: int, phase: int) -> float:
        """LSP with a phase."""
        share = np.where(self._times % window == phase, 1.0, 0.0)
        share[self._times == phase] = 1.0 - phase / window
        share[self._times == 0] = phase / window if phase else 1.0
        return self._released(epsilon, share)

    def _asked(self, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Chance that in an arc of this share nobody is active, and the mean of 1/m of m who are.

        The number m of active reporters among the k of an arc is hypergeometric.
        """
        none, inverse = np.ones_like(share), np.zeros_like(share)
        pairs, back = np.unique(np.column_stack([share, self.active]), axis=0, return_inverse=True)
        for place, (part, n) in enumerate(pairs):
            k = int(part * self._reporters)
            if k:
                here = back.ravel() == place
                none[here], inverse[here] = _law(self._reporters, int(n), k)
        return none, inverse

    def _released(self, epsilon: float, share: FloatArray) -> float:
        """Error where each timestamp asks a share of the users, and repeats if nobody answers.

        A release that is ``lag`` timestamps old errs by its noise and by how far the stream has moved since.
        """
        f, n = self._frequencies, self.active
        none, inverse = self._asked(share)
        spread = (f * (1 - f)).mean(axis=1)
        own = OUE(epsilon).variance(1) + f.mean(axis=1) + spread * n / np.maximum(n - 1, 1)
        noise = inverse * own - np.where(none < 1, spread / np.maximum(n - 1, 1), 0.0)
        total, older = np.zeros_like(n), np.ones_like(n)
        for lag in range(n.size):
            published = older[lag:] * (1 - none[: n.size - lag])
            total[lag:] += published * (noise[: n.size - lag] + self._moved(lag))
            older[lag:] *= none[: n.size - lag]
            if older[lag + 1 :].max(initial=0.0) < _NEGLIGIBLE:
                break
        return float((total + older * (f**2).mean(axis=1)).mean())

    def _moved(self, lag: int) -> FloatArray:
        """Mean squared difference of the frequencies from those so many timestamps before."""
        if lag not in self._moves:
            f = self._frequencies
            self._moves[lag] = ((f[lag:] - f[: f.shape[0] - lag]) ** 2).mean(axis=1)
        return self._moves[lag]


def _law(reporters: int, active: int, asked: int) -> tuple[float, float]:
    """Chance of m = 0, and the mean of 1/m for m > 0, of a hypergeometric m."""
    mean = asked * active / reporters
    if asked == reporters:
        return 0.0, 1.0 / active
    if mean > _MANY:
        variance = mean * (1 - active / reporters) * (reporters - asked) / max(reporters - 1, 1)
        return 0.0, (1 + variance / mean**2) / mean
    most = min(active, asked, int(mean + 12 * np.sqrt(mean) + 20))
    chances = stats.hypergeom.pmf(np.arange(most + 1), reporters, active, asked)
    some = chances[1:].sum()
    if some <= 0:
        return 1.0, 0.0
    return float(chances[0]), float((chances[1:] / np.arange(1, most + 1)).sum() / some)
