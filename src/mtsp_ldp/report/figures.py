"""Figures, drawn with seaborn on Agg: the same bytes twice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from mtsp_ldp import queries
from mtsp_ldp.files import written_whole
from mtsp_ldp.release import Release
from mtsp_ldp.report.style import FLOORS, look, ordered
from mtsp_ldp.report.summary import with_floors
from mtsp_ldp.report.tables import PARTS
from mtsp_ldp.scoring import Scorer, Watch
from mtsp_ldp.stream import Stream

STYLE = Path(__file__).with_name("report.mplstyle")
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": "mtsp-ldp"},
    "svg": {"Date": None, "Creator": "mtsp-ldp"},
    "png": {"Software": "mtsp-ldp"},
}
TRUTH = "#111111"


@dataclass(frozen=True)
class Run:
    """What a figure sees of one run: its trace and its release, ``(T, d)`` frequencies."""

    trace: pl.DataFrame
    frequencies: np.ndarray


def read_run(stem: Path, size: tuple[int, int]) -> Run:
    """The trace and the release that a job wrote at ``<stem>.trace.parquet`` and ``.release.parquet``."""
    released = pl.read_parquet(f"{stem}.release.parquet")["frequency"].to_numpy()
    return Run(pl.read_parquet(f"{stem}.trace.parquet"), released.reshape(size))


@dataclass(frozen=True)
class Material:
    """All that figures of one stream are drawn from."""

    title: str
    facts: Mapping[str, Any]
    summary: pl.DataFrame
    ratios: pl.DataFrame
    epsilon: float
    window: int
    stream: Callable[[], Stream]
    run: Callable[[str], Run]

    @property
    def mechanisms(self) -> list[str]:
        """Those of the summary, in the order of every legend."""
        return ordered(self.summary["mechanism"].unique().to_list())

    @property
    def publishers(self) -> list[str]:
        """The mechanisms that read data."""
        return [name for name in self.mechanisms if name not in FLOORS]


def error_curves(material: Material, axis: str) -> Figure:
    """MSE of frequencies against epsilon or window; a column a value of the other, a row a release."""
    other = {"epsilon": "window", "window": "epsilon"}[axis]
    table = with_floors(material.summary.filter(pl.col("query") == "frequency", pl.col("measure") == "mse"))
    grid = sns.relplot(
        data=table.sort("mechanism", axis).to_dict(as_series=False),
        x=axis,
        y="mean",
        hue="mechanism",
        row="release",
        col=other,
        row_order=["raw", "simplex"],
        hue_order=material.mechanisms,
        palette={name: look(name).colour for name in material.mechanisms},
        kind="line",
        errorbar=None,
        legend=False,
        height=2.3,
        aspect=1.0,
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
    add_legend(grid.figure, material.mechanisms)
    grid.figure.suptitle(f"{material.title}: error against {names[axis]}", y=1.02, fontsize=9)
    return grid.figure  # type: ignore[no-any-return]


def _dress(axes: Axes, part: pl.DataFrame, axis: str, mechanisms: list[str]) -> None:
    """Give every line its mechanism's dash and marker, and its band."""
    for name, line in zip(mechanisms, axes.get_lines(), strict=False):
        style = look(name)
        line.set(linestyle=style.dash, marker=style.marker)
        rows = part.filter(pl.col("mechanism") == name).sort(axis)
        low = np.maximum(rows["low"].to_numpy(), rows["mean"].to_numpy() / 100)
        axes.fill_between(rows[axis], low, rows["high"], color=style.colour, alpha=0.15, lw=0)


