"""The README's table and picture, from the results of the default experiment.

    make
    python tools/headline.py

The first runs the experiment. The second writes docs/results/headline.csv from its summary. That file is
committed; the table, the sentences below it and docs/images/headline.svg are made from it.
"""

import argparse
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.mechanisms.registry import floors
from mtsp_ldp.report.canvas import STYLE, TWO_COLUMNS
from mtsp_ldp.report.style import ordered, style_of

SUMMARY = Path("data/summaries/default.parquet")
RESULTS = Path("docs/results/headline.csv")
PICTURE = Path("docs/images/headline.svg")
EPSILON, WINDOW, STREAM = 1.0, 20, "flights"
BEGIN, END = "<!-- made by python tools/headline.py -->", "<!-- end of what it made -->"
_NOTHING = "#b23b3b"


def headline(summary: pl.DataFrame) -> pl.DataFrame:
    """Select what the table and the picture show.

    Returns
    -------
    DataFrame
        MSE of frequencies as released (raw) at w = 20: ``dataset, mechanism, epsilon`` (null for a floor),
        ``window, mean, low, high`` (95 % interval over repetitions; null for a floor) and ``repetitions``.
    """
    return (
        summary.filter(
            pl.col("query") == "frequency",
            pl.col("measure") == "mse",
            pl.col("release") == "raw",
            (pl.col("window") == WINDOW) | pl.col("mechanism").is_in(floors()),
        )
        .with_columns(
            pl.when(~pl.col("mechanism").is_in(floors())).then(pl.col(name).round_sig_figs(4)).alias(name)
            for name in ("low", "high")
        )
        .select(
            "dataset",
            "mechanism",
            "epsilon",
            "window",
            pl.col("mean").round_sig_figs(4),
            "low",
            "high",
            "repetitions",
        )
        .sort("dataset", "mechanism", "epsilon", "window", descending=[True, False, False, False])
    )


def read(path: Path) -> pl.DataFrame:
    """Read the committed results."""
    numbers = dict.fromkeys(("epsilon", "mean", "low", "high"), pl.Float64)
    return pl.read_csv(path, schema_overrides=numbers)


def at(results: pl.DataFrame, dataset: str) -> dict[str, dict[str, Any]]:
    """Pick the rows of each mechanism at ε = 1, and of each floor, on a stream."""
    here = (pl.col("epsilon") == EPSILON) | pl.col("epsilon").is_null()
    rows = results.filter(pl.col("dataset") == dataset, here).to_dicts()
    return {row["mechanism"]: row for row in rows}


def markdown(results: pl.DataFrame) -> str:
    """Write the table: errors divided by the better floor's, by those on the first stream; floors last."""
    streams = {name: at(results, name) for name in results["dataset"].unique(maintain_order=True)}
    lines = [["mechanism", *(f"`{name}`" for name in streams)], ["---"] * (1 + len(streams))]
    first = next(iter(streams.values()))
    for mechanism in sorted(first, key=lambda name: (name in floors(), first[name]["mean"])):
        shown = [_shown(rows[mechanism], _nothing(rows), _best(rows)) for rows in streams.values()]
        lines.append([style_of(mechanism).label, *shown])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _shown(row: dict[str, Any], nothing: float, best: str) -> str:
    ratio = _two_digits(row["mean"] / nothing)
    if row["mechanism"] in floors():
        return ratio
    text = f"{ratio} [{_two_digits(row['low'] / nothing)}, {_two_digits(row['high'] / nothing)}]"
    if row["low"] > nothing:
        return f"{text} †"
    return f"**{text}**" if row["mechanism"] == best else text


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.1e}'):.12g}" if value >= 10 else f"{value:#.2g}"


def _nothing(rows: dict[str, dict[str, Any]]) -> float:
    """Find the error of the better floor."""
    return min(float(rows[floor]["mean"]) for floor in floors())


def _best(rows: dict[str, dict[str, Any]]) -> str:
    """Find the mechanism with the lowest error."""
    return min((name for name in rows if name not in floors()), key=lambda name: rows[name]["mean"])


def sentence(results: pl.DataFrame) -> str:
    """Write the sentences below the table: the result, and how to read it."""
    sentences, floor_errors = [], []
    for name in results["dataset"].unique(maintain_order=True):
        rows = at(results, name)
        readers = [row for row in rows if row not in floors()]
        losing = sum(rows[row]["low"] > _nothing(rows) for row in readers)
        ratio = _two_digits(rows[_best(rows)]["mean"] / _nothing(rows))
        sentences.append(
            f"On `{name}` {style_of(_best(rows)).label} has the lowest error ({ratio}× publishing nothing); "
            f"{losing} of {len(readers)} mechanisms do worse than publishing nothing."
        )
        floor_errors.append(f"{_nothing(rows):.1e} on `{name}`")
    number = int(results.filter(pl.col("epsilon").is_not_null())["repetitions"].min())  # type: ignore[arg-type]
    return (
        f"{' '.join(sentences)} Each entry is the mean squared error of released frequencies at "
        f"ε = {EPSILON:g} and w = {WINDOW}, divided by that of the better floor ({', '.join(floor_errors)}), "
        f"with its 95 % interval over {number} repetitions. Bold: the lowest error. †: the whole interval is "
        f"worse than publishing nothing."
    )


