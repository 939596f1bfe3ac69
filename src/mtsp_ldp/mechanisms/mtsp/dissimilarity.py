"""M1: unbiased estimate of the distance between the users and the last released tree.

Source: MTSP-LDP §3.2.
"""

from collections.abc import Sequence

import numpy as np

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.tree import binary_tree


def dissimilarity(
    estimate: Sequence[FloatArray],
    last_release: Sequence[FloatArray],
    node_variance: float,
    d: int,
) -> float:
    """Compute the mean squared difference over the nodes that hold an unknown, minus the estimate's noise.

    Parameters
    ----------
    estimate, last_release
        Node values per level, level 1 first, each of padded length ``2**level``; raw.
    node_variance
        Noise variance of one node of the estimate (the mean over nodes).
    d
        Number of cells. The root and the nodes that cover padding only are not counted.

    Returns
    -------
    float
        dis_t; it may be negative, and is not clipped.
    """
    gap = np.concatenate(estimate) - np.concatenate(last_release)
    counted = gap[binary_tree(d).asked[1:]]
    return float((counted * counted).sum()) / counted.size - node_variance
