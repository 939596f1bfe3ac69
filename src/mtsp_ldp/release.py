"""What was published: histograms or trees, per t, with n_t. A release holds nothing private."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from mtsp_ldp import queries
from mtsp_ldp.arrays import FloatArray, IntArray
from mtsp_ldp.postprocess import project_on_simplex, refine
from mtsp_ldp.stream import Stream
from mtsp_ldp.tree import BinaryTree


@dataclass(frozen=True)
class Release:
    """A published stream.

    Attributes
    ----------
    versions
        Distinct releases, the initial one first: ``(V, d)`` frequencies, or ``(V, size)`` tree nodes.
    which
        The version that stands at t, ``(T,)``.
    active
        n_t, ``(T,)``.
    trace
        One row a t: t, active, share_1, share_2, published, dissimilarity, k.
    tree
        The geometry where versions are trees.
    variances
        Noise variance of each tree node, ``(V, size)``.
    of_all_users
        Whether frequencies are shares of all users, the absent included (``presence: private``).
    """

    versions: FloatArray
    which: IntArray
    active: IntArray
    trace: pl.DataFrame
    tree: BinaryTree | None = None
    variances: FloatArray | None = None
    of_all_users: bool = False

    @classmethod
    def truth(cls, stream: Stream, replicate: int = 1) -> "Release":
        """The true frequencies in the shape of a release, to be asked the same queries."""
        shares = np.nan_to_num(stream.frequencies)
        steps = np.arange(stream.length)
        return cls(shares, steps, stream.active * replicate, pl.DataFrame({"t": steps}))

    @property
    def d(self) -> int:
        """Number of cells."""
        return int(self.versions.shape[1]) if self.tree is None else self.tree.d

    @property
    def leaves(self) -> FloatArray:
        """Frequencies of the cells in each version, ``(V, d)``."""
        if self.tree is None:
            return self.versions
        return self.versions[:, self.tree.level(self.tree.levels - 1)][:, : self.d]

    @cached_property
    def cumulative(self) -> FloatArray:
        """Sums of the first 0, 1, …, d cells of each version, ``(V, d + 1)``."""
        nothing = np.zeros((self.versions.shape[0], 1))
        return np.concatenate([nothing, np.cumsum(self.leaves, axis=1)], axis=1)

    @property
    def frequencies(self) -> FloatArray:
        """Frequencies as released, ``(T, d)``; they may be negative or above 1 if raw."""
        return self.leaves[self.which]

    def simplex(self) -> "Release":
        """A copy whose every version is a probability vector; trees are made consistent first.

        Shares of all users sum to at most 1, since some are absent.
        """
        if self.tree is None or self.variances is None:
            projected = project_on_simplex(self.versions, at_most=self.of_all_users)
            return replace(self, versions=projected)
        return replace(self, versions=refine(self.tree, self.versions, self.variances))

    def count(self, cell: int, t: int, delta: int = 1) -> float:
        """Users in a cell over the delta timestamps that end at t (counting query)."""
        return self.range(cell, cell, t, delta)

    def range(self, lo: int, hi: int, t: int, delta: int = 1) -> float:
        """Users in cells lo..hi over the delta timestamps that end at t (range query)."""
        self._check(t, delta)
        return float(queries.range_counts(self, lo, hi, delta)[t - delta + 1, 0])

    def event(
        self,
        cell_or_range: int | tuple[int, int],
        t: int,
        delta: int,
        threshold: float,
        relative: bool = False,
    ) -> bool:
        """Whether the count rose by at least a threshold between the two last periods (event query).

        Parameters
        ----------
        cell_or_range
            A cell, or (lo, hi) inclusive.
        t, delta
            The periods are the delta timestamps that end at t, and the delta before them.
        threshold
            In users; in frequency if relative.
        relative
            Divide each period by its own sum of n_t.
        """
        lo, hi = cell_or_range if isinstance(cell_or_range, tuple) else (cell_or_range,) * 2
        self._check(t, 2 * delta)
        change = queries.changes(self, lo, hi, delta, relative=relative)
        return bool(change[t - 2 * delta + 1, 0] >= threshold)

    def _check(self, t: int, reach: int) -> None:
        if not (reach >= 1 and reach - 1 <= t < self.which.size):
            raise ValueError(
                f"t={t}: {reach} timestamps that end in 0..{self.which.size - 1}; none before t = 0"
            )
