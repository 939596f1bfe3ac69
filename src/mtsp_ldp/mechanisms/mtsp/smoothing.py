"""M3, second half: publications of a node that look alike are grouped, and a group releases its mean.

Post-processing of reports that are already private: no budget. Source: MTSP-LDP §3.4 names the strategy;
the test is a reconstruction.
"""

import numpy as np

from mtsp_ldp.oracle import FloatArray


class NodeGroups:
    """The open group of every node.

    Parameters
    ----------
    size
        Number of nodes.
    tolerance
        c: a value joins while the group's noise-corrected variance stays within c times its mean noise
        variance. None never groups.
    """

    def __init__(self, size: int, tolerance: float | None = 1.0) -> None:
        self._tolerance = tolerance
        self._count = np.zeros(size)
        self._sum = np.zeros(size)
        self._squares = np.zeros(size)
        self._noise = np.zeros(size)

    def add(self, values: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Take up one publication.

        Parameters
        ----------
        values, variances
            Raw node values and their noise variances, ``(size,)``.

        Returns
        -------
        released, variance
            The mean of each node's open group, and its noise variance sum(v) / n^2.
        """
        count, total = self._count + 1, self._sum + values
        squares, noise = self._squares + values**2, self._noise + variances
        if self._tolerance is None:
            joins = np.zeros(values.size, dtype=bool)
        else:
            spread = (squares - total**2 / count) / np.maximum(count - 1, 1)
            mean_noise = noise / count
            joins = spread - mean_noise <= self._tolerance * mean_noise
        self._count = np.where(joins, count, 1.0)
        self._sum = np.where(joins, total, values)
        self._squares = np.where(joins, squares, values**2)
        self._noise = np.where(joins, noise, variances)
        return self._sum / self._count, self._noise / self._count**2
