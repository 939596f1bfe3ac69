"""Figures of event detection: F1 by period length, and ROC curves."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mtsp_ldp.evaluation.summary import with_floors
from mtsp_ldp.evaluation.targets import EventQuery
from mtsp_ldp.evaluation.workload import Workload
from mtsp_ldp.report.canvas import TWO_COLUMNS, Material, add_legend
from mtsp_ldp.report.style import style_of


def events(material: Material) -> Figure:
    """Draw F1 per period length with intervals, and ROC curves of repetition 0 pooled over cells.

    The curves are of sums of released frequencies, whatever a mechanism's posterior says of the window.
    """
    stream = material.stream()
    truth = Workload(stream, stream.replicate)
    table = with_floors(material.summary).filter(
        pl.col("epsilon") == material.epsilon,
        pl.col("window") == material.window,
        pl.col("release") == "raw",
        pl.col("measure") == "f1_macro",
    )
    figure, axes = plt.subplots(2, 2, figsize=(TWO_COLUMNS, 5.6), sharex="col", sharey="col", squeeze=False)
    for row, on in enumerate(("count", "share")):
        _f1(axes[row, 0], table.filter(pl.col("query").str.ends_with(on)), material.mechanisms)
        axes[row, 0].set_title(f"F1, events on {on}s")
        watch = max(
            (w for w in truth.watches if w.asked.relative == (on == "share")), key=lambda w: w.asked.delta
        )
        for name in material.mechanisms:
            x, y = _curve(truth, watch, material.run(name).frequencies)
            axes[row, 1].plot(x, y, color=style_of(name).colour, ls=style_of(name).dash)
        axes[row, 1].plot([0, 1], [0, 1], color="#cccccc", lw=0.8, zorder=0)
        axes[row, 1].set_title(
            f"ROC, {on}s, Δ = {watch.asked.delta} ({int(watch.happens.sum())} true events)"
        )
        axes[row, 1].set_ylabel("true positive rate")
        axes[row, 0].set_ylabel("F1, mean over cells")
    axes[1, 0].set_xlabel("period length Δ (timestamps)")
    axes[1, 1].set_xlabel("false positive rate")
    figure.set_layout_engine("constrained")
    add_legend(figure, material.mechanisms)
    title = f"{material.title}: events (ε = {material.epsilon:g}, w = {material.window}, raw)"
    figure.suptitle(title, fontsize=9)
    return figure


def _f1(axes: Axes, table: pl.DataFrame, mechanisms: list[str]) -> None:
    for place, name in enumerate(mechanisms):
        rows = table.filter(pl.col("mechanism") == name).with_columns(
            delta=pl.col("query").str.split("_").list.get(1).cast(pl.Int32)
        )
        rows = rows.sort("delta")
        shift = (place - len(mechanisms) / 2) * 0.16
        x, y = rows["delta"].to_numpy() + shift, rows["mean"].to_numpy()
        error = np.nan_to_num((rows["high"] - rows["mean"]).to_numpy().astype(float))
        style = style_of(name)
        marker = style.marker or "_"
        axes.errorbar(x, y, yerr=error, color=style.colour, marker=marker, ls="", elinewidth=0.8, ms=3.5)
    axes.set_xticks([3, 6, 12])


def _curve(truth: Workload, watch: EventQuery, frequencies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute false and true positive rates as the pooled threshold falls."""
    release = replace(truth.release, versions=frequencies)
    change = release.answer([watch.asked])[0].values
    score = ((change - watch.thresholds) / watch.scale)[watch.defined].ravel()
    yes = watch.happens[watch.defined].ravel()
    levels = np.unique(score)[::-1]
    found = [
        (score[part].size - np.searchsorted(np.sort(score[part]), levels, side="left")) / part.sum()
        for part in (~yes, yes)
    ]
    return np.r_[0, found[0]], np.r_[0, found[1]]
