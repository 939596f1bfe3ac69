"""Sums that queries are made of: pure functions on arrays, at no privacy budget.

All are vectorised over t and over queries; no array of T x queries x cells is made. Source: MTSP-LDP §2.5,
§3.5; the displayed formulas are reconstructions.
"""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.foundation.tree import BinaryTree

Box = tuple[int, int, int, int]
"""Box of squares of a grid: x_lo, x_hi, y_lo, y_hi, inclusive."""


def cover_sums(tree: BinaryTree, nodes: FloatArray, lo: IntArray, hi: IntArray) -> FloatArray:
    """Sum nodes over the minimum covers of many intervals at once.

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
    FloatArray
        Sums, ``(V, Q)``.
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


def window_sums(per_step: FloatArray, delta: int) -> FloatArray:
    """Sum over the delta timestamps that end at t, for t = delta-1 … T-1, ``(T - delta + 1, …)``."""
    length = per_step.shape[0]
    if not 1 <= delta <= length:
        raise ValueError(f"delta={delta!r}: must be in 1..{length}; no window reaches before t = 0")
    sums = np.concatenate([np.zeros((1, *per_step.shape[1:])), np.cumsum(per_step, axis=0)])
    return np.asarray(sums[delta:] - sums[:-delta])


def box_intervals(numbers: IntArray, box: Box) -> tuple[IntArray, IntArray]:
    """Cut a box of a grid into the intervals of cells that it is made of.

    Parameters
    ----------
    numbers
        Cell of each square, ``(side, side)`` indexed [x, y].
    box
        x_lo, x_hi, y_lo, y_hi, inclusive.

    Returns
    -------
    first, last : IntArray
        Cells of the maximal runs of consecutive cells, left to right.
    """
    x_lo, x_hi, y_lo, y_hi = box
    side = numbers.shape[0]
    if not (0 <= x_lo <= x_hi < side and 0 <= y_lo <= y_hi < side):
        raise ValueError(f"box={box}: must be x_lo <= x_hi and y_lo <= y_hi, all in 0..{side - 1}")
    cells = np.sort(numbers[x_lo : x_hi + 1, y_lo : y_hi + 1], axis=None)
    breaks = np.flatnonzero(np.diff(cells) > 1)
    return cells[np.r_[0, breaks + 1]], cells[np.r_[breaks, cells.size - 1]]
