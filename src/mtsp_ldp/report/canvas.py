"""Common ground of the figures: sizes for print, material, legends, and reproducible bytes in files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mtsp_ldp.evaluation.runs import Run
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.mechanisms.registry import floors
from mtsp_ldp.report.style import ordered, style_of
from mtsp_ldp.streams.facts import StreamFacts
from mtsp_ldp.streams.stream import Stream

STYLE = Path(__file__).with_name("report.mplstyle")
ONE_COLUMN, TWO_COLUMNS = 3.4, 7.1
"""Widths of a page's columns, in inches."""
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": "mtsp-ldp"},
    "svg": {"Date": None, "Creator": "mtsp-ldp"},
    "png": {"Software": "mtsp-ldp"},
}
TRUTH = "#111111"


@dataclass(frozen=True)
class Material:
    """Material that figures of one stream are drawn from."""

    title: str
    facts: StreamFacts
    summary: pl.DataFrame
    ratios: pl.DataFrame
    epsilon: float
    window: int
    stream: Callable[[], Stream]
    run: Callable[[str], Run]

    @property
    def mechanisms(self) -> list[str]:
        """Mechanisms of the summary, in the order of every legend."""
        return ordered(self.summary["mechanism"].unique().to_list())

    @property
    def publishers(self) -> list[str]:
        """Mechanisms that read data."""
        return [name for name in self.mechanisms if name not in floors()]


def panels(number: int) -> tuple[Figure, list[Axes]]:
    """Make a figure of so many panels that share their axes, three in a row."""
    columns = 3
    rows = -(-number // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(TWO_COLUMNS, 1.5 * rows + 0.3), sharex=True, sharey=True, squeeze=False
    )
    axes = list(grid.ravel())
    for spare in axes[number:]:
        spare.set_visible(False)
    figure.set_layout_engine("constrained")
    return figure, axes


def label_axes(figure: Figure, x: str, y: str) -> None:
    """Label the x axis of the lowest panel of each column, and the figure's y axis once."""
    shown = [axes for axes in figure.axes if axes.get_visible()]
    lowest = {where.colspan.start: axes for axes in shown if (where := axes.get_subplotspec())}
    for axes in lowest.values():
        axes.set_xlabel(x)
        axes.tick_params(labelbottom=True)
    figure.supylabel(y, fontsize=8)


def add_legend(figure: Figure, mechanisms: list[str]) -> None:
    """Add the legend of mechanisms below the figure."""
    handles = [
        Line2D(
            [],
            [],
            color=style_of(name).colour,
            ls=style_of(name).dash,
            marker=style_of(name).marker,
            label=style_of(name).label,
        )
        for name in mechanisms
    ]
    below(figure, handles, columns=6)


def below(figure: Figure, handles: list[Line2D], columns: int) -> None:
    """Add a legend under the figure, outside the axes."""
    figure.legend(handles=handles, loc="outside lower center", ncol=columns)


def spread_labels(ends: Mapping[str, float], gap: float) -> dict[str, float]:
    """Spread labels on a log axis: heights that are each at least ``gap`` times the one below."""
    heights: dict[str, float] = {}
    floor = 0.0
    for name, end in sorted(ends.items(), key=lambda item: item[1]):
        heights[name] = max(end, floor)
        floor = heights[name] * gap
    return heights


def save(make: Callable[[], Figure], stem: Path) -> None:
    """Make a figure in the house style and write ``<stem>.pdf``, ``.svg`` and ``.png``, whole."""
    plt.style.use(STYLE)
    figure = make()
    for form, metadata in _METADATA.items():
        with atomic_write(stem.with_name(f"{stem.name}.{form}")) as partial:
            figure.savefig(partial, format=form, metadata=metadata)
    plt.close(figure)