def budget(material: Material) -> Figure:
    """Shares spent per t, and their sum over the window under its limit."""
    figure, axes = _panels(len(material.publishers))
    for name, panel in zip(material.publishers, axes, strict=False):
        trace = material.run(name).trace
        first, second = trace["share_1"].to_numpy(), trace["share_2"].to_numpy()
        steps = trace["t"].to_numpy()
        sums = np.cumsum(np.r_[0.0, first + second])
        start = np.maximum(steps + 1 - material.window, 0)
        colour = look(name).colour
        panel.vlines(steps, first, first + second, color=colour, lw=0.8)
        panel.fill_between(steps, 0, first, color="#bbbbbb", lw=0, step="mid")
        panel.plot(steps, sums[steps + 1] - sums[start], color=TRUTH, lw=0.9)
        panel.axhline(1.0, color="#cc0000", lw=0.8, ls="--")
        published = int((second > 0).sum())
        panel.set_title(f"{look(name).label}: {published} publications")
        panel.set_ylim(0, 1.08)
    _finish(figure, axes, "timestamp t", "share of the window")
    handles = [
        Line2D([], [], color="#555555", lw=1.5, label="publication at t"),
        Line2D([], [], color="#bbbbbb", lw=4, label="dissimilarity at t"),
        Line2D([], [], color=TRUTH, lw=0.9, label=f"sum over the last w = {material.window}"),
        Line2D([], [], color="#cc0000", lw=0.8, ls="--", label="limit (ε)"),
    ]
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=4)
    figure.suptitle(
        f"{material.title}: the window as it was spent (ε = {material.epsilon:g}, repetition 0)",
        fontsize=9,
    )
    return figure


def busiest(material: Material) -> Figure:
    """True and released counts of the busiest cell where the stream moves most."""
    stream = material.stream()
    counts = stream.counts * stream.replicate
    cell = int(counts.sum(axis=0).argmax())
    active = counts.sum(axis=1)
    centre = int(active.argmin())
    if material.facts.get("events"):
        centre = int(material.facts["events"][0]["start"])
        cell = int(material.facts["events"][0]["cell"])
    steps = np.arange(max(centre - 60, 0), min(centre + 60, stream.length))
    figure, axes = _panels(len(material.publishers))
    for name, panel in zip(material.publishers, axes, strict=False):
        released = material.run(name).frequencies[steps, cell] * active[steps]
        panel.plot(steps, counts[steps, cell], color=TRUTH, lw=1.0)
        panel.plot(steps, released, color=look(name).colour, lw=1.0, drawstyle="steps-post")
        panel.set_title(look(name).label)
    top = float(counts[steps, cell].max())
    axes[0].set_ylim(-0.6 * top, 2.0 * top)
    _finish(figure, axes, "timestamp t", "users in the cell")
    handles = [
        Line2D([], [], color=TRUTH, lw=1, label="true"),
        Line2D([], [], color="#0072B2", lw=1, label="as released (raw; cut off at the axes)"),
    ]
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=2)
    label = material.facts["cells"][cell]
    figure.suptitle(
        f"{material.title}: cell {label.get('airport') or label['name']} "
        f"(ε = {material.epsilon:g}, w = {material.window}, repetition 0)",
        fontsize=9,
    )
    return figure


def events(material: Material) -> Figure:
    """F1 per period length with intervals, and ROC curves of repetition 0 pooled over cells."""
    stream = material.stream()
    scorer = Scorer(stream, stream.replicate)
    table = with_floors(material.summary).filter(
        pl.col("epsilon") == material.epsilon,
        pl.col("window") == material.window,
        pl.col("release") == "raw",
        pl.col("measure") == "f1_macro",
    )
    figure, axes = plt.subplots(2, 2, figsize=(7.2, 5.6), sharex="col", sharey="col", squeeze=False)
    for row, on in enumerate(("count", "share")):
        _f1(axes[row, 0], table.filter(pl.col("query").str.ends_with(on)), material.mechanisms)
        axes[row, 0].set_title(f"F1, events on {on}s")
        watch = max((w for w in scorer.watches if w.relative == (on == "share")), key=lambda w: w.delta)
        for name in material.mechanisms:
            x, y = _curve(scorer, watch, material.run(name).frequencies, stream)
            axes[row, 1].plot(x, y, color=look(name).colour, ls=look(name).dash)
        axes[row, 1].plot([0, 1], [0, 1], color="#cccccc", lw=0.8, zorder=0)
        axes[row, 1].set_title(f"ROC, {on}s, Δ = {watch.delta} ({int(watch.happens.sum())} true events)")
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
        style = look(name)
        marker = style.marker or "_"
        axes.errorbar(x, y, yerr=error, color=style.colour, marker=marker, ls="", elinewidth=0.8, ms=3.5)
    axes.set_xticks([3, 6, 12])


