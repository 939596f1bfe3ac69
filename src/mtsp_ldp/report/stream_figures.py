"""Figures of a prepared stream, and verdicts on LDP for it: before any run."""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mtsp_ldp.evaluation.expectation import CLOSED_FORMS, Expectation, usual_windows
from mtsp_ldp.report.canvas import TRUTH
from mtsp_ldp.report.style import style_of
from mtsp_ldp.streams.facts import StreamFacts
from mtsp_ldp.streams.stream import Stream


def verdicts(stream: Stream, replicate: int | None = None) -> list[str]:
    """Say in a sentence a window from which ε on a stream can carry LDP, by the closed forms."""
    expected = Expectation(stream, replicate)
    sentences = []
    for window in usual_windows(stream):
        least = {name: expected.least_epsilon(name, window) for name in CLOSED_FORMS}
        able = {name: value for name, value in least.items() if value is not None}
        spread = expected.deviation("lpu", 1.0, window)
        start = f"w = {window}: at ε = 1 one frequency has a standard deviation of {spread:.2g} under LPU"
        if not able:
            sentences.append(f"{start}; hopeless: not even ε = 100 beats publishing nothing.")
            continue
        best = min(able, key=lambda name: able[name])
        others = ", ".join(
            f"{style_of(name).label} {'never' if least[name] is None else f'from {least[name]:.2g}'}"
            for name in CLOSED_FORMS
            if name != best
        )
        sentences.append(f"{start}; hopeless below ε = {able[best]:.2g} ({style_of(best).label}; {others}).")
    return sentences


def overview(stream: Stream, facts: StreamFacts) -> Figure:
    """Draw active users, popularity, change and a map, in one figure."""
    figure, grid = plt.subplots(2, 2, figsize=(7.2, 4.8))
    figure.set_layout_engine("constrained")
    here = stream.active > 0
    f = np.where(here[:, None], stream.frequencies, 0.0)
    times, popular = np.arange(stream.length), np.sort(f[here].mean(axis=0))[::-1]
    sns.lineplot(x=times, y=stream.active, color=TRUTH, lw=0.8, ax=grid[0, 0])
    grid[0, 0].set(xlabel="timestamp t", ylabel="active users", ylim=(0, None), title="Who is there")
    sns.lineplot(x=np.arange(1, stream.d + 1), y=popular, color="#0072B2", ax=grid[0, 1])
    grid[0, 1].set(xlabel="rank of the cell", ylabel="mean frequency", title="Popularity of cells")
    grid[0, 1].set_xscale("log")
    change = np.sqrt((np.diff(f, axis=0) ** 2).mean(axis=1))
    sns.lineplot(x=times[1:], y=change, color="#D55E00", lw=0.8, ax=grid[1, 0])
    grid[1, 0].set(
        xlabel="timestamp t", ylabel="RMS step of a frequency", ylim=(0, None), title="Change since t - 1"
    )
    _map(grid[1, 1], f[here].mean(axis=0), facts)
    return figure


def _map(axes: Axes, means: np.ndarray, facts: StreamFacts) -> None:
    """Draw the mean frequency of every cell, on the map if cells have a place."""
    axes.set_title("Where: mean frequency")
    axes.grid(visible=False)
    if facts.coordinates is None:
        sns.barplot(x=np.arange(means.size), y=means, color="#0072B2", ax=axes)
        axes.set(xlabel="cell", ylabel="mean frequency", xticks=[])
        return
    x, y = (np.array([getattr(cell, axis) for cell in facts.cells]) for axis in ("x", "y"))
    shade = np.sqrt(means / max(means.max(), 1e-12))
    if facts.grid:
        wide, high = (np.diff(np.unique(values)).min() if facts.grid > 1 else 1.0 for values in (x, y))
        colours = sns.color_palette("viridis", as_cmap=True)(shade)
        for left, low, colour in zip(x - wide / 2, y - high / 2, colours, strict=True):
            axes.add_patch(Rectangle((left, low), wide, high, color=colour, lw=0))
        axes.set(xlim=(x.min() - wide / 2, x.max() + wide / 2), ylim=(y.min() - high / 2, y.max() + high / 2))
    else:
        dots = {"sizes": (4, 160), "color": "#0072B2", "alpha": 0.6, "legend": False}
        sns.scatterplot(x=x, y=y, size=means, ax=axes, **dots)
    across, up = ("longitude", "latitude") if facts.coordinates == "degrees" else ("x", "y")
    axes.set(xlabel=across, ylabel=up)