def picture(results: pl.DataFrame, dataset: str = STREAM) -> Figure:
    """Draw MSE against ε of every mechanism with its interval, and the floors; label each line at its end."""
    part = results.filter(pl.col("dataset") == dataset)
    curves = part.filter(pl.col("epsilon").is_not_null()).sort("epsilon")
    levels = {row["mechanism"]: row["mean"] for row in part.filter(pl.col("epsilon").is_null()).to_dicts()}
    names = [name for name in ordered(curves["mechanism"].unique().to_list()) if name not in floors()]
    epsilons = curves["epsilon"].unique().sort().to_list()
    figure, axes = plt.subplots(figsize=(TWO_COLUMNS, 3.9))
    figure.set_layout_engine("constrained")
    _draw_curves(axes, curves, names)
    axes.set(xscale="log", yscale="log", xlim=(epsilons[0] / 1.06, epsilons[-1] * 1.04))
    axes.set(ylim=(curves["mean"].min() / 2.2, curves["mean"].max() * 1.6))  # type: ignore[operator]
    axes.set(xlabel="privacy budget ε of every window", ylabel="MSE of released frequencies")
    axes.xaxis.set(major_locator=FixedLocator(epsilons), minor_locator=NullLocator())
    axes.set_xticklabels([f"{epsilon:g}" for epsilon in epsilons])
    nothing = min(levels.values())
    axes.axhspan(nothing, axes.get_ylim()[1], color=_NOTHING, alpha=0.05, lw=0, zorder=0)
    for name, level in levels.items():
        axes.axhline(level, color=style_of(name).colour, ls=style_of(name).dash, lw=1.1, zorder=1)
    axes.annotate(
        "worse than publishing nothing",
        (0.985, 0.965),
        xycoords="axes fraction",
        ha="right",
        va="top",
        color=_NOTHING,
        fontsize=8,
    )
    last = {name: curves.filter(pl.col("mechanism") == name)["mean"][-1] for name in names}
    _label(axes, last | levels, epsilons[-1])
    axes.set_title(f"{dataset}: error of every mechanism, w = {WINDOW} (bands: 95 % intervals)", loc="left")
    return figure


def _draw_curves(axes: Axes, curves: pl.DataFrame, names: list[str]) -> None:
    """Draw a line with its band for each mechanism."""
    sns.lineplot(
        data=curves.to_dict(as_series=False),
        x="epsilon",
        y="mean",
        hue="mechanism",
        hue_order=names,
        palette={name: style_of(name).colour for name in names},
        errorbar=None,
        legend=False,
        ax=axes,
    )
    for name, line in zip(names, axes.get_lines(), strict=True):
        style = style_of(name)
        line.set(linestyle=style.dash, marker=style.marker, markersize=4.5)
        rows = curves.filter(pl.col("mechanism") == name)
        axes.fill_between(rows["epsilon"], rows["low"], rows["high"], color=style.colour, alpha=0.18, lw=0)


def _label(axes: Axes, ends: dict[str, float], x: float) -> None:
    """Label each line at its right end; spread the labels and tie them to their lines."""
    names = sorted(ends, key=lambda name: ends[name])
    low, high = np.log10(axes.get_ylim())
    wanted = (np.log10([ends[name] for name in names]) - low) / (high - low)
    places = _spread(wanted, 0.052)
    for name, start, place in zip(names, wanted, places, strict=True):
        end = (
            1.0
            if name in floors()
            else float(axes.transAxes.inverted().transform(axes.transData.transform((x, 1)))[0])
        )
        axes.plot(
            [end, 1.0, 1.03],
            [start, start, place],
            transform=axes.transAxes,
            color=style_of(name).colour,
            lw=0.6,
            clip_on=False,
        )
        axes.text(
            1.037,
            place,
            style_of(name).label,
            transform=axes.transAxes,
            color=style_of(name).colour,
            va="center",
            fontsize=8,
        )


def _spread(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Places in order, at least a gap apart, with the least squared distance to the wanted ones."""
    # with the gaps taken out this is a monotone regression: pool neighbours that are out of order
    pools: list[list[float]] = []
    for value in wanted - gap * np.arange(wanted.size):
        pools.append([value])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    flat = [float(np.mean(pool)) for pool in pools for _ in pool]
    return np.array([place + gap * rank for rank, place in enumerate(flat)])


def draw(results: pl.DataFrame, path: Path) -> None:
    """Write the picture as SVG, reproducible to the byte."""
    with plt.style.context(STYLE):
        figure = picture(results)
        with atomic_write(path) as partial:
            figure.savefig(partial, format="svg", metadata={"Date": None, "Creator": "mtsp-ldp"})
        plt.close(figure)


def inserted(text: str, results: pl.DataFrame) -> str:
    """Insert a new table and its sentences into a README, between the marks."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: no {BEGIN} … {END}")
    words = textwrap.fill(sentence(results), 125, break_on_hyphens=False)
    return f"{before}{BEGIN}\n\n{markdown(results)}\n\n{words}\n\n{END}{after}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the results from a summary, and the README's table and picture from them."""
    parser = argparse.ArgumentParser(prog="python tools/headline.py", description=main.__doc__)
    parser.add_argument("--summary", type=Path, default=SUMMARY, help="summary of the default experiment")
    parser.add_argument("--into", type=Path, default=Path(), help="folder of the repository")
    given = parser.parse_args(arguments)
    if not given.summary.exists():
        sys.exit(f"headline: {given.summary}: no such file; `make` runs the default experiment")
    target = given.into / RESULTS
    with atomic_write(target) as partial:
        headline(pl.read_parquet(given.summary)).write_csv(partial)
    results = read(target)
    draw(results, given.into / PICTURE)
    readme = given.into / "README.md"
    text = inserted(readme.read_text(encoding="utf-8"), results)
    with atomic_write(readme) as partial:
        partial.write_text(text, encoding="utf-8")
    print(sentence(results))


if __name__ == "__main__":
    main()
