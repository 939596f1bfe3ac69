"""Tables of one stream: error per mechanism and cell, the best marked, beside LSP and the floors."""

import html
from dataclasses import dataclass

import polars as pl
from tabulate import tabulate

from mtsp_ldp.report.style import FLOORS, look, ordered
from mtsp_ldp.report.summary import with_floors

NOTE = (
    "Mean over repetitions. Best mechanism of a column in bold (the floors, below, do not compete); "
    "† loses to publishing nothing (the better floor)."
)


@dataclass(frozen=True)
class Block:
    """One table: a title, column heads and rows whose first entry is a mechanism's label."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    best: list[int | None]
    losing: list[set[int]]


def errors(summary: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """MSE of frequencies of one stream, long, with ratios to LSP and to the uniform floor.

    Returns
    -------
    One row a mechanism, release, epsilon and window: mean, low, high, median, repetitions, gain,
    ratio_to_lsp, ratio_to_uniform (NaN where that is not in the experiment), best.
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
    floor = pl.col("mechanism").is_in(FLOORS)
    smallest = pl.when(~floor).then(pl.col("mean")).min().over(column)
    nothing = pl.when(floor).then(pl.col("mean")).min().over(column)
    return (
        table.with_columns(best=~floor & (pl.col("mean") == smallest))
        .with_columns(loses_to_floor=(~floor & (pl.col("mean") > nothing)).fill_null(False))
        .drop("query", "measure")
        .sort("release", "mechanism", "epsilon", "window")
    )


def blocks(table: pl.DataFrame) -> list[Block]:
    """The tables of one stream: MSE, its ratios and its median, raw and simplex."""
    names = ordered(table["mechanism"].unique().to_list())
    values = {
        "mean": ("MSE", "{:.1e}"),
        "ratio_to_lsp": ("MSE / LSP's", "{:.2f}"),
        "ratio_to_uniform": ("MSE / uniform floor's", "{:.2f}"),
        "median": ("Median of the squared error over repetitions", "{:.1e}"),
    }
    return [
        _block(table.filter(pl.col("release") == release), names, value, f"{title}, {release}", form)
        for release in ("raw", "simplex")
        for value, (title, form) in values.items()
    ]


def _block(part: pl.DataFrame, names: list[str], value: str, title: str, form: str) -> Block:
    cells = part.select("epsilon", "window").unique().sort("epsilon", "window").rows()
    at = {(row["mechanism"], row["epsilon"], row["window"]): row for row in part.to_dicts()}
    rows, losing = [], []
    best: list[int | None] = [None] * len(cells)
    for place, name in enumerate(names):
        found = [at.get((name, *cell)) for cell in cells]
        shown = [_shown(row, value, form) for row in found]
        rows.append([look(name).label, *shown])
        losing.append({i for i, row in enumerate(found) if row and row["loses_to_floor"]})
        best = [place if row and row["best"] else old for row, old in zip(found, best, strict=True)]
    heads = [f"ε={epsilon:g} w={window}" for epsilon, window in cells]
    return Block(title, heads, rows, best, losing)


def _shown(row: dict[str, float] | None, value: str, form: str) -> str:
    return form.format(row[value]) if row is not None and row[value] is not None else "–"


def _marked(block: Block, bold: str, dagger: str) -> list[list[str]]:
    rows = []
    for place, (label, *values) in enumerate(block.rows):
        row = [label]
        for column, value in enumerate(values):
            text = value + (dagger if column in block.losing[place] else "")
            row.append(bold.format(text) if block.best[column] == place else text)
        rows.append(row)
    return rows


def as_markdown(parts: list[Block], title: str) -> str:
    """All tables as GitHub Markdown."""
    lines = [f"# {title}", "", NOTE, ""]
    for block in parts:
        table = tabulate(
            _marked(block, "**{}**", "†"),
            headers=["mechanism", *block.heads],
            tablefmt="github",
            disable_numparse=True,
        )
        lines += [f"## {block.title}", "", table, ""]
    return "\n".join(lines)


def as_latex(parts: list[Block], title: str) -> str:
    """All tables as LaTeX (booktabs), each a ``tabular`` under a comment with its title."""
    lines = [f"% {title}. {NOTE}", r"% needs \usepackage{booktabs}"]
    for block in parts:
        heads = [r"$\varepsilon\!=\!" + head[2:].replace(" w=", r",\,w\!=\!") + "$" for head in block.heads]
        rows = [
            [cell.replace("–", "--") for cell in row]
            for row in _marked(block, r"\textbf{{{}}}", r"$^\dagger$")
        ]
        table = tabulate(rows, headers=["mechanism", *heads], tablefmt="latex_raw", disable_numparse=True)
        lines += [f"% {block.title}", _booktabs(table)]
    return "\n".join(lines) + "\n"


def _booktabs(table: str) -> str:
    """Tabulate's raw LaTeX escapes nothing but draws hlines; its booktabs table escapes our marks."""
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        table = table.replace(r"\hline", rule, 1)
    return table


def as_html(parts: list[Block]) -> str:
    """All tables as HTML: the means open, the rest folded."""
    pieces = []
    for block in parts:
        head = "".join(f"<th scope='col'>{html.escape(head)}</th>" for head in block.heads)
        body = "".join(
            "<tr><th scope='row'>"
            + row[0]
            + "</th>"
            + "".join(f"<td>{cell}</td>" for cell in row[1:])
            + "</tr>"
            for row in _marked(block, "<strong>{}</strong>", "<span class='loses'>†</span>")
        )
        opened = " open" if block.title.startswith("MSE,") else ""
        pieces.append(
            f"<details{opened}><summary>{html.escape(block.title)}</summary>"
            f"<div class='scroll'><table><thead><tr><th scope='col'>mechanism</th>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div></details>"
        )
    return "\n".join(pieces) + "\n"
