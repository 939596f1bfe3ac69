"""Figures of one stream, drawn with seaborn on Agg: reproducible to the byte."""

from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from mtsp_ldp.evaluation.summary import with_floors
from mtsp_ldp.report.canvas import (
    ONE_COLUMN,
    TRUTH,
    TWO_COLUMNS,
    Material,
    add_legend,
    below,
    label_axes,
    panels,
    save,
    spread_labels,
)
from mtsp_ldp.report.event_figures import events
from mtsp_ldp.report.style import ordered, style_of
from mtsp_ldp.report.tables import PARTS

_BASES = ("#E69F00", "#0072B2")
"""Colours of the mechanisms that an ablation varies."""


def error_curves(material: Material, axis: str) -> Figure:
    """Draw MSE of frequencies against epsilon or window; a column a value of the other, a row a release."""
    other = {"epsilon": "window", "window": "epsilon"}[axis]
    table = with_floors(material.summary.filter(pl.col("query") == "frequency", pl.col("measure") == "mse"))
    columns = table[other].n_unique()
    height = min(2.3, max(1.7, TWO_COLUMNS / columns))
    grid = sns.relplot(
        data=table.sort("mechanism", axis).to_dict(as_series=False),
        x=axis,
        y="mean",
        hue="mechanism",
        row="release",
        col=other,
        row_order=["raw", "projected"],
        hue_order=material.mechanisms,
        palette={name: style_of(name).colour for name in material.mechanisms},
        kind="line",
        errorbar=None,
        legend=False,
        height=height,
        aspect=TWO_COLUMNS / columns / height,
        facet_kws={"sharey": True, "sharex": True},
    )
    names = {"epsilon": "privacy budget ε", "window": "window w (timestamps)"}
    sign = {"epsilon": "ε", "window": "w"}[other]
    for (release, value), axes in grid.axes_dict.items():
        part = table.filter(pl.col("release") == release, pl.col(other) == value)
        _dress(axes, part, axis, material.mechanisms)
        axes.set_title(f"{release}, {sign} = {value:g}")
    means = table["mean"].drop_nulls().to_numpy()
    grid.set(yscale="log", ylim=(means.min() / 2, means.max() * 2))
    grid.set_axis_labels(names[axis], "MSE of frequencies")
    grid.figure.set_layout_engine("constrained")
    add_legend(grid.figure, material.mechanisms)
    grid.figure.suptitle(f"{material.title}: error against {names[axis]}", fontsize=9)
    return grid.figure  # type: ignore[no-any-return]


def error_column(material: Material) -> Figure:
    """Draw MSE of raw frequencies against epsilon at one window, a column wide, with named lines."""
    table = with_floors(material.summary).filter(
        pl.col("query") == "frequency",
        pl.col("measure") == "mse",
        pl.col("release") == "raw",
        pl.col("window") == material.window,
    )
    figure, axes = plt.subplots(figsize=(ONE_COLUMN, 3.0))
    figure.set_layout_engine("constrained")
    ends: dict[str, float] = {}
    for name in material.mechanisms:
        rows, style = table.filter(pl.col("mechanism") == name).sort("epsilon"), style_of(name)
        line = {"color": style.colour, "ls": style.dash, "marker": style.marker, "mec": "none"}
        sns.lineplot(x=rows["epsilon"], y=rows["mean"], ax=axes, **line)
        axes.fill_between(rows["epsilon"], rows["low"], rows["high"], color=style.colour, alpha=0.15, lw=0)
        ends[name] = float(rows["mean"][-1])
    axes.set(yscale="log", xlabel="privacy budget ε", ylabel="MSE of frequencies")
    axes.set_title(f"{material.title}, w = {material.window}")
    low, high = axes.get_ylim()
    for name, height in spread_labels(ends, (high / low) ** (1 / 22)).items():
        axes.annotate(
            style_of(name).label,
            (1.02, height),
            xycoords=axes.get_yaxis_transform(),
            fontsize=6.5,
            va="center",
            color=style_of(name).colour,
        )
    return figure


def _dress(axes: Axes, part: pl.DataFrame, axis: str, mechanisms: list[str]) -> None:
    """Give every line its mechanism's dash and marker, and its band."""
    for name, line in zip(mechanisms, axes.get_lines(), strict=False):
        style = style_of(name)
        line.set(linestyle=style.dash, marker=style.marker)
        rows = part.filter(pl.col("mechanism") == name).sort(axis)
        low = np.maximum(rows["low"].to_numpy(), rows["mean"].to_numpy() / 100)
        axes.fill_between(rows[axis], low, rows["high"], color=style.colour, alpha=0.15, lw=0)


