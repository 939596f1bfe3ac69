"""M3, second half: publications of a node that look alike are grouped, and a group releases one value.

Post-processing of reports that are already private: no budget. Source: MTSP-LDP §3.4 names the strategy;
the tests are reconstructions.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray

Grouping = Literal["none", "variance", "predictive"]
Smoothing = Literal["mean", "median", "inverse_variance"]
_JUMP, _DRIFT, _LIMIT = 3.0, 0.5, 5.0  # of the predictive test, in standard deviations


@dataclass
class _Sums:
    """Sums over each node's group, ``(size,)``: values, squares, noise variances, inverse variances."""

    count: FloatArray
    values: FloatArray
    squares: FloatArray
    noise: FloatArray
    precision: FloatArray
    weighted: FloatArray

    @classmethod
    def of(cls, values: FloatArray, variances: FloatArray) -> "_Sums":
        precision = 1.0 / np.maximum(variances, 1e-30)
        return cls(np.ones(values.size), values, values**2, variances, precision, precision * values)

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(*(a + b for a, b in zip(self._all(), other._all(), strict=True)))

    def where(self, mask: np.ndarray, other: "_Sums") -> "_Sums":
        pairs = zip(self._all(), other._all(), strict=True)
        return _Sums(*(np.where(mask, a, b) for a, b in pairs))

    def _all(self) -> tuple[FloatArray, ...]:
        return (self.count, self.values, self.squares, self.noise, self.precision, self.weighted)


class NodeGroups:
    """The open group of every node.

    Parameters
    ----------
    size
        Number of nodes.
    grouping
        Test by which a value joins a group. ``variance``: it joins while the group's noise-corrected variance
        stays within ``tolerance`` times its mean noise variance. ``predictive`` [extension]: a group ends
        where a value is 3 standard deviations from its mean, or where a two-sided CUSUM (drift 0.5) exceeds
        5: the variance test loses power as a group grows. ``none``: each value is a group.
    smoothing
        Value that a group releases: its mean, median, or inverse-variance mean.
    tolerance
        Factor c of the variance test.
    window
        Number of the last values of a group that count, for test and release; None is all.

    Attributes
    ----------
    age
        Number of values in each node's open group, ``(size,)``, those that left the window included.
    """

    def __init__(
        self,
        size: int,
        grouping: Grouping = "variance",
        smoothing: Smoothing = "mean",
        tolerance: float = 1.0,
        window: int | None = None,
    ) -> None:
        self._grouping = grouping
        self._smoothing = smoothing
        self._tolerance = tolerance
        self._window = window
        self._sums = _Sums(*np.zeros((6, size)))
        self.age = np.zeros(size)
        self._since = np.zeros(size)  # publications since one answered the node
        self._rise, self._fall = np.zeros(size), np.zeros(size)
        # single values are kept only where sums do not suffice
        keeps = window is not None or smoothing == "median"
        self._rows: deque[tuple[FloatArray, FloatArray]] | None = None
        if keeps:
            self._rows = deque(maxlen=window)

    def add(
        self, values: FloatArray, variances: FloatArray, copied: BoolArray | None = None
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Add one publication.

        Parameters
        ----------
        values, variances
            Raw node values and their noise variances, ``(size,)``.

        copied
            Nodes that no report of this publication answered, ``(size,)``; none by default.

        Returns
        -------
        released, variance : FloatArray
            Value that each node's open group releases, and its noise variance, ``(size,)``.
        copied : BoolArray
            Nodes that no report of their open group answered, ``(size,)``.
        """
        alone = _Sums.of(values, variances)
        group = self._open() + alone
        joins = self._joins(values, variances, group)
        self._sums = group.where(joins, alone)
        self.age = np.where(joins, self.age + 1, 1.0)
        if self._rows is not None:
            self._rows.append((values, variances))
        self._since = np.where(False if copied is None else copied, self._since + 1, 0.0)
        members = self.age if self._window is None else np.minimum(self.age, self._window)
        return *self._release(values, variances), self._since >= members

    def _open(self) -> _Sums:
        """Sum the open group without what has left its window."""
        if self._rows is None or self._window is None:
            return self._sums
        sums = _Sums(*np.zeros((6, self.age.size)))
        recent = list(self._rows)[::-1][: self._window - 1]
        for back, (values, variances) in enumerate(recent, start=1):
            sums = (sums + _Sums.of(values, variances)).where(self.age >= back, sums)
        return sums

    def _joins(self, values: FloatArray, variances: FloatArray, group: _Sums) -> np.ndarray:
        if self._grouping == "none":
            return np.zeros(values.size, dtype=bool)
        if self._grouping == "variance":
            spread = (group.squares - group.values**2 / group.count) / np.maximum(group.count - 1, 1)
            noise = group.noise / group.count
            return np.asarray(spread - noise <= self._tolerance * noise)
        return self._predicted(values, variances)

    def _predicted(self, values: FloatArray, variances: FloatArray) -> np.ndarray:
        group = self._open()
        number = np.maximum(group.count, 1)
        gap = values - group.values / number
        scale = np.sqrt(variances + group.noise / number**2)
        error = np.divide(gap, scale, out=np.where(gap == 0, 0.0, np.inf), where=scale > 0)
        error[group.count == 0] = 0.0
        rise = np.maximum(self._rise + error - _DRIFT, 0.0)
        fall = np.maximum(self._fall - error - _DRIFT, 0.0)
        joins = (np.abs(error) <= _JUMP) & (rise <= _LIMIT) & (fall <= _LIMIT)
        self._rise, self._fall = np.where(joins, rise, 0.0), np.where(joins, fall, 0.0)
        return np.asarray(joins)

    def _release(self, values: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        sums = self._sums
        spread = sums.noise / sums.count**2
        if self._smoothing == "mean":
            return sums.values / sums.count, spread
        if self._smoothing == "inverse_variance":
            return sums.weighted / sums.precision, 1.0 / sums.precision
        # the rows end with the new one; the median of Gaussian noise has pi/2 of the mean's variance
        rows = [values for values, _ in self._rows or [(values, variances)]]
        back = np.arange(len(rows), 0, -1)[:, None]
        members = np.where(back <= self.age, np.array(rows), np.nan)
        return np.nanmedian(members, axis=0), np.where(sums.count > 2, math.pi / 2, 1.0) * spread
