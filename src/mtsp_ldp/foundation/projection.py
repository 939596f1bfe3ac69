"""Named release post-processing, on a copy: tree consistency and projection on the simplex.

Decisions of mechanisms never see it. Post-processing of private output costs no budget.
"""

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
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
    """Fit node values by weighted least squares; children sum to their parent, and the root is 1.

    Parameters
    ----------
    tree
        The geometry.
    values, variances
        Node values in level order and their noise variances, ``(V, size)``. Padding is 0 without noise.

    Returns
    -------
    FloatArray
        Consistent node values, ``(V, size)``.

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
        weight = _share(noise, spread[:, here] + noise)
        best[:, here] = weight * best[:, here] + (1 - weight) * total
        spread[:, here] = weight * spread[:, here]
    best[:, 0] = 1.0
    for level in range(1, tree.levels):
        here = tree.level(level)
        left, right = best[:, here][:, ::2], best[:, here][:, 1::2]
        parents = best[:, tree.level(level - 1)]
        noise = spread[:, here]
        share = _share(noise[:, ::2], noise[:, ::2] + noise[:, 1::2], tree.cells[here])
        missing = parents - left - right
        best[:, here][:, ::2] = left + share * missing
        best[:, here][:, 1::2] = right + (1 - share) * missing
    return best


def refine(tree: BinaryTree, values: FloatArray, variances: FloatArray) -> FloatArray:
    """Make trees of probability vectors: consistency, then the leaves projected on the simplex and summed up.

    Parameters and shapes as in `make_consistent`.
    """
    bottom = tree.level(tree.levels - 1)
    nodes = np.zeros_like(values)
    leaves = make_consistent(tree, values, variances)[:, bottom][:, : tree.d]
    nodes[:, bottom.start : bottom.start + tree.d] = project_on_simplex(leaves)
    for level in range(tree.levels - 2, -1, -1):
        below = nodes[:, tree.level(level + 1)]
        nodes[:, tree.level(level)] = below[:, ::2] + below[:, 1::2]
    return nodes


def _share(part: FloatArray, whole: FloatArray, cells: np.ndarray | None = None) -> FloatArray:
    """Divide part by whole; where the whole is 0 (no noise), take 1/2, or the left child's share of cells."""
    if cells is None:
        default: FloatArray | float = 0.5
    else:
        default = cells[::2] / np.maximum(cells[::2] + cells[1::2], 1)
    known = whole > 0
    return np.where(known, part / np.where(known, whole, 1.0), default)
