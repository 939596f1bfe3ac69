"""Expected errors of releases of a stream, before anything is run: closed forms where there are some.

Source: the exact variance of an OUE estimate (spec: 4e^ε / (n (e^ε - 1)²) + f/n), plus the sampling error of
those who are asked, plus how far the stream moves until the next publication.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.privacy.oracle import OUE
from mtsp_ldp.streams.stream import Stream

CLOSED_FORMS: dict[str, dict[str, Any]] = {"lbu": {}, "lpu": {}, "lsp": {"phase": "random"}}
"""Mechanisms whose expected error is known without a simulation, and the options that it is known for."""
_PHASES = 100
"""Largest number of LSP's w phases to average over; those of a longer window are evenly spaced."""
_MANY = 200  # reporters, of whom few more or less are asked
_NEGLIGIBLE = 1e-9
_SEARCHED = (1e-2, 1e2)

WINDOWS = (10, 20, 50)


def usual_windows(stream: Stream) -> list[int]:
    """List the default windows: 10, 20 and 50 timestamps, as far as the stream has them."""
    return [window for window in WINDOWS if window <= stream.length] or [stream.length]


def has_closed_form(name: str, options: Mapping[str, Any]) -> bool:
    """Tell whether the error of a mechanism with these options is known without a simulation."""
    return name in CLOSED_FORMS and options.items() <= CLOSED_FORMS[name].items()


def closed_forms(
    stream: Stream, mechanisms: Iterable[str], epsilons: Sequence[float], windows: Sequence[int]
) -> list[tuple[str, str, float, int, float]]:
    """Compute the expected errors of a grid on one stream.

    Returns
    -------
    list
        Rows of dataset, mechanism, epsilon, window and mean squared error of raw frequencies.
    """
    expected = Expectation(stream)
    return [
        (stream.key, name, epsilon, window, expected.error(name, epsilon, window))
        for name in mechanisms
        for window in windows
        for epsilon in epsilons
    ]


