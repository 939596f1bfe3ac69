"""Queries over several timestamps, from the joint posterior of the window instead of from sums of levels.

A later report says something about earlier timestamps too, and errors of neighbouring levels are alike: both
are in the joint posterior, and in no sum of released levels. The reports are filtered once more, and every
window that is open carries its own sum along. Post-processing of reports: no budget.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.mechanisms.mtsp_filter.filter import Filter
from mtsp_ldp.mechanisms.mtsp_filter.models import StateSpace
from mtsp_ldp.mechanisms.mtsp_filter.release import Shrinkage
from mtsp_ldp.mechanisms.mtsp_filter.weights import mix
from mtsp_ldp.mechanisms.posterior import Moments, Windows
from mtsp_ldp.privacy.survey import Answer

JUMP_CAUTION = 2.0
"""Factor on the variance of a difference: a jump that no model expected makes it too small, by 1.4 to 2.2 on
made cities and walks, since the models' weights lag behind."""


REMEMBERED = 16
"""Number of answers that a posterior keeps, so that a question about every t in turn filters once."""


class OpenWindows:
    """Weighted sums u = Σ_s c_s f_s of some cells, over windows of L timestamps that are still open.

    Parameters
    ----------
    bank
        The models.
    cells
        The cells, ``(C,)``.
    asked
        Weights c of one or several kinds of windows, ``(W, L)`` each: window i is over i, …, i + L - 1.
    last
        Last timestamp of the stream.
    lag
        Timestamps that a window waits for more reports after it has ended, as far as there are any.

    Notes
    -----
    Given all reports so far, each model keeps mean, variance and covariance with its state x of every u:

    - move: Cov(x, u) ← F Cov(x, u);
    - learn: with a = h · Cov(x, u), innovation e and its variance S, mean ← mean + a e / S,
      variance ← variance - a² / S, Cov(x, u) ← Cov(x, u) - a P h / S;
    - grow by c f_t: mean ← mean + c h · x, variance ← variance + 2 c h · Cov(x, u) + c² h · P h,
      Cov(x, u) ← Cov(x, u) + c P h.

    This is the smoother of a state to which the window's sum is appended (Anderson and Moore 1979);
    nothing is approximated but the weights of the models, which are those at the window's end.
    """

    def __init__(
        self,
        bank: Sequence[StateSpace],
        cells: IntArray,
        asked: Sequence[FloatArray],
        last: int,
        lag: int = 0,
    ) -> None:
        self._cells, self._asked, self._last, self._lag = cells, asked, last, lag
        # the window of a kind that starts at s is in the place s mod (L + lag) of its kind
        self._room = [weights.shape[1] + lag for weights in asked]
        self._first = np.cumsum([0, *self._room[:-1]])
        places, models = sum(self._room), sum(kind.mean.shape[1] for kind in bank)
        self._mean = np.zeros((places, models, cells.size))
        self._variance = np.zeros_like(self._mean)
        self._covariances = [
            np.zeros((kind.mean.shape[0], places, kind.mean.shape[1], cells.size)) for kind in bank
        ]

    def follow(self, t: int, filtered: Filter) -> list[tuple[int, int, Moments]]:
        """Take in what the filter did at t; give the windows that close there: kind, number and moments."""
        growth, fresh = self._growth(t)
        self._mean[fresh] = 0.0
        self._variance[fresh] = 0.0
        for kind, covariance, part in zip(filtered.bank, self._covariances, filtered.parts, strict=True):
            covariance[:, fresh] = 0.0
            self._follow(kind, covariance, slice(*part), growth, filtered)
        weights = filtered.believed[:, self._cells]
        return [
            (kind, window, Moments(*mix(weights, self._mean[place], self._variance[place])))
            for kind, (first, room) in enumerate(zip(self._first, self._room, strict=True))
            for window in self._closing(kind, t)
            for place in [first + window % room]
        ]

    def _closing(self, kind: int, t: int) -> range:
        """List the windows of a kind that close at t; at the end of the stream all do."""
        number, length = self._asked[kind].shape
        waited = t - length - self._lag + 1
        newest = t - length + 1 if t == self._last else waited
        return range(max(waited, 0), min(newest + 1, number))

    def _growth(self, t: int) -> tuple[FloatArray, list[int]]:
        """Find the weight of t in each open window, ``(places, 1, 1)``, and the places that start at t."""
        growth, fresh = np.zeros(self._mean.shape[0]), []
        for first, room, weights in zip(self._first, self._room, self._asked, strict=True):
            number, length = weights.shape
            starts = np.arange(max(t - length + 1, 0), min(t + 1, number))
            growth[first + starts % room] = weights[starts, t - starts]
            fresh.append(int(first) + t % room)
        return growth[:, None, None], fresh

    def _follow(
        self, kind: StateSpace, covariance: FloatArray, part: slice, growth: FloatArray, filtered: Filter
    ) -> None:
        cells, mean, variance = self._cells, self._mean[:, part], self._variance[:, part]
        kind.move(covariance)
        with_sum = kind.weigh(covariance)  # Cov(f, u)
        f_mean, f_variance = (table[part, cells] for table in filtered.by_model)
        gain, kept = np.zeros_like(with_sum), np.ones(())
        if filtered.innovation is not None:
            error, total = (array[part, cells] for array in filtered.innovation)
            gain = with_sum / total
            mean += gain * error
            variance -= gain * with_sum
            kept = np.asarray(1 - kind.variance[:, cells] / total)
        # a report leaves R / S of Cov(x, f) and Cov(f, u); learning and growing are one pass over Cov(x, u)
        mean += growth * f_mean
        grown = with_sum
        grown *= 2 * kept
        grown += growth * f_variance
        grown *= growth
        variance += grown
        gain -= growth * kept
        for with_f, own in zip(kind.with_f[:, :, cells], covariance, strict=True):
            own -= gain * with_f


