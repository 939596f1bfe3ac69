"""Summaries: means of scores over repetitions with intervals, per cell of the grid."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from mtsp_ldp.evaluation.intervals import around, half_width, positive
from mtsp_ldp.evaluation.measures import ERRORS, SAME
from mtsp_ldp.foundation.files import read_table
from mtsp_ldp.mechanisms.registry import baselines, floors

EXPECTED = {
    "dataset": pl.String,
    "mechanism": pl.String,
    "epsilon": pl.Float64,
    "window": pl.Int32,
    "expected": pl.Float64,
}
"""Schema of expected mean squared errors of raw frequencies, from closed forms."""
CELL = ["dataset", "mechanism", "epsilon", "window", "release", "query", "measure"]


def read_scores(paths: Iterable[str | Path]) -> pl.DataFrame:
    """Read all scores of the runs, in a fixed order."""
    return pl.concat([read_table(path) for path in paths]).sort([*CELL, "repetition"])


def summarize(scores: pl.DataFrame, expected: pl.DataFrame | None = None) -> pl.DataFrame:
    """Average the repetitions of each cell and measure, with intervals and gains.

    Parameters
    ----------
    scores
        Long scores, one row a repetition and measure.
    expected
        Expected errors of closed forms (dataset, mechanism, epsilon, window, expected), where there are some.

    Returns
    -------
    DataFrame
        One row a cell and measure: ``mean``, ``low``, ``high`` (95 % interval, on the log scale for errors;
        null for one repetition), ``median``, ``repetitions`` (in which the measure is defined), ``gain`` (the
        smallest baseline mean of that cell / the mean: of errors above 1 is better than any baseline), and
        ``expected`` (the closed form of a raw frequency's mean squared error).
    """
    # a repetition in which a measure is undefined does not count
    value = pl.col("value").drop_nans()
    table = scores.group_by(CELL, maintain_order=True).agg(
        mean=value.mean(), median=value.median(), deviation=value.std(), repetitions=value.len()
    )
    half = half_width(table["deviation"], table["repetitions"])
    plain, logged = around(table["mean"], half), positive(table["mean"], half)
    is_error = table["measure"].is_in(ERRORS)
    table = table.with_columns(
        low=logged.low.zip_with(is_error, plain.low), high=logged.high.zip_with(is_error, plain.high)
    )
    column = [name for name in CELL if name != "mechanism"]
    known = table.filter(pl.col("mechanism").is_in(baselines()))
    best = known.group_by(column).agg(best=pl.col("mean").min())
    return (
        table.join(best, on=column, how="left", maintain_order="left")
        .with_columns(gain=pl.col("best") / pl.col("mean"))
        .join(_closed_forms(expected), on=CELL, how="left", maintain_order="left")
        .drop("best", "deviation")
    )


def _closed_forms(expected: pl.DataFrame | None) -> pl.DataFrame:
    """Turn expected errors into rows of a summary."""
    known = pl.DataFrame(schema=EXPECTED) if expected is None else expected.cast(EXPECTED)  # type: ignore[arg-type]
    names = {"release": "raw", "query": "frequency", "measure": "mse"}
    return known.with_columns(pl.lit(value).alias(name) for name, value in names.items())


def variant_ratios(scores: pl.DataFrame) -> pl.DataFrame:
    """Compute the ratios of each variant's measures to its mechanism's, paired by repetition.

    Returns
    -------
    DataFrame
        One row a cell and measure of each ``<mechanism>.<variant>``: the geometric mean of the ratios with
        its 95 % t-interval on the log scale, NaN where a value is not positive (a ratio is undefined then).
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
    low, high = around(table["mean"], half_width(table["deviation"], table["repetitions"]))
    return table.select(
        *column,
        "base",
        "variant",
        ratio=table["mean"].exp(),
        low=low.exp(),
        high=high.exp(),
        repetitions="repetitions",
    )


def with_floors(summary: pl.DataFrame) -> pl.DataFrame:
    """Repeat each floor of a summary in every (epsilon, window) of the grid."""
    floor = pl.col("epsilon").is_null()
    grid = summary.filter(~floor).select("epsilon", "window").unique().sort("epsilon", "window")
    repeated = summary.filter(floor).drop("epsilon", "window").join(grid, how="cross")
    return pl.concat([summary.filter(~floor), repeated.select(summary.columns)])


def frequency_errors(summary: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """Compare the mean squared errors of frequencies of one stream, with LSP and the floors.

    Returns
    -------
    DataFrame
        One row a mechanism, release, epsilon and window: mean, low, high, median, repetitions, gain,
        expected, ratio_to_lsp, ratio_to_uniform (NaN where that is not in the experiment), best, close
        (within the interval of the best), beats_floor and loses_to_floor (with all of its interval, or by
        its closed form), and above_floor (its mean is above the better floor, and nothing decides).
    """
    table = with_floors(
        summary.filter(
            pl.col("dataset") == dataset,
            pl.col("query") == "frequency",
            pl.col("measure") == "mse",
        )
    )
    column = ["release", "epsilon", "window"]
    for name in ("lsp", "uniform"):
        other = table.filter(pl.col("mechanism") == name).select(*column, other="mean")
        table = (
            table.join(other, on=column, how="left", maintain_order="left")
            .with_columns((pl.col("mean") / pl.col("other")).alias(f"ratio_to_{name}"))
            .drop("other")
        )
    floor = pl.col("mechanism").is_in(floors())
    competing = pl.when(~floor).then(pl.col("mean"))
    smallest = competing.min().over(column)
    reach = pl.when(competing == smallest).then(pl.col("high")).max().over(column)
    nothing = pl.when(floor).then(pl.col("mean")).min().over(column)
    return (
        table.with_columns(best=(~floor & (pl.col("mean") == smallest)).fill_null(value=False))
        .with_columns(
            close=(~floor & ~pl.col("best") & (pl.col("mean") <= reach)).fill_null(value=False),
            beats_floor=(~floor & (_end("high") * SAME < nothing)).fill_null(value=False),
            loses_to_floor=(~floor & (_end("low") > nothing * SAME)).fill_null(value=False),
            above_floor=(~floor & (pl.col("mean") > nothing * SAME)).fill_null(value=False),
        )
        .with_columns(above_floor=pl.col("above_floor") & ~pl.col("loses_to_floor") & ~pl.col("beats_floor"))
        .drop("query", "measure")
        .sort("release", "mechanism", "epsilon", "window")
    )


def _end(name: str) -> pl.Expr:
    """Pick an end of the interval: the closed form if there is one, the mean if there is no interval."""
    return pl.coalesce("expected", pl.col(name).fill_nan(None), "mean")
