"""Figures and tables of the studies."""

from collections.abc import Callable, Mapping

import polars as pl
import seaborn as sns
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from tabulate import tabulate

from mtsp_ldp.report.canvas import TWO_COLUMNS, add_legend, spread_labels
from mtsp_ldp.report.style import ordered, style_of

Tables = Mapping[str, pl.DataFrame]
_AXES = {"cells": "cells d (city)", "users": "users n", "timestamps": "timestamps T"}
_QUANTITIES = {"mse": ("errors", "MSE of frequencies"), "seconds": ("seconds", "seconds a run")}


def growth(tables: Tables) -> Figure:
    """Draw error and time against size, log-log, with the fitted slope at the end of each line."""
    figure, grid = plt.subplots(2, 3, figsize=(TWO_COLUMNS, 5.0), sharex="col", sharey="row")
    slopes = {(a, q, m): s for a, q, m, s, _ in tables["slopes"].iter_rows()}
    theory = {(a, q): t for a, q, _, _, t in tables["slopes"].iter_rows()}
    names = ordered(tables["errors"]["mechanism"].unique().to_list())
    for row, (quantity, (table, label)) in enumerate(_QUANTITIES.items()):
        for column, (axis, title) in enumerate(_AXES.items()):
            axes = grid[row, column]
            ends = {}
            for name in names:
                part = tables[table].filter(pl.col("axis") == axis, pl.col("mechanism") == name)
                means = part.group_by("size").agg(pl.col(quantity).mean()).sort("size")
                style = style_of(name)
                line = {"color": style.colour, "ls": style.dash, "marker": style.marker}
                axes.plot(means["size"], means[quantity], ms=3, **line)
                ends[name] = float(means[quantity][-1])
            right = max(part["size"].to_list()) * 1.25
            for name, height in spread_labels(ends, 1.6).items():
                text = f"{slopes[axis, quantity, name]:+.2f}"
                axes.text(right, height, text, fontsize=6, va="center", color=style_of(name).colour)
            axes.set(xscale="log", yscale="log")
            axes.set_title(f"expected of LBU: {theory[axis, quantity]:g}")
            if row == 1:
                axes.set_xlabel(title)
        grid[row, 0].set_ylabel(label)
    figure.set_layout_engine("constrained")
    add_legend(figure, names)
    figure.suptitle("Growth of error and time (ε = 1, w = 10); fitted slopes at the lines' ends", fontsize=9)
    return figure


def grouping(tables: Tables) -> Figure:
    """Draw the share of new groups and the error of the release, publication by publication."""
    table = tables["groups"]
    signals = table["signal"].unique(maintain_order=True).to_list()
    figure, grid = plt.subplots(2, len(signals), figsize=(TWO_COLUMNS, 3.6), sharex=True, sharey="row")
    for column, signal in enumerate(signals):
        part = table.filter(pl.col("signal") == signal)
        for row, quantity in enumerate(("breaks", "mse")):
            sns.lineplot(
                data=part.to_dict(as_series=False),
                x="publication",
                y=quantity,
                hue="rule",
                palette="colorblind",
                errorbar=None,
                ax=grid[row, column],
                legend=column == 0 and row == 0,
            )
            grid[row, column].set(xlabel="publication", ylabel="")
        grid[0, column].set_title(signal)
        grid[1, column].set_yscale("log")
    grid[0, 0].set_ylabel("share that open a group")
    grid[1, 0].set_ylabel("squared error / noise variance")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    grid[0, 0].get_legend().remove()
    figure.set_layout_engine("constrained")
    figure.legend(handles, labels, loc="outside lower center", ncol=4)
    figure.suptitle("Grouping on known signals (noise of standard deviation σ = 1)", fontsize=9)
    return figure


def as_markdown_tables(name: str, tables: Tables) -> str:
    """Write tables of at most a hundred rows as Markdown; longer ones by their number of rows."""
    lines = [f"# {name}", ""]
    for part, table in tables.items():
        lines += [f"## {part}", ""]
        if table.height > 100:
            lines += [f"{table.height} rows: `{name}.{part}.csv`.", ""]
            continue
        rows = [list(row) for row in table.iter_rows()]
        lines += [tabulate(rows, headers=table.columns, tablefmt="github", floatfmt=".4g"), ""]
    return "\n".join(lines)


FIGURES: dict[str, Callable[[Tables], Figure]] = {"growth": growth, "grouping": grouping}
