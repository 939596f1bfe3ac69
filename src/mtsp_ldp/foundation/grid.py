"""Numbering of cells along a Hilbert curve, so that neighbours in the tree are neighbours on the map."""

import numpy as np
import numpy.typing as npt
from hilbertcurve.hilbertcurve import HilbertCurve

from mtsp_ldp.foundation.arrays import FloatArray, IntArray

_FINE = 16  # bits a side for points: 65,536 steps


def hilbert_grid(side: int) -> IntArray:
    """Enumerate the squares of a grid along a Hilbert curve, ``(side, side)`` indexed [x, y].

    Where the side is no power of two, the curve of the next larger one is walked and the squares outside
    are left out.
    """
    if side < 1:
        raise ValueError(f"grid={side!r}: must be an integer number of squares a side, at least 1")
    if side == 1:
        return np.zeros((1, 1), dtype=np.int64)
    bits = (side - 1).bit_length()
    points = HilbertCurve(bits, 2).points_from_distances(list(range(1 << 2 * bits)))
    walk = np.array(points, dtype=np.int64)
    x, y = walk[(walk < side).all(axis=1)].T
    numbers = np.zeros((side, side), dtype=np.int64)
    numbers[x, y] = np.arange(side * side)
    return numbers


def hilbert_order(lon: npt.ArrayLike, lat: npt.ArrayLike) -> IntArray:
    """Sort points along a Hilbert curve over their bounding box: indices ``(n,)``; ties stay in order."""
    curve = HilbertCurve(_FINE, 2)
    points = np.column_stack([_steps(lon), _steps(lat)]).tolist()
    return np.argsort(curve.distances_from_points(points), kind="stable")


def _steps(values: npt.ArrayLike) -> IntArray:
    place: FloatArray = np.asarray(values, dtype=np.float64)
    span = float(np.ptp(place)) or 1.0
    steps: IntArray = np.rint((place - place.min()) / span * ((1 << _FINE) - 1)).astype(np.int64)
    return steps
