"""Numbering of cells along a Hilbert curve, so that neighbours in the tree are neighbours on the map."""

import numpy as np
import numpy.typing as npt
from hilbertcurve.hilbertcurve import HilbertCurve

from mtsp_ldp.oracle import FloatArray, IntArray

_FINE = 16  # bits a side for points: 65,536 steps


def hilbert_grid(side: int) -> IntArray:
    """Cell number of each grid square, ``(side, side)`` indexed [x, y]; side is a power of two."""
    bits = side.bit_length() - 1
    if side < 1 or 1 << bits != side:
        raise ValueError(f"grid={side!r}: a power of two")
    numbers = np.zeros((side, side), dtype=np.int64)
    if bits:
        points = HilbertCurve(bits, 2).points_from_distances(list(range(side * side)))
        x, y = np.array(points, dtype=np.int64).T
        numbers[x, y] = np.arange(side * side)
    return numbers


def hilbert_order(lon: npt.ArrayLike, lat: npt.ArrayLike) -> IntArray:
    """The order of points along a Hilbert curve over their bounding box, ``(n,)``; ties stay in order."""
    curve = HilbertCurve(_FINE, 2)
    points = np.column_stack([_steps(lon), _steps(lat)]).tolist()
    return np.argsort(curve.distances_from_points(points), kind="stable")


def _steps(values: npt.ArrayLike) -> IntArray:
    place: FloatArray = np.asarray(values, dtype=np.float64)
    span = float(np.ptp(place)) or 1.0
    steps: IntArray = np.rint((place - place.min()) / span * ((1 << _FINE) - 1)).astype(np.int64)
    return steps
