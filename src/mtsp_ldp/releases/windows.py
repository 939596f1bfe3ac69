"""Answers about periods of several timestamps: sums of a release, or the mechanism's own joint posterior.

Whoever asks meets one thing, `answer`: a value, and the variance of its error where the mechanism states one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray, IntArray
from mtsp_ldp.foundation.numbers import integer, integers
from mtsp_ldp.mechanisms.posterior import Moments, Windows
from mtsp_ldp.releases.queries import window_sums

if TYPE_CHECKING:
    from mtsp_ldp.releases.release import Release


@dataclass(frozen=True, eq=False)
class PeriodQuery:
    """Numbers of users in intervals of cells over periods, or how they change from period to period.

    Attributes
    ----------
    lo, hi
        First and last cell of each interval, inclusive, ``(Q,)``.
    delta
        Timestamps of a period.
    change
        True for X_t - X_(t - delta), the period that ends at t against the one before it.
    relative
        Divide each period's count by its own sum of n_t, so that a change in activity alone is none.
    users
        Users who are there, ``(T,)``, if that is not n_t: a release with private presence counts all.
    """

    lo: IntArray
    hi: IntArray
    delta: int
    change: bool = False
    relative: bool = False
    users: IntArray | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", integer("delta", self.delta))

    @property
    def length(self) -> int:
        """Number of timestamps that an answer looks back to."""
        return self.delta * (2 if self.change else 1)


class Estimate(NamedTuple):
    """Values, ``(W, Q)``, and the variances of their errors; None where the mechanism states none.

    The first answer is about the period that ends at the first t that has all timestamps it looks back to.
    """

    values: FloatArray
    variances: FloatArray | None = None

    def at(self, windows: BoolArray) -> "Estimate":
        """Keep some of the windows, by a mask ``(W,)``."""
        return Estimate(self.values[windows], None if self.variances is None else self.variances[windows])


def answer(release: "Release", queries: Sequence[PeriodQuery]) -> list[Estimate]:
    """Answer queries about periods, all of them in one pass over the reports.

    Raises
    ------
    ValueError
        If an interval is empty or leaves 0..d-1, or a period does not fit into the stream.
    """
    for query in queries:
        check_intervals(query.lo, query.hi, release.d)
        if not 1 <= query.length <= release.length:
            most = release.length // 2 if query.change else release.length
            raise ValueError(f"delta={query.delta!r}: must be in 1..{most}; no period reaches before t = 0")
    posterior = release.posterior
    if posterior is None:
        return [_released(release, query) for query in queries]
    longer = [query for query in queries if query.length > 1]
    found = posterior.moments([_windows(release, query) for query in longer]) if longer else []
    known = {query: _from_moments(release, query, one) for query, one in zip(longer, found, strict=True)}
    return [known[query] if query in known else _released(release, query) for query in queries]


def intervals(lo: npt.ArrayLike, hi: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """Make vectors of one length of first and last cells; one end may be the same for all."""
    first, last = np.broadcast_arrays(np.atleast_1d(integers("lo", lo)), np.atleast_1d(integers("hi", hi)))
    return first, last


def check_intervals(lo: IntArray, hi: IntArray, d: int) -> None:
    """Raise ValueError if an interval of cells is empty or leaves 0..d-1."""
    wrong = (lo < 0) | (lo > hi) | (hi >= d)
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(f"[{lo[first]}, {hi[first]}]: must be an interval of cells in 0..{d - 1}")


def _released(release: "Release", query: PeriodQuery) -> Estimate:
    """Answer from what was released; of single timestamps of histograms with variances, if there are some."""
    values = _rounded(query, _sums(release, query))
    if query.length > 1 or release.tree is not None or release.variances is None:
        return Estimate(values)
    variances = _variance_between(release, release.variances[release.which], query.lo, query.hi)
    return Estimate(values, variances * (release.active[:, None] ** 2.0))


def _sums(release: "Release", query: PeriodQuery) -> FloatArray:
    """Add up what was released at each timestamp."""
    released = release.range_frequencies(query.lo, query.hi) * release.active[:, None]
    sums = window_sums(released, query.delta)
    if query.relative:
        present = _present(release, query)[:, None]
        sums = np.divide(sums, present, out=np.full_like(sums, np.nan), where=present > 0)
    return np.asarray(sums[query.delta :] - sums[: -query.delta]) if query.change else sums


def _present(release: "Release", query: PeriodQuery) -> FloatArray:
    users = release.active if query.users is None else query.users
    return window_sums(users.astype(np.float64), query.delta)


def _windows(release: "Release", query: PeriodQuery) -> Windows:
    """Say which weighted sums of frequencies a query asks for: averages, or one period minus the other."""
    counted: FloatArray = np.lib.stride_tricks.sliding_window_view(
        release.active.astype(np.float64), query.length
    )
    if not query.change:
        total = counted.sum(axis=1, keepdims=True)
        return Windows(np.divide(counted, total, out=np.full_like(counted, 1 / query.delta), where=total > 0))
    weights = counted.copy()
    if query.relative:
        present = _present(release, query)
        for part, sums in (
            (slice(query.delta), present[: -query.delta]),
            (slice(query.delta, None), present[query.delta :]),
        ):
            weights[:, part] /= np.where(sums > 0, sums, np.nan)[:, None]
    weights[:, : query.delta] *= -1
    return Windows(np.nan_to_num(weights), _cells(query))


def _cells(query: PeriodQuery) -> IntArray:
    """List the cells of all intervals, each once."""
    spans = [np.arange(first, last + 1) for first, last in zip(query.lo, query.hi, strict=True)]
    return np.unique(np.concatenate([np.arange(0), *spans]))


def _from_moments(release: "Release", query: PeriodQuery, found: Moments) -> Estimate:
    """Add up cells."""
    if query.change:
        return _change_from_moments(release, query, found)
    users = window_sums(release.active.astype(np.float64), query.delta)[:, None]
    variance = _variance_between(release, found.variance, query.lo, query.hi)
    return Estimate(_between(found.mean, query.lo, query.hi) * users, variance * users**2)


def _change_from_moments(release: "Release", query: PeriodQuery, found: Moments) -> Estimate:
    """Add up changes, with errors as if cells were independent; a change of all cells is public."""
    cells = _cells(query)
    first, last = np.searchsorted(cells, query.lo), np.searchsorted(cells, query.hi)
    mean, variance = (_between(values, first, last) for values in found)
    whole = (query.lo == 0) & (query.hi == release.d - 1) & (not release.of_all_users)
    mean = np.where(whole, _windows(release, query).weights.sum(axis=1, keepdims=True), mean)
    if query.relative:
        there = _present(release, query) > 0
        both = there[query.delta :] & there[: -query.delta]
        mean = np.where(both[:, None], mean, np.nan)
    return Estimate(_rounded(query, mean), np.where(whole, 0.0, variance))


def _variance_between(release: "Release", variances: FloatArray, lo: IntArray, hi: IntArray) -> FloatArray:
    """Add up variances of frequencies over intervals of cells.

    Errors of frequencies that sum to 1 sum to 0: of independent ones with that sum, those of an interval have
    the variance V (1 - V / all V).
    """
    parts = _between(variances, lo, hi)
    if release.of_all_users:
        return parts
    rest = 1 - parts / np.maximum(variances.sum(axis=1, keepdims=True), 1e-300)
    return np.where(lo == hi, parts, parts * np.maximum(rest, 0.0))


def _between(values: FloatArray, first: IntArray, last: IntArray) -> FloatArray:
    sums = np.concatenate([np.zeros((values.shape[0], 1)), np.cumsum(values, axis=1)], axis=1)
    single = first == last
    return np.where(single, values[:, first], sums[:, last + 1] - sums[:, first])


def _rounded(query: PeriodQuery, values: FloatArray) -> FloatArray:
    """Round changes to a millionth of a user (relative: 1e-12), so that no float residue is an increase."""
    return np.asarray(np.round(values, 12 if query.relative else 6)) if query.change else values
