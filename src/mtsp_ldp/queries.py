"""Counting, range and event queries: the same functions on a release and on the truth, at no budget.

All are vectorised over t and over queries; no array of T x queries x cells is made. Source: MTSP-LDP §2.5,
§3.5; the displayed formulas are reconstructions.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mtsp_ldp.arrays import FloatArray, IntArray
from mtsp_ldp.tree import BinaryTree


class Source(Protocol):
    """Frequencies per t, as a release or the truth holds them.

    Attributes
    ----------
    versions
        Distinct releases: ``(V, d)`` frequencies, or ``(V, size)`` tree nodes.
    which
        The version that stands at t, ``(T,)``.
    active
        n_t, ``(T,)``.
    tree
        The geometry where versions are trees.
    cumulative
        Sums of the first cells of each version, ``(V, d + 1)``.
    """

    @property
    def versions(self) -> FloatArray:
        """See above."""

    @property
    def which(self) -> IntArray:
        """See above."""

    @property
    def active(self) -> IntArray:
        """See above."""

    @property
    def tree(self) -> BinaryTree | None:
        """See above."""

    @property
    def cumulative(self) -> FloatArray:
        """See above."""

    @property
    def d(self) -> int:
        """Number of cells."""


def cover_sums(tree: BinaryTree, nodes: FloatArray, lo: IntArray, hi: IntArray) -> FloatArray:
    """Sums over the minimum covers of many intervals at once.

    Parameters
    ----------
    tree
        The geometry.
    nodes
        Node values in level order, ``(V, size)``.
    lo, hi
        First and last cells, inclusive, ``(Q,)``.

    Returns
    -------
    ``(V, Q)``.
    """
    total = np.zeros((nodes.shape[0], lo.size))
    start, end = lo.copy(), hi + 1
    for level in range(tree.levels - 1, -1, -1):
        first = tree.level(level).start
        live = start < end
        odd = live & (start & 1 == 1)
        total[:, odd] += nodes[:, first + start[odd]]
        start = np.where(odd, start + 1, start)
        odd = live & (end & 1 == 1) & (start < end)
        total[:, odd] += nodes[:, first + end[odd] - 1]
        end = np.where(odd, end - 1, end)
        start, end = start >> 1, end >> 1
    return total


def range_frequencies(source: Source, lo: npt.ArrayLike, hi: npt.ArrayLike) -> FloatArray:
    """Frequency of each interval of cells at each t, ``(T, Q)``: by minimum cover on trees, else summed.

    Raises
    ------
    ValueError
        If an interval is empty or leaves 0..d-1.
    """
    first = np.atleast_1d(np.asarray(lo, dtype=np.int64))
    last = np.atleast_1d(np.asarray(hi, dtype=np.int64))
    if ((first < 0) | (first > last) | (last >= source.d)).any():
        raise ValueError(f"[{lo!r}, {hi!r}]: an interval of cells lies in 0..{source.d - 1}")
    if source.tree is not None:
        return cover_sums(source.tree, source.versions, first, last)[source.which]
    sums = source.cumulative
    return np.asarray((sums[:, last + 1] - sums[:, first])[source.which])


def window_sums(per_step: npt.NDArray[np.float64], delta: int) -> FloatArray:
    """Sums over the delta timestamps that end at t, for t = delta-1 … T-1, ``(T - delta + 1, …)``."""
    length = per_step.shape[0]
    if not 1 <= delta <= length:
        raise ValueError(f"delta={delta!r}: 1..{length} timestamps; no window reaches before t = 0")
    sums = np.concatenate([np.zeros((1, *per_step.shape[1:])), np.cumsum(per_step, axis=0)])
    return np.asarray(sums[delta:] - sums[:-delta])


def range_counts(source: Source, lo: npt.ArrayLike, hi: npt.ArrayLike, delta: int = 1) -> FloatArray:
    """Users in each interval over the delta timestamps that end at t, ``(T - delta + 1, Q)``."""
    per_step = range_frequencies(source, lo, hi) * source.active[:, None]
    return window_sums(per_step, delta)


def changes(
    source: Source,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike,
    delta: int,
    *,
    relative: bool = False,
    users: IntArray | None = None,
) -> FloatArray:
    """X_t - X_(t - delta) of each interval, for t = 2 delta - 1 … T-1, ``(T - 2 delta + 1, Q)``.

    Parameters
    ----------
    relative
        Divide each period's count by its own sum of n_t, so that a change in activity alone is no event;
        NaN where a period has no active user.
    users
        Who is there, ``(T,)``, if that is not the source's n_t: a release with private presence counts all.

    Notes
    -----
    Rounded to a millionth of a user (relative: to 1e-12), so that equal counts give equal changes and no
    float residue is an increase.
    """
    sums = range_counts(source, lo, hi, delta)
    if relative:
        here = source.active if users is None else users
        present = window_sums(here.astype(np.float64), delta)[:, None]
        sums = np.divide(sums, present, out=np.full_like(sums, np.nan), where=present > 0)
    if sums.shape[0] <= delta:
        raise ValueError(f"delta={delta!r}: two periods need {2 * delta} timestamps")
    return np.asarray(np.round(sums[delta:] - sums[:-delta], 12 if relative else 6))


def box_intervals(numbers: IntArray, box: tuple[int, int, int, int]) -> tuple[IntArray, IntArray]:
    """The intervals of cells that a box of a grid is made of.

    Parameters
    ----------
    numbers
        Cell of each square, ``(side, side)`` indexed [x, y].
    box
        x_lo, x_hi, y_lo, y_hi, inclusive.

    Returns
    -------
    First and last cells of the maximal runs of consecutive cells, left to right.
    """
    x_lo, x_hi, y_lo, y_hi = box
    side = numbers.shape[0]
    if not (0 <= x_lo <= x_hi < side and 0 <= y_lo <= y_hi < side):
        raise ValueError(f"box={box}: lo <= hi in 0..{side - 1}, twice")
    cells = np.sort(numbers[x_lo : x_hi + 1, y_lo : y_hi + 1], axis=None)
    breaks = np.flatnonzero(np.diff(cells) > 1)
    return cells[np.r_[0, breaks + 1]], cells[np.r_[breaks, cells.size - 1]]


def box_frequencies(
    source: Source, numbers: IntArray, boxes: Sequence[tuple[int, int, int, int]]
) -> FloatArray:
    """Frequency of each box at each t, ``(T, B)``: its intervals, each by minimum cover on trees."""
    runs = [box_intervals(numbers, box) for box in boxes]
    lo, hi = (np.concatenate(ends) for ends in zip(*runs, strict=True))
    starts = np.cumsum([0, *(first.size for first, _ in runs[:-1])])
    return np.asarray(np.add.reduceat(range_frequencies(source, lo, hi), starts, axis=1))
