"""Named release post-processing, on a copy: tree consistency and projection on the simplex.

Decisions of mechanisms never see it. Post-processing of private output costs no budget.
"""

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray
from mtsp_ldp.foundation.tree import BinaryTree


def project_on_simplex(frequencies: FloatArray, *, at_most: bool = False) -> FloatArray:
    """Project vectors on the nearest probability vectors in the Euclidean sense.

    Parameters
    ----------
    frequencies
        One vector a row, ``(V, d)``.
    at_most
        Sums of at most 1 are right too: a row whose positive part sums to less only loses its negatives.

    Source: Duchi et al. 2008, by sorting.
    """
    d = frequencies.shape[1]
    # the projection does not change with a shift of a row; so no large entry swallows the 1
    shift = frequencies.max(axis=1, keepdims=True)
    ordered = np.sort(frequencies - shift, axis=1)[:, ::-1]
    excess = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, d + 1)
    support = np.count_nonzero(ordered > excess, axis=1)
    cut = np.take_along_axis(excess, support[:, None] - 1, axis=1)
    if at_most:
        cut = np.maximum(cut, -shift)
    projected: FloatArray = np.maximum(frequencies - shift - cut, 0.0)
    return projected


def make_consistent(tree: BinaryTree, values: FloatArray, variances: FloatArray) -> FloatArray:
    """Fit trees by weighted least squares: children sum to their parent, and the root is 1.

    Parameters
    ----------
    tree
        The geometry.
    values, variances
        Node values in level order and their noise variances, ``(V, size)``. Padding is 0 without noise; a
        variance of infinity is a value that carries no information of its own.

    Returns
    -------
    FloatArray
        Consistent node values, ``(V, size)``; they may be negative.

    Notes
    -----
    One pass up combines a node with the sum of its children by inverse variance, one pass down hands the
    difference out in proportion to the children's variances (Hay et al. 2010, with weights).
    """
    best, spread = values.copy(), variances.copy()
    for level in range(tree.levels - 2, -1, -1):
        here, below = tree.level(level), tree.level(level + 1)
        total = best[:, below][:, ::2] + best[:, below][:, 1::2]
        noise = spread[:, below][:, ::2] + spread[:, below][:, 1::2]
        weight = _share(noise, spread[:, here])
        best[:, here] = weight * best[:, here] + (1 - weight) * total
        spread[:, here] = np.multiply(weight, spread[:, here], out=noise, where=weight > 0)
    best[:, 0] = 1.0
    for level in range(1, tree.levels):
        here = tree.level(level)
        left, right = best[:, here][:, ::2], best[:, here][:, 1::2]
        parents = best[:, tree.level(level - 1)]
        noise = spread[:, here]
        share = _share(noise[:, ::2], noise[:, 1::2], _left_cells(tree, level))
        missing = parents - left - right
        best[:, here][:, ::2] = left + share * missing
        best[:, here][:, 1::2] = right + (1 - share) * missing
    return best


def make_nonnegative(tree: BinaryTree, values: FloatArray, copied: BoolArray | None = None) -> FloatArray:
    """Make trees non-negative from the top down, each pair of siblings projected on its parent's value.

    To children c1 and c2 of a parent p >= 0, (p - c1 - c2) / 2 is added; if one is negative then, it becomes
    0 and the other p. That is the nearest pair that sums to p: one pass, and no leaf pays for all others, as
    in a projection of the leaves on the simplex. Source: PriPL-Tree §3.5.

    Parameters
    ----------
    tree
        The geometry.
    values
        Node values in level order, ``(V, size)``; the root at least 0.
    copied
        Nodes that no report answered, ``(V, size)``: they share their parent's value by cells.

    Returns
    -------
    FloatArray
        Consistent node values of at least 0, ``(V, size)``; padding is 0.
    """
    best = values.copy()
    for level in range(1, tree.levels):
        here = tree.level(level)
        left, right = best[:, here][:, ::2], best[:, here][:, 1::2]
        parents, cells = best[:, tree.level(level - 1)], tree.cells[here]
        first = np.clip(left + (parents - left - right) / 2, 0.0, parents)
        if copied is not None:
            pair = copied[:, here][:, ::2] & copied[:, here][:, 1::2]
            first = np.where(pair, parents * _left_cells(tree, level), first)
        first = np.where(cells[1::2] > 0, first, parents)
        best[:, here][:, ::2], best[:, here][:, 1::2] = first, parents - first
    return best


def refine(
    tree: BinaryTree, values: FloatArray, variances: FloatArray, copied: BoolArray | None = None
) -> FloatArray:
    """Make trees of non-negative frequencies: weighted least squares, then siblings from the top down.

    Parameters
    ----------
    tree
        The geometry.
    values, variances
        Node values in level order and their noise variances, ``(V, size)``.
    copied
        Nodes that no report answered, ``(V, size)``; they carry no information of their own.

    Returns
    -------
    FloatArray
        Node values of at least 0 whose children sum to their parent, ``(V, size)``; the root is 1.
    """
    weighed = variances if copied is None else np.where(copied, np.inf, variances)
    return make_nonnegative(tree, make_consistent(tree, values, weighed), copied)


def _left_cells(tree: BinaryTree, level: int) -> FloatArray:
    """Share of a parent's cells that lie under its left child, for a level's pairs."""
    cells = tree.cells[tree.level(level)]
    shares: FloatArray = cells[::2] / np.maximum(cells[::2] + cells[1::2], 1)
    return shares


def _share(part: FloatArray, other: FloatArray, default: FloatArray | float = 0.5) -> FloatArray:
    """Compute part / (part + other); the default where both are 0 or both infinite."""
    known = (part + other > 0) & ~(np.isinf(part) & np.isinf(other))
    certain = np.where(np.isinf(part), 1.0, 0.0)  # where one of them is infinite
    finite = known & np.isfinite(part) & np.isfinite(other)
    ratio = np.divide(part, part + other, out=certain, where=finite)
    return np.where(known, ratio, default)
