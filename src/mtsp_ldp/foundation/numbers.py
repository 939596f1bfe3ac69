"""Numbers that callers give: Python's and numpy's are taken, and nothing else is cut or turned into one."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import IntArray


def plain(value: Any) -> Any:
    """Turn a number of numpy into one of Python; anything else stays what it is."""
    return value.item() if isinstance(value, np.generic) else value


def integer(name: str, value: Any, least: int | None = None, most: int | None = None) -> int:
    """Take an integer.

    Parameters
    ----------
    name
        Name of the parameter, for the error.
    value
        An integer of Python or numpy; truth values are none.
    least, most
        Bounds, inclusive.

    Raises
    ------
    ValueError
        Naming the parameter, its value and what it must be.
    """
    found = plain(value)
    good = isinstance(found, int) and not isinstance(found, bool)
    if not (good and (least is None or found >= least) and (most is None or found <= most)):
        bounds = (
            f" in {least}..{most}" if most is not None else "" if least is None else f", at least {least}"
        )
        raise ValueError(f"{name}={value!r}: must be an integer{bounds}")
    return int(found)


def positive(name: str, value: Any) -> float:
    """Take a finite number above 0; raise ValueError naming the parameter for anything else."""
    found = plain(value)
    good = isinstance(found, int | float) and not isinstance(found, bool)
    if not (good and math.isfinite(found) and found > 0):
        raise ValueError(f"{name}={value!r}: must be a finite number above 0")
    return float(found)


def integers(name: str, values: npt.ArrayLike) -> IntArray:
    """Take an array of integers, without masked entries.

    Raises
    ------
    ValueError
        Naming the parameter, if they are of another type, or some are masked.
    """
    given = unmasked(name, values)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"{name}: must be integers, not {given.dtype}")
    return given.astype(np.int64, copy=False)


def unmasked(name: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Take an array; raise ValueError if it has masked entries, which are no values."""
    if np.ma.is_masked(values):
        raise ValueError(f"{name}: must have no masked entries")
    return np.asarray(values)
