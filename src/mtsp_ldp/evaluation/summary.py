"""From scores per repetition to means with intervals, per cell of the grid."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from mtsp_ldp.foundation.files import read_table
from mtsp_ldp.mechanisms.registry import baselines

CELL = ["dataset", "mechanism", "epsilon", "window", "release", "query", "measure"]


def read_scores(paths: Iterable[str | Path]) -> pl.DataFrame:
    """All scores of the runs, in a fixed order."""
    return pl.concat([read_table(path) for path in paths]).sort([*CELL, "repetition"])


def summarize(scores: pl.DataFrame) -> pl.DataFrame:
    """Mean, 95 % t-interval, median and gain over the best baseline of each cell.

    Parameters
    ----------
    scores
        Long scores, one row a repetition and measure.

    Returns
    -------
    One row a cell and measure: mean, low, high (null for one repetition), median, repetitions (in which the
    measure is defined), and gain =
    the smallest baseline mean of that cell / the mean (of errors: above 1 is better than any baseline).
    """
    # a repetition in which a measure is undefined does not count
    value = pl.col("value").drop_nans()
    table = scores.group_by(CELL, maintain_order=True).agg(
        mean=value.mean(), median=value.median(), deviation=value.std(), repetitions=value.len()
    )
    quantile = stats.t.ppf(0.975, np.maximum(table["repetitions"].to_numpy() - 1, 1))
    half = quantile * table["deviation"] / table["repetitions"].sqrt()
    table = table.with_columns(low=table["mean"] - half, high=table["mean"] + half)
    column = [name for name in CELL if name != "mechanism"]
    best = (
        table.filter(pl.col("mechanism").is_in(baselines())).group_by(column).agg(best=pl.col("mean").min())
    )
    return (
        table.join(best, on=column, how="left", maintain_order="left")
        .with_columns(gain=pl.col("best") / pl.col("mean"))
        .drop("best", "deviation")
    )


def variant_ratios(scores: pl.DataFrame) -> pl.DataFrame:
    """What a variant's measure is in proportion to its mechanism's, paired by repetition.

    Returns
    -------
    One row a cell and measure of each ``<mechanism>.<variant>``: the geometric mean of the ratios with its
    95 % t-interval on the log scale, NaN where a value is not positive (a ratio is undefined then).
    """
    name = pl.col("mechanism").str.splitn(".", 2)
    split = scores.with_columns(base=name.struct[0], variant=name.struct[1])
    column = [part for part in CELL if part != "mechanism"]
    plain = split.filter(pl.col("variant").is_null()).select(
        *column, "repetition", base="mechanism", plain="value"
    )
    both = split.filter(pl.col("variant").is_not_null()).join(
        plain, on=[*column, "repetition", "base"], maintain_order="left"
    )
    positive = (pl.col("value") > 0) & (pl.col("plain") > 0)
    logs = both.with_columns(
        log=pl.when(positive).then((pl.col("value") / pl.col("plain")).log()).otherwise(float("nan"))
    )
    table = logs.group_by([*column, "base", "variant"], maintain_order=True).agg(
        mean=pl.col("log").mean(), deviation=pl.col("log").std(), repetitions=pl.len()
    )
    quantile = stats.t.ppf(0.975, np.maximum(table["repetitions"].to_numpy() - 1, 1))
    half = quantile * table["deviation"] / table["repetitions"].sqrt()
    return table.select(
        *column,
        "base",
        "variant",
        ratio=table["mean"].exp(),
        low=(table["mean"] - half).exp(),
        high=(table["mean"] + half).exp(),
        repetitions="repetitions",
    )


def with_floors(summary: pl.DataFrame) -> pl.DataFrame:
    """The summary with each floor repeated in every (epsilon, window) of the grid."""
    floor = pl.col("epsilon").is_null()
    grid = summary.filter(~floor).select("epsilon", "window").unique().sort("epsilon", "window")
    floors = summary.filter(floor).drop("epsilon", "window").join(grid, how="cross")
    return pl.concat([summary.filter(~floor), floors.select(summary.columns)])