class WindowPosterior:
    """Moments of windows over a whole stream.

    Parameters
    ----------
    start
        Function that makes the filter and the shrinkage as they were before the first report.
    finish
        Function that projects averages of all cells, ``(d,)``, as releases are.
    answers
        The answers, one a timestamp; None where there was none.
    active
        n_t, one a timestamp.
    lag
        Timestamps that answers are delayed by, to wait for more reports.
    """

    def __init__(
        self,
        start: Callable[[], tuple[Filter, Shrinkage]],
        finish: Callable[[FloatArray], FloatArray],
        answers: Sequence[Answer | None],
        active: Sequence[int],
        lag: int = 0,
    ) -> None:
        self._start, self._finish, self._lag = start, finish, lag
        self._reports = list(zip(active, answers, strict=True))
        self._known: dict[bytes, Moments] = {}

    def moments(self, asked: Sequence[Windows]) -> list[Moments]:
        """Compute mean and variance of weighted windows, all new ones in one pass over the reports."""
        keys = [_key(one) for one in asked]
        new = {key: one for key, one in zip(keys, asked, strict=True) if key not in self._known}
        found = self._filtered(list(new.values())) if new else []
        answers = self._known | dict(zip(new, found, strict=True))
        self._known = dict(list(answers.items())[-REMEMBERED:])
        return [answers[key] for key in keys]

    def _filtered(self, asked: Sequence[Windows]) -> list[Moments]:
        filtered, shrinkage = self._start()
        every = np.arange(filtered.level.size)
        differences = [one for one in asked if one.cells is not None]
        some = np.unique(np.concatenate([one.cells for one in differences])) if differences else every[:0]
        last = len(self._reports) - 1
        tables = []
        for whole, cells in ((True, every), (False, some)):
            weights = {one.weights.tobytes(): one.weights for one in asked if (one.cells is None) == whole}
            opened = OpenWindows(filtered.bank, cells, list(weights.values()), last, self._lag)
            tables.append(_Table(cells, weights, opened))
        averages, changes = tables
        for t, (n, answer) in enumerate(self._reports):
            filtered.step(t, n, answer)
            shrinkage.learn(filtered.level, filtered.variance)
            averages.follow(t, filtered, partial(self._average, shrinkage))
            changes.follow(t, filtered, _difference)
        return [
            averages.of(one.weights, every) if one.cells is None else changes.of(one.weights, one.cells)
            for one in asked
        ]

    def _average(self, shrinkage: Shrinkage, found: Moments) -> Moments:
        """Shrink and project averages as a release of that time."""
        shrunk, spread = shrinkage.shrink(*found)
        return Moments(self._finish(shrunk), spread)


def _key(one: Windows) -> bytes:
    """Name weights and cells by what they hold."""
    digest = hashlib.sha256(repr(one.weights.shape).encode() + one.weights.tobytes())
    digest.update(b"all" if one.cells is None else one.cells.tobytes())
    return digest.digest()


def _difference(found: Moments) -> Moments:
    return Moments(found.mean, JUMP_CAUTION * np.maximum(found.variance, 0.0))


class _Table:
    """Moments of the windows of some cells, by their weights, as windows close."""

    def __init__(self, cells: IntArray, weights: dict[bytes, FloatArray], opened: OpenWindows) -> None:
        self._cells = cells
        self._open = opened
        self._found = {key: Moments(*np.zeros((2, one.shape[0], cells.size))) for key, one in weights.items()}
        self._tables = list(self._found.values())

    def follow(self, t: int, filtered: Filter, finish: Callable[[Moments], Moments]) -> None:
        """Take in what the filter did at t, and finish the windows that close there."""
        if not self._tables:
            return
        for kind, window, moments in self._open.follow(t, filtered):
            for table, values in zip(self._tables[kind], finish(moments), strict=True):
                table[window] = values

    def of(self, weights: FloatArray, cells: IntArray) -> Moments:
        """Pick the moments of windows with these weights, ``(W, C)``."""
        places = np.searchsorted(self._cells, cells)
        mean, variance = self._found[weights.tobytes()]
        return Moments(mean[:, places], variance[:, places])
