"""Integer shares of the window. Sums are exact, so no float residue ever becomes a report.

A share is an integer number of *units* of 2^-40 of the window, rounded down. A part of the window as a float
in 0–1 is called a *fraction*; the type `Units` keeps the two apart.
"""

import math
from typing import NewType

Units = NewType("Units", int)
"""Integer units of 2^-40 of the window; at run time a plain ``int``."""
FULL = Units(1 << 40)
"""The whole window."""
NOTHING = Units(1 << 10)
"""A remainder below this (2^-30 of the window) counts as nothing left."""


def to_units(fraction: float) -> Units:
    """Convert a fraction of the window (0–1) to units, rounding down."""
    return Units(math.floor(fraction * FULL))
