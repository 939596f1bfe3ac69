"""Releases: histograms or trees, per t, with n_t; and the queries that they answer at no budget.

A release holds nothing private. Source of the queries: MTSP-LDP §2.5, §3.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray, IntArray
from mtsp_ldp.foundation.numbers import integer
from mtsp_ldp.foundation.projection import project_on_simplex, refine
from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.mechanisms.posterior import Posterior, Windows
from mtsp_ldp.releases.events import flags
from mtsp_ldp.releases.queries import Box, box_intervals, cover_sums
from mtsp_ldp.releases.windows import Estimate, PeriodQuery, answer, check_intervals, intervals

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Release:
    """A published stream.

    Attributes
    ----------
    versions
        Distinct releases, the initial one first: ``(V, d)`` frequencies, or ``(V, size)`` tree nodes.
    which
        Index of the version that is released at t, ``(T,)``.
    active
        n_t, ``(T,)``.
    trace
        One row a t: t, active, share_1, share_2, published, dissimilarity, k.
    tree
        Geometry of the versions, where they are trees.
    variances
        Variances of the errors of the versions: of trees the noise of each node; None where the mechanism
        states none.
    copied
        Tree nodes that no report answered, ``(V, size)``.
    of_all_users
        True if frequencies are shares of all users, the absent included (``presence: private``).
    posterior
        What the mechanism believes of the whole stream; queries over periods are answered from it. None where
        it is nothing beyond the releases, of which they are sums then.
    """

    versions: FloatArray
    which: IntArray
    active: IntArray
    trace: pl.DataFrame
    tree: BinaryTree | None = None
    variances: FloatArray | None = None
    copied: BoolArray | None = None
    of_all_users: bool = False
    posterior: Posterior | None = None

    @property
    def d(self) -> int:
        """Number of cells."""
        return int(self.versions.shape[1]) if self.tree is None else self.tree.d

    @property
    def length(self) -> int:
        """T, the number of timestamps."""
        return int(self.which.size)

    @property
    def leaves(self) -> FloatArray:
        """Frequencies of the cells in each version, ``(V, d)``."""
        return self.versions if self.tree is None else self.versions[:, self.tree.bottom]

    @cached_property
    def cumulative(self) -> FloatArray:
        """Sums of the first 0, 1, …, d cells of each version, ``(V, d + 1)``."""
        nothing = np.zeros((self.versions.shape[0], 1))
        return np.concatenate([nothing, np.cumsum(self.leaves, axis=1)], axis=1)

    @property
    def frequencies(self) -> FloatArray:
        """Frequencies as released, ``(T, d)``; they may be negative or above 1 if raw."""
        return self.leaves[self.which]

    @property
    def counts(self) -> FloatArray:
        """Frequencies times n_t, ``(T, d)``."""
        return self.frequencies * self.active[:, None]

    @property
    def projection(self) -> str:
        """Which projection `projected` makes: ``tree`` or ``simplex``."""
        return "simplex" if self.tree is None else "tree"

    def projected(self) -> "Release":
        """Make every version of a copy non-negative with a sum of 1, at no privacy cost.

        A histogram is projected on the simplex; a tree is made consistent and non-negative from the top down.
        Shares of all users sum to at most 1, since some are absent. Histograms that were released so
        are their own projection.
        """
        if self.tree is None or self.variances is None:
            if self._is_projected:
                return self
            nearest = project_on_simplex(self.versions, at_most=self.of_all_users)
            return replace(self, versions=nearest)
        return replace(self, versions=refine(self.tree, self.versions, self.variances, self.copied))

    def again(self) -> "Release":
        """Release every t again from the mechanism's posterior: with its lag, from later reports too."""
        if self.posterior is None:
            raise ValueError("posterior=None: must be there, to release from")
        (every,) = self.posterior.moments([Windows(np.ones((self.length, 1)))])
        return replace(
            self, versions=every.mean, variances=every.variance, which=np.arange(self.length), copied=None
        )

    @property
    def _is_projected(self) -> bool:
        """True if all that is released is non-negative with a sum of 1, up to rounding."""
        released = self.versions[np.unique(self.which)]
        sums = released.sum(axis=1)
        return bool(
            (released >= 0).all()
            and (sums <= 1 + _ROUNDING).all()
            and (self.of_all_users or (sums >= 1 - _ROUNDING).all())
        )

    def range_frequencies(self, lo: npt.ArrayLike, hi: npt.ArrayLike) -> FloatArray:
        """Sum each interval of cells at each t, ``(T, Q)``: by minimum cover on trees.

        Raises
        ------
        ValueError
            If an interval is empty or leaves 0..d-1.
        """
        first, last = intervals(lo, hi)
        check_intervals(first, last, self.d)
        if self.tree is not None:
            return cover_sums(self.tree, self.versions, first, last)[self.which]
        sums = self.cumulative
        return np.asarray((sums[:, last + 1] - sums[:, first])[self.which])

    def box_frequencies(self, numbers: IntArray, boxes: Sequence[Box]) -> FloatArray:
        """Sum each box at each t, ``(T, B)``: its intervals, each by minimum cover on trees.

        Parameters
        ----------
        numbers
            Cell of each square of the grid, ``(side, side)`` indexed [x, y].
        boxes
            Inclusive bounds.
        """
        runs = [box_intervals(numbers, box) for box in boxes]
        lo, hi = (np.concatenate(ends) for ends in zip(*runs, strict=True))
        starts = np.cumsum([0, *(first.size for first, _ in runs[:-1])])
        return np.asarray(np.add.reduceat(self.range_frequencies(lo, hi), starts, axis=1))

    def range_counts(self, lo: npt.ArrayLike, hi: npt.ArrayLike, delta: int = 1) -> FloatArray:
        """Count users in each interval over the delta timestamps that end at t, ``(T - delta + 1, Q)``."""
        return self.answer([PeriodQuery(*intervals(lo, hi), delta)])[0].values

    def answer(self, queries: Sequence[PeriodQuery]) -> list[Estimate]:
        """Answer queries about periods, with the variances that the mechanism states; see `PeriodQuery`.

        A posterior goes through all reports once for what it was not asked before, so ask several at once.
        """
        return answer(self, queries)

    def changes(
        self,
        lo: npt.ArrayLike,
        hi: npt.ArrayLike,
        delta: int,
        *,
        relative: bool = False,
        users: IntArray | None = None,
    ) -> FloatArray:
        """Compare each period with the one before: X_t - X_(t - delta), ``(T - 2 delta + 1, Q)``.

        Parameters
        ----------
        lo, hi
            Intervals of cells, ``(Q,)``.
        delta
            Timestamps of a period; t = 2 delta - 1 … T - 1.
        relative
            Divide each period's count by its own sum of n_t, so that a change in activity alone is no
            event; NaN where a period has no active user.
        users
            Users who are there, ``(T,)``, if that is not n_t: a release with private presence counts all.

        Notes
        -----
        Changes are rounded to a millionth of a user (relative: to 1e-12), so that equal counts give equal
        changes and no float residue is an increase.
        """
        query = PeriodQuery(*intervals(lo, hi), delta, change=True, relative=relative, users=users)
        return self.answer([query])[0].values

    def count(self, cell: int, t: int, delta: int = 1) -> float:
        """Count users in a cell over the delta timestamps that end at t (counting query)."""
        return self.range(cell, cell, t, delta)

    def range(self, lo: int, hi: int, t: int, delta: int = 1) -> float:
        """Count users in cells lo..hi over the delta timestamps that end at t (range query)."""
        t = self._check(t, delta)
        return float(self.range_counts(lo, hi, delta)[t - delta + 1, 0])

    def event(
        self,
        cell_or_range: int | tuple[int, int],
        t: int,
        delta: int,
        threshold: float,
        relative: bool = False,
    ) -> bool:
        """Tell whether the count rose by at least a threshold between the two last periods (event query).

        Parameters
        ----------
        cell_or_range
            A cell, or (lo, hi) inclusive.
        t, delta
            The periods are the delta timestamps that end at t, and the delta before them.
        threshold
            Threshold in users; in frequency if relative.
        relative
            Divide each period by its own sum of n_t.
        """
        lo, hi = cell_or_range if isinstance(cell_or_range, tuple) else (cell_or_range,) * 2
        t = self._check(t, 2 * integer("delta", delta))
        query = PeriodQuery(*intervals(lo, hi), delta, change=True, relative=relative)
        return bool(flags(self.answer([query])[0], threshold)[t - 2 * delta + 1, 0])

    def _check(self, t: int, reach: int) -> int:
        t, reach = integer("t", t), integer("delta", reach)
        if not (reach >= 1 and reach - 1 <= t < self.length):
            raise ValueError(
                f"t={t}: must be in {max(reach, 1) - 1}..{self.length - 1} for {reach} timestamps"
            )
        return t