class Expectation:
    """Expected mean squared errors of released frequencies (raw) of one stream.

    Parameters
    ----------
    stream
        A prepared stream.
    replicate
        Independent reporters of each user; by default as the stream's facts say.
    """

    def __init__(self, stream: Stream, replicate: int | None = None) -> None:
        here = stream.active > 0
        self.active: FloatArray = np.multiply(stream.active[here], float(replicate or stream.replicate))
        """Reporters at each timestamp with somebody, ``(T',)``."""
        self._frequencies = stream.frequencies[here]
        self._times = np.flatnonzero(here)
        self._reporters = stream.users * (replicate or stream.replicate)
        self._moves: dict[int, FloatArray] = {}
        self._parts: dict[tuple[str, int], tuple[float, float]] = {}

    @cached_property
    def floors(self) -> dict[str, float]:
        """Errors of the constant baselines that read no data: 0 (``zero``) and 1/d (``uniform``)."""
        squares = float((self._frequencies**2).mean())
        d = self._frequencies.shape[1]
        return {"zero": squares, "uniform": squares - 1.0 / d**2}

    @property
    def floor(self) -> float:
        """Error of the better constant baseline."""
        return min(self.floors.values())

    def error(self, mechanism: str, epsilon: float, window: int) -> float:
        """Compute the expected mean squared error over timestamps and cells.

        Parameters
        ----------
        mechanism
            Name of one of `CLOSED_FORMS`.
        epsilon, window
            Budget of every window of so many timestamps.

        Raises
        ------
        KeyError
            For a mechanism without a closed form.
        """
        noise, rest = self._split(mechanism, window)
        return noise * OUE(epsilon / window if mechanism == "lbu" else epsilon).variance(1) + rest

    def deviation(self, mechanism: str, epsilon: float, window: int) -> float:
        """Compute the standard deviation of one released frequency where a uniform mechanism publishes it.

        The mean of the noise variance over time, without the part f/n that depends on the cell.
        """
        if mechanism == "lbu":
            return float(np.sqrt((OUE(epsilon / window).variance(1) / self.active).mean()))
        asked = self.active / window if mechanism == "lpu" else self.active
        return float(np.sqrt((OUE(epsilon).variance(1) / asked).mean()))

    def least_epsilon(self, mechanism: str, window: int) -> float | None:
        """Find the smallest budget in 0.01 to 100 at which a mechanism beats the floors, or None."""
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

    def _split(self, mechanism: str, window: int) -> tuple[float, float]:
        """Split the error into the factor of the noise variance of one report, and the rest."""
        if (mechanism, window) not in self._parts:
            shares = {"lbu": self._everybody, "lpu": self._arcs, "lsp": self._phases}[mechanism](window)
            parts = np.array([self._released(share) for share in shares])
            noise, rest = parts.mean(axis=0).tolist()
            self._parts[mechanism, window] = noise, rest
        return self._parts[mechanism, window]

    def _everybody(self, window: int) -> Iterator[FloatArray]:
        """Yield the share of the users whom LBU asks at each timestamp."""
        yield np.ones_like(self.active)

    def _arcs(self, window: int) -> Iterator[FloatArray]:
        """Yield the share of the users whom LPU asks at each timestamp."""
        yield np.full_like(self.active, 1.0 / window)

    def _phases(self, window: int) -> Iterator[FloatArray]:
        """Yield the share of the users whom LSP asks at each timestamp, one phase after the other."""
        number = min(window, _PHASES)
        for phase in ((np.arange(number) + 0.5) * window / number).astype(int).tolist():
            share = np.where(self._times % window == phase, 1.0, 0.0)
            share[self._times == phase] = 1.0 - phase / window
            share[self._times == 0] = phase / window if phase else 1.0
            yield share

    def _asked(self, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Compute the chance that nobody is active in an arc of this share, and the mean of 1/m of m who are.

        The number m of active reporters among the k of an arc is hypergeometric; k is one of the two
        integers beside the share's part of all, in the mean that part.
        """
        none, inverse = np.ones_like(share), np.zeros_like(share)
        some = np.flatnonzero(share)
        pairs, back = np.unique(
            np.column_stack([share[some], self.active[some]]), axis=0, return_inverse=True
        )
        laws = np.array([self._law(part, int(n)) for part, n in pairs]).reshape(-1, 2)
        none[some], inverse[some] = laws[back.ravel()].T
        return none, inverse

    def _law(self, share: float, active: int) -> tuple[float, float]:
        """Compute what `_asked` returns, for one share and number of active reporters."""
        fewer = math.floor(share * self._reporters)
        above = share * self._reporters - fewer
        none, inverse = _law(self._reporters, active, fewer)
        if not above:
            return none, inverse
        other, more = _law(self._reporters, active, fewer + 1)
        empty = (1 - above) * none + above * other
        if empty == 1:
            return 1.0, 0.0
        return empty, ((1 - above) * (1 - none) * inverse + above * (1 - other) * more) / (1 - empty)

    def _released(self, share: FloatArray) -> tuple[float, float]:
        """Compute the error where each timestamp asks a share of the users, and repeats if nobody answers.

        A release that is ``lag`` timestamps old errs by its noise and by how far the stream has moved since.

        Returns
        -------
        noise : float
            Factor of the noise variance of one report.
        rest : float
            The rest of the error.
        """
        f, n = self._frequencies, self.active
        none, inverse = self._asked(share)
        spread = (f * (1 - f)).mean(axis=1)
        own = f.mean(axis=1) + spread * n / np.maximum(n - 1, 1)
        sampled = inverse * own - np.where(none < 1, spread / np.maximum(n - 1, 1), 0.0)
        noise, rest, older = np.zeros_like(n), np.zeros_like(n), np.ones_like(n)
        for lag in range(n.size):
            published = older[lag:] * (1 - none[: n.size - lag])
            noise[lag:] += published * inverse[: n.size - lag]
            rest[lag:] += published * (sampled[: n.size - lag] + self._moved(lag))
            older[lag:] *= none[: n.size - lag]
            if older[lag + 1 :].max(initial=0.0) < _NEGLIGIBLE:
                break
        return float(noise.mean()), float((rest + older * (f**2).mean(axis=1)).mean())

    def _moved(self, lag: int) -> FloatArray:
        """Compute the mean squared difference of the frequencies from those ``lag`` timestamps before."""
        if lag not in self._moves:
            f = self._frequencies
            self._moves[lag] = ((f[lag:] - f[: f.shape[0] - lag]) ** 2).mean(axis=1)
        return self._moves[lag]


def _law(reporters: int, active: int, asked: int) -> tuple[float, float]:
    """Compute the chance of m = 0, and the mean of 1/m for m > 0, of a hypergeometric m."""
    mean = asked * active / reporters
    if not asked:
        return 1.0, 0.0
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
