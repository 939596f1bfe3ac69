"""How far a release is from the truth. Pure functions on arrays; timestamps without users are left out."""

import numpy as np
import numpy.typing as npt

from mtsp_ldp.oracle import FloatArray


def squared_error(estimate: FloatArray, truth: FloatArray, active: npt.ArrayLike) -> float:
    """Mean squared error of frequencies over timestamps with users and over cells.

    Parameters
    ----------
    estimate, truth
        Frequencies (0-1), ``(T, d)``.
    active
        n_t, ``(T,)``; rows with n_t = 0 are left out.

    Returns
    -------
    The mean; NaN if nobody is ever there.
    """
    return _mean((estimate - truth) ** 2, active)


def absolute_error(estimate: FloatArray, truth: FloatArray, active: npt.ArrayLike) -> float:
    """Mean absolute error of frequencies; see `squared_error`."""
    return _mean(np.abs(estimate - truth), active)


def _mean(errors: FloatArray, active: npt.ArrayLike) -> float:
    there = np.asarray(active) > 0
    return float(errors[there].mean()) if there.any() else float("nan")