def budget(material: Material) -> Figure:
    """Draw the shares spent per t, and their sum over the window under its limit."""
    figure, axes = panels(len(material.publishers))
    for name, panel in zip(material.publishers, axes, strict=False):
        trace = material.run(name).trace
        first, second = trace["share_1"].to_numpy(), trace["share_2"].to_numpy()
        steps = trace["t"].to_numpy()
        sums = np.cumsum(np.r_[0.0, first + second])
        start = np.maximum(steps + 1 - material.window, 0)
        colour = style_of(name).colour
        panel.vlines(steps, first, first + second, color=colour, lw=0.8)
        panel.fill_between(steps, 0, first, color="#bbbbbb", lw=0, step="mid")
        panel.plot(steps, sums[steps + 1] - sums[start], color=TRUTH, lw=0.9)
        panel.axhline(1.0, color="#cc0000", lw=0.8, ls="--")
        published = int(trace["published"].sum())
        panel.set_title(f"{style_of(name).label}: {published} publications")
        panel.set_ylim(0, 1.08)
    label_axes(figure, "timestamp t", "share of the window")
    handles = [
        Line2D([], [], color="#555555", lw=1.5, label="publication at t"),
        Line2D([], [], color="#bbbbbb", lw=4, label="dissimilarity at t"),
        Line2D([], [], color=TRUTH, lw=0.9, label=f"sum over the last w = {material.window}"),
        Line2D([], [], color="#cc0000", lw=0.8, ls="--", label="limit (ε)"),
    ]
    below(figure, handles, columns=4)
    figure.suptitle(
        f"{material.title}: the window as it was spent (ε = {material.epsilon:g}, repetition 0)",
        fontsize=9,
    )
    return figure


def busiest(material: Material) -> Figure:
    """Draw true and released counts of the busiest cell where the stream moves most."""
    stream = material.stream()
    counts = stream.counts * stream.replicate
    cell = int(counts.sum(axis=0).argmax())
    active = counts.sum(axis=1)
    centre = int(active.argmin())
    for event in material.facts.events[:1]:
        centre, cell = event.start, event.cell
    steps = np.arange(max(centre - 60, 0), min(centre + 60, stream.length))
    figure, axes = panels(len(material.publishers))
    for name, panel in zip(material.publishers, axes, strict=False):
        released = material.run(name).frequencies[steps, cell] * active[steps]
        panel.plot(steps, counts[steps, cell], color=TRUTH, lw=1.0)
        panel.plot(steps, released, color=style_of(name).colour, lw=1.0, drawstyle="steps-post")
        panel.set_title(style_of(name).label)
    top = float(counts[steps, cell].max())
    axes[0].set_ylim(-0.6 * top, 2.0 * top)
    label_axes(figure, "timestamp t", "users in the cell")
    handles = [
        Line2D([], [], color=TRUTH, lw=1, label="true"),
        Line2D([], [], color="#555555", lw=1, label="as released (raw; cut off at the axes)"),
    ]
    below(figure, handles, columns=2)
    figure.suptitle(
        f"{material.title}: cell {material.facts.cells[cell].name} "
        f"(ε = {material.epsilon:g}, w = {material.window}, repetition 0)",
        fontsize=9,
    )
    return figure


def ablation(material: Material) -> Figure:
    """Draw the effect of each part: ratios of variants to the paper's mechanism, paired by repetition."""
    table = material.ratios.filter(
        pl.col("release") == "raw", pl.col("epsilon") == material.epsilon, pl.col("window") == material.window
    )
    shown = [
        key
        for key in PARTS
        if table.filter(pl.col("query") == key[0], pl.col("measure") == key[1])["ratio"].is_not_nan().any()
    ]
    variants = table["variant"].unique(maintain_order=True).to_list()
    figure, axes = plt.subplots(
        1, len(shown), figsize=(TWO_COLUMNS, 0.27 * len(variants) + 1.2), sharey=True, squeeze=False
    )
    bases = ordered(table["base"].unique().to_list())
    for panel, (query, measure) in zip(axes[0], shown, strict=True):
        part = table.filter(pl.col("query") == query, pl.col("measure") == measure)
        _ratios(panel, part, bases, variants)
        panel.set_title(PARTS[query, measure])
    axes[0, 0].set_yticks(range(len(variants)), [v.replace("_", " ") for v in variants])
    axes[0, 0].invert_yaxis()
    figure.set_layout_engine("constrained")
    handles = [
        Line2D([], [], color=_BASES[place % 2], marker="so"[place % 2], ls="", label=style_of(base).label)
        for place, base in enumerate(bases)
    ]
    below(figure, handles, columns=2)
    title = (
        f"{material.title}: what each part is worth (ε = {material.epsilon:g}, w = {material.window}, raw)\n"
        "ratio to the paper's mechanism; errors: below 1 is better, F1: above 1"
    )
    figure.suptitle(title, fontsize=9)
    return figure


def _ratios(panel: Axes, table: pl.DataFrame, bases: list[str], variants: list[str]) -> None:
    """Draw ratios with their intervals, a row a variant."""
    panel.axvline(1, color="#999999", lw=0.8)
    for place, base in enumerate(bases):
        rows = {row["variant"]: row for row in table.filter(pl.col("base") == base).to_dicts()}
        level = [i + (place - 0.5) * 0.25 for i, v in enumerate(variants) if v in rows]
        ratio, low, high = (
            np.array([rows[v][k] for v in variants if v in rows], float) for k in ("ratio", "low", "high")
        )
        panel.errorbar(
            ratio,
            level,
            xerr=[ratio - low, high - ratio],
            ls="",
            marker="so"[place % 2],
            color=_BASES[place % 2],
            elinewidth=0.8,
            ms=3.5,
        )
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(numticks=4))
    panel.xaxis.set_minor_formatter(NullFormatter())


FIGURES: dict[str, Callable[[Material], Figure]] = {
    "mse_epsilon": lambda material: error_curves(material, "epsilon"),
    "mse_window": lambda material: error_curves(material, "window"),
    "mse_column": error_column,
    "budget": budget,
    "busiest": busiest,
    "events": events,
    "ablation": ablation,
}


def draw(name: str, material: Material, stem: Path) -> None:
    """Draw a figure of a stream and write it; see `save`."""
    save(lambda: FIGURES[name](material), stem)
