"""What callers give for a stream: integers and arrays of them, taken as they are or refused."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import IntArray
from mtsp_ldp.foundation.numbers import integer, unmasked
from mtsp_ldp.streams.facts import StreamError


def whole(name: str, value: int, least: int = 0) -> int:
    """Take an integer; raise StreamError for anything else."""
    try:
        return integer(name, value, least=least)
    except ValueError as error:
        raise StreamError(str(error)) from None


def column(name: str, values: npt.ArrayLike) -> npt.NDArray[np.integer[Any]]:
    """Take a column of a panel, of any type of integers."""
    try:
        given = unmasked(name, values)
    except ValueError as error:
        raise StreamError(f"panel: column {error}") from None
    if not np.issubdtype(given.dtype, np.integer):
        raise StreamError(f"panel: column {name!r}: must be integers, not {given.dtype}")
    return given


def table_of(counts: npt.ArrayLike) -> IntArray:
    """Take a table of counts; whole numbers of another type are taken, too."""
    try:
        given = unmasked("counts", counts)
        table = given.astype(np.int64)
    except (ValueError, TypeError) as error:
        raise StreamError(f"counts: must be a table (T, d) of integers, at least 0 ({error})") from None
    whole = given.dtype.kind in "iuf" and (table == given).all()
    if not whole or table.ndim != 2 or 0 in table.shape or (table < 0).any():
        raise StreamError("counts: must be a table (T, d) of integers, at least 0")
    return table
