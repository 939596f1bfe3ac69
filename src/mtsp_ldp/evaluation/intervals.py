"""Confidence intervals over repetitions: Student's t, at 95 %, on the scale of the quantity.

Means of squared errors are positive and skewed: their intervals are taken on the log scale, where the
standard error of log(mean) is about se / mean, so that they are positive and lie around the printed mean.
"""

from typing import NamedTuple

import numpy as np
import polars as pl
from scipy import stats

LEVEL = 0.95


class Interval(NamedTuple):
    """Both ends, one entry a row; null where one repetition has no interval."""

    low: pl.Series
    high: pl.Series


def half_width(deviation: pl.Series, number: pl.Series, comparisons: int = 1) -> pl.Series:
    """Compute half of the width of a mean's interval: t times its standard error.

    Parameters
    ----------
    deviation
        Standard deviation over repetitions (ddof = 1); null for a single one.
    number
        Number of repetitions.
    comparisons
        Number of intervals that are to hold all at once (Bonferroni).
    """
    freedom = np.maximum(number.to_numpy() - 1, 1)
    quantile = pl.Series(stats.t.ppf(1 - (1 - LEVEL) / 2 / comparisons, freedom), dtype=pl.Float64)
    return quantile * deviation / number.sqrt()


def around(mean: pl.Series, half: pl.Series) -> Interval:
    """Compute the interval of a mean that may have any sign: mean ± half."""
    return Interval(mean - half, mean + half)


def positive(mean: pl.Series, half: pl.Series) -> Interval:
    """Compute the interval of a positive mean: mean · exp(± half / mean); a mean of 0 is exact."""
    relative = half / mean
    factor = pl.select(pl.when(mean == 0).then(half * 0.0).otherwise(relative)).to_series().exp()
    return Interval(mean / factor, mean * factor)