def _curve(
    scorer: Scorer, watch: Watch, frequencies: np.ndarray, stream: Stream
) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates as the pooled threshold falls."""
    release = Release(
        frequencies,
        np.arange(stream.length),
        scorer.truth.active,
        pl.DataFrame({"t": np.arange(stream.length)}),
    )
    change = queries.changes(release, watch.cells, watch.cells, watch.delta, relative=watch.relative)
    score = ((change - watch.thresholds) / watch.scale)[watch.defined].ravel()
    yes = watch.happens[watch.defined].ravel()
    levels = np.unique(score)[::-1]
    found = [
        (score[part].size - np.searchsorted(np.sort(score[part]), levels, side="left")) / part.sum()
        for part in (~yes, yes)
    ]
    return np.r_[0, found[0]], np.r_[0, found[1]]


def ablation(material: Material) -> Figure:
    """What each part is worth: ratios of variants to the paper's mechanism, paired by repetition."""
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
        1, len(shown), figsize=(7.2, 0.27 * len(variants) + 1.2), sharey=True, squeeze=False
    )
    bases = ordered(table["base"].unique().to_list())
    for panel, (query, measure) in zip(axes[0], shown, strict=True):
        panel.axvline(1, color="#999999", lw=0.8)
        for place, base in enumerate(bases):
            part = table.filter(
                pl.col("query") == query, pl.col("measure") == measure, pl.col("base") == base
            )
            rows = {row["variant"]: row for row in part.to_dicts()}
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
                color=["#E69F00", "#0072B2"][place % 2],
                elinewidth=0.8,
                ms=3.5,
            )
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(numticks=4))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_title(PARTS[query, measure])
    axes[0, 0].set_yticks(range(len(variants)), [v.replace("_", " ") for v in variants])
    axes[0, 0].invert_yaxis()
    figure.set_layout_engine("constrained")
    figure.supxlabel("ratio to the paper's mechanism (errors: below 1 is better; F1: above 1)", fontsize=8)
    handles = [
        Line2D([], [], color=["#E69F00", "#0072B2"][i % 2], marker="so"[i % 2], ls="", label=look(b).label)
        for i, b in enumerate(bases)
    ]
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=2)
    title = (
        f"{material.title}: what each part is worth (ε = {material.epsilon:g}, w = {material.window}, raw)"
    )
    figure.suptitle(title, fontsize=9)
    return figure


def _panels(number: int) -> tuple[Figure, list[Axes]]:
    columns = 3
    rows = -(-number // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(7.2, 1.5 * rows + 0.3), sharex=True, sharey=True, squeeze=False
    )
    axes = list(grid.ravel())
    for spare in axes[number:]:
        spare.set_visible(False)
    figure.set_layout_engine("constrained")
    return figure, axes


def _finish(figure: Figure, axes: list[Axes], x: str, y: str) -> None:
    figure.supxlabel(x, fontsize=8)
    figure.supylabel(y, fontsize=8)


def add_legend(figure: Figure, mechanisms: list[str]) -> None:
    """The legend of mechanisms, below the figure."""
    handles = [
        Line2D(
            [],
            [],
            color=look(name).colour,
            ls=look(name).dash,
            marker=look(name).marker,
            label=look(name).label,
        )
        for name in mechanisms
    ]
    figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncol=6)


FIGURES: dict[str, Callable[[Material], Figure]] = {
    "mse_epsilon": lambda material: error_curves(material, "epsilon"),
    "mse_window": lambda material: error_curves(material, "window"),
    "budget": budget,
    "busiest": busiest,
    "events": events,
    "ablation": ablation,
}


def draw(name: str, material: Material, stem: Path) -> None:
    """Draw a figure of a stream and write it; see `save`."""
    save(lambda: FIGURES[name](material), stem)


def save(make: Callable[[], Figure], stem: Path) -> None:
    """Make a figure in the house style and write ``<stem>.pdf``, ``.svg`` and ``.png``, whole."""
    plt.style.use(STYLE)
    figure = make()
    for form, metadata in _METADATA.items():
        with written_whole(stem.with_name(f"{stem.name}.{form}")) as partial:
            figure.savefig(partial, format=form, metadata=metadata)
    plt.close(figure)
