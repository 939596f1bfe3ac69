"""The binary tree over cells: levels, node intervals, padding, minimum cover. Geometry only.

Nodes are kept in one flat array in level order: node i of level l is at ``2**l - 1 + i`` and covers the
leaves ``[i * 2**(L-1-l), (i+1) * 2**(L-1-l))``. Source: MTSP-LDP §2.4.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class BinaryTree:
    """A perfect binary tree over ``d`` cells, padded to a power of two.

    Attributes
    ----------
    d
        Number of cells, at least 1.
    """

    d: int

    def __post_init__(self) -> None:
        if self.d < 1:
            raise ValueError(f"d={self.d!r}: must be at least one cell")

    @cached_property
    def leaves(self) -> int:
        """Number of leaves D, the least power of two that is at least d."""
        return int(1 << (self.d - 1).bit_length())

    @cached_property
    def levels(self) -> int:
        """Number of levels L = log2 D + 1, the root's included."""
        return self.leaves.bit_length()

    @cached_property
    def size(self) -> int:
        """Number of nodes, padding included: 2 D - 1."""
        return 2 * self.leaves - 1

    def level(self, level: int) -> slice:
        """Slice the nodes of a level out of the flat array."""
        return slice((1 << level) - 1, (2 << level) - 1)

    @cached_property
    def bottom(self) -> slice:
        """Slice of the d cells in the flat array, padding excluded."""
        return slice(self.leaves - 1, self.leaves - 1 + self.d)

    @cached_property
    def level_of(self) -> npt.NDArray[np.int64]:
        """Level of each node, ``(size,)``."""
        return np.repeat(np.arange(self.levels), 1 << np.arange(self.levels))

    @cached_property
    def cells(self) -> npt.NDArray[np.int64]:
        """Number of real (non-padding) cells under each node, ``(size,)``."""
        width = 1 << (self.levels - 1 - self.level_of)
        first = (np.arange(self.size) - (1 << self.level_of) + 1) * width
        return np.asarray(np.clip(self.d - first, 0, width))

    @cached_property
    def asked(self) -> npt.NDArray[np.bool_]:
        """Mask of the nodes that hold an unknown: neither the root nor padding only, ``(size,)``."""
        asked = self.cells > 0
        asked[0] = False
        return asked

    @cached_property
    def path(self) -> npt.NDArray[np.int64]:
        """Node of each level above each cell, ``(levels, d)``, as indices of the flat array."""
        level = np.arange(self.levels)[:, None]
        return np.asarray((1 << level) - 1 + (np.arange(self.d) >> (self.levels - 1 - level)))

    def cover(self, lo: int, hi: int) -> list[tuple[int, int]]:
        """Find the unique smallest set of nodes whose disjoint union is ``[lo, hi]``, left to right.

        Parameters
        ----------
        lo, hi
            First and last leaf, inclusive.

        Returns
        -------
        list
            Pairs (level, index).
        """
        if not 0 <= lo <= hi < self.leaves:
            raise ValueError(f"[{lo}, {hi}]: must be an interval of leaves in 0..{self.leaves - 1}")
        left: list[tuple[int, int]] = []
        right: list[tuple[int, int]] = []
        level, start, end = self.levels - 1, lo, hi + 1
        while start < end:
            if start & 1:
                left.append((level, start))
                start += 1
            if end & 1:
                end -= 1
                right.append((level, end))
            level, start, end = level - 1, start >> 1, end >> 1
        return left + right[::-1]


@lru_cache(maxsize=64)
def binary_tree(d: int) -> BinaryTree:
    """Make the tree over d cells, once."""
    return BinaryTree(d)
