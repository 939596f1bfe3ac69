"""Comparison of two mechanisms: paired by repetition, within one release column, stream by stream.

Cells of ε and w of one stream share its data and are no independent samples; tests over a sample (Friedman,
Nemenyi) therefore count streams. docs/method.md says what each number means.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from mtsp_ldp.evaluation.intervals import around, half_width
from mtsp_ldp.evaluation.measures import ERRORS
from mtsp_ldp.mechanisms.registry import floors

PLACE = ["dataset", "epsilon", "window"]


def paired(
    scores: pl.DataFrame,
    first: str,
    second: str,
    query: str = "frequency",
    measure: str = "mse",
    release: str = "raw",
) -> pl.DataFrame:
    """Compare the first mechanism's measure with the second's, cell by cell.

    Parameters
    ----------
    scores
        Long scores, one row a repetition and measure.
    first, second
        Mechanisms of the experiment.
    query, measure, release
        Measure to compare; errors (``mse`` …) as the geometric mean of ratios, anything else as the mean
        difference.

    Returns
    -------
    DataFrame
        One row a stream, ε and w that both have: ``value`` (the ratio or the difference), ``low`` and
        ``high`` (95 % t-interval over repetitions; on the log scale for ratios), ``better``: true, false, or
        null where the interval does not decide.
    """
    here = scores.filter(pl.col("query") == query, pl.col("measure") == measure, pl.col("release") == release)
    sides = [
        here.filter(pl.col("mechanism") == name).select(*PLACE, "repetition", pl.col("value").alias(side))
        for name, side in ((first, "a"), (second, "b"))
    ]
    both = sides[0].join(sides[1], on=[*PLACE, "repetition"], how="inner", maintain_order="left")
    is_error = measure in ERRORS
    difference = pl.col("a").log() - pl.col("b").log() if is_error else pl.col("a") - pl.col("b")
    table = (
        both.with_columns(difference=difference)
        .filter(pl.col("difference").is_finite())
        .group_by(PLACE, maintain_order=True)
        .agg(mean=pl.col("difference").mean(), deviation=pl.col("difference").std(), n=pl.len())
        .filter(pl.col("n") > 1)
    )
    low, high = around(table["mean"], half_width(table["deviation"], table["n"]))
    sign = -1 if is_error else 1
    better = pl.when(sign * pl.col("low") > 0, sign * pl.col("high") > 0).then(True)
    worse = pl.when(sign * pl.col("low") < 0, sign * pl.col("high") < 0).then(False)
    judged = table.with_columns(low=low, high=high).with_columns(better=pl.coalesce(better, worse))
    unlog = [pl.col(name).exp() if is_error else pl.col(name) for name in ("mean", "low", "high")]
    return judged.with_columns(unlog).select(*PLACE, "low", "high", "better", value="mean").sort(PLACE)


def rivals(table: pl.DataFrame, release: str = "raw") -> pl.DataFrame:
    """Pick the MSE of frequencies, in scores or a summary, of mechanisms that read data; no variants."""
    return table.filter(
        pl.col("query") == "frequency",
        pl.col("measure") == "mse",
        pl.col("release") == release,
        ~pl.col("mechanism").is_in(floors()),
        ~pl.col("mechanism").str.contains(".", literal=True),
    )


@dataclass(frozen=True)
class Ranking:
    """Mean ranks over streams, and the tests of their differences.

    Attributes
    ----------
    ranks
        ``mechanism, rank`` (1 is best), best first.
    streams
        Number of streams that the ranks are over.
    p_value
        p-value of Friedman's test over streams; None with fewer than three.
    critical
        Nemenyi's critical difference at 5 %; None with fewer than three streams.
    """

    ranks: pl.DataFrame
    streams: int
    p_value: float | None
    critical: float | None


def ranking(summary: pl.DataFrame, release: str = "raw") -> Ranking:
    """Rank the mechanisms that read data within each stream, and take the mean over streams.

    Within a stream they are ranked by their mean rank by MSE over its cells.
    """
    cells = rivals(summary, release)
    ranked = cells.with_columns(rank=pl.col("mean").rank().over(PLACE))
    by_stream = ranked.group_by("dataset", "mechanism").agg(pl.col("rank").mean())
    by_stream = by_stream.with_columns(pl.col("rank").rank().over("dataset"))
    ranks = by_stream.group_by("mechanism").agg(pl.col("rank").mean()).sort("rank", "mechanism")
    table = by_stream.pivot("mechanism", index="dataset", values="rank").sort("dataset").drop("dataset")
    n, k = table.height, table.width
    if n < 3 or k < 3:
        return Ranking(ranks, n, None, None)
    test = stats.friedmanchisquare(*table.to_numpy().T)
    studentized = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    return Ranking(ranks, n, float(test.pvalue), float(studentized * np.sqrt(k * (k + 1) / (6 * n))))


def profiles(summary: pl.DataFrame, factors: Sequence[float], release: str = "raw") -> pl.DataFrame:
    """Compute performance profiles: the share of cells with a mechanism's MSE within a factor of the best.

    A description of these cells, not a sample of others (Dolan and Moré 2002).

    Returns
    -------
    DataFrame
        Columns ``mechanism, factor, share``.
    """
    cells = rivals(summary, release)
    ratio = cells.with_columns(ratio=pl.col("mean") / pl.col("mean").min().over(PLACE))
    parts = [
        ratio.group_by("mechanism")
        .agg(share=(pl.col("ratio") <= factor * (1 + 1e-12)).mean())
        .with_columns(factor=pl.lit(float(factor)))
        for factor in factors
    ]
    return pl.concat(parts).select("mechanism", "factor", "share").sort("mechanism", "factor")
