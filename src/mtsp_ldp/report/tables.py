"""Tables of one stream: error per mechanism and cell, the best marked, beside LSP and the floors."""

import html
from dataclasses import dataclass, replace

import polars as pl
from tabulate import tabulate

from mtsp_ldp.report.style import FLOORS, look, ordered
from mtsp_ldp.report.summary import with_floors

NOTE = (
    "Mean over repetitions; their number and 95 % intervals are in the csv. Best mechanism of a column bold "
    "(the floors, below, do not compete); † loses to publishing nothing (the better floor)."
)


@dataclass(frozen=True)
class Block:
    """One table: a title, column heads and rows whose first entry is a label; which cells are marked."""

    title: str
    heads: list[str]
    rows: list[list[str]]
    best: list[set[int]]
    losing: list[set[int]]
    folded: bool = True

    @classmethod
    def saying(cls, title: str) -> "Block":
        """A title that says all; its table is empty."""
        return cls(title, [], [], [], [], folded=False)

    def with_always(self, part: pl.DataFrame, columns: dict[tuple[str, str], str]) -> "Block":
        """The same with a last row for flagging always: recall 1, an AUC of one half."""
        rates = (
            part.filter(pl.col("measure") == "f1_always_macro").group_by("query").agg(pl.col("mean").first())
        )
        known = dict(rates.iter_rows())
        heads = {head: key for key, head in columns.items()}
        row = [
            f"{known[heads[head][0]]:.2f}" if heads[head][1].startswith("f1") else "0.50"
            for head in self.heads
        ]
        rows = [*self.rows, ["floor: always", *row]]
        return replace(self, rows=rows, losing=[*self.losing, set()])


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
    best: list[set[int]] = [set() for _ in cells]
    for place, name in enumerate(names):
        found = [at.get((name, *cell)) for cell in cells]
        shown = [_shown(row, value, form) for row in found]
        rows.append([look(name).label, *shown])
        losing.append({i for i, row in enumerate(found) if row and row["loses_to_floor"]})
        for marks, row in zip(best, found, strict=True):
            if row and row["best"]:
                marks.add(place)
    heads = [f"ε={epsilon:g} w={window}" for epsilon, window in cells]
    return Block(title, heads, rows, best, losing, folded=value != "mean")


QUERIES = {
    "counting_1": "counting Δ=1",
    "counting_10": "counting Δ=10",
    "range_short": "range ≤ d/16",
    "range_medium": "range ≤ d/4",
    "range_long": "range ≤ d",
    "box": "box",
}
PARTS = {
    ("frequency", "mse"): "leaf MSE",
    ("range_short", "mse"): "range ≤ d/16",
    ("range_medium", "mse"): "range ≤ d/4",
    ("range_long", "mse"): "range ≤ d",
    ("event_12_count", "f1_macro"): "event F1",
}
"""What an ablation looks at: (query, measure) and its column's head."""


def query_blocks(summary: pl.DataFrame, epsilon: float, window: int) -> list[Block]:
    """Query errors and event detection of one stream at one epsilon and window, raw and simplex."""
    table = with_floors(summary).filter(pl.col("epsilon") == epsilon, pl.col("window") == window)
    names = ordered(table["mechanism"].unique().to_list())
    at = f"ε={epsilon:g} w={window}"
    found = []
    for release in ("raw", "simplex"):
        part = table.filter(pl.col("release") == release)
        columns = {(query, "mse"): head for query, head in QUERIES.items()}
        found.append(_measures(part, names, columns, f"MSE of queries at {at}, {release}", "{:.1e}", 1))
        columns = {
            (f"event_{delta}_{on}", f"{measure}_macro"): f"{head} Δ={delta} {on}"
            for on in ("count", "share")
            for delta in (3, 6, 12)
            for measure, head in (("f1", "F1"), ("auc", "AUC"))
        }
        events = part.filter(pl.col("query").str.starts_with("event_"), pl.col("measure") == "events")
        number = int(events["mean"].max() or 0) if events.height else 0  # type: ignore[arg-type]
        title = f"Event detection at {at}, {release} (up to {number} true event timestamps)"
        block = _measures(part, names, columns, title, "{:.2f}", -1) if number else None
        found.append(block.with_always(part, columns) if block else Block.saying(f"{title}: none to detect"))
        known = part.filter(pl.col("query").str.starts_with("known_"), pl.col("measure").str.contains("_6_"))
        columns = {
            (query, measure): f"{query[6:].replace('_', ' ')}, {measure.rpartition('_')[2]}s"
            for query, measure in known.select("query", "measure").unique().sort("query", "measure").rows()
        }
        title = (
            f"Known events found at Δ=6, share of repetitions, {at}, {release} (mind the false alarms: F1)"
        )
        found.append(_measures(part, names, columns, title, "{:.2f}", -1))
    return [block for block in found if block.heads or "none to detect" in block.title]


def _measures(
    part: pl.DataFrame,
    names: list[str],
    columns: dict[tuple[str, str], str],
    title: str,
    form: str,
    sign: int,
) -> Block:
    """Rows of mechanisms, columns of (query, measure); sign 1 marks the smallest, -1 the largest."""
    at = {(row["query"], row["measure"], row["mechanism"]): row["mean"] for row in part.to_dicts()}
    shown = [key for key in columns if any((*key, name) in at for name in names)]
    values = [[at.get((*key, name)) for key in shown] for name in names]
    rows = [
        [look(name).label, *("–" if _unknown(value) else form.format(value) for value in row)]
        for name, row in zip(names, values, strict=True)
    ]
    best: list[set[int]] = []
    for column in range(len(shown)):
        ranked = {
            place: sign * value
            for place, (name, row) in enumerate(zip(names, values, strict=True))
            if name not in FLOORS and (value := row[column]) is not None and value == value
        }
        least = min(ranked.values(), default=None)
        best.append({place for place, value in ranked.items() if value == least})
    return Block(title, [columns[key] for key in shown], rows, best, [set() for _ in names])


def _unknown(value: float | None) -> bool:
    return value is None or value != value


def ablation_blocks(ratios: pl.DataFrame) -> list[Block]:
    """What each part is worth, of one stream: ratios to the paper's mechanism with intervals, raw."""
    found = []
    part = ratios.filter(pl.col("release") == "raw")
    for base in ordered(part["base"].unique().to_list()):
        for epsilon, window in part.select("epsilon", "window").unique().sort("epsilon", "window").rows():
            cell = part.filter(
                pl.col("base") == base, pl.col("epsilon") == epsilon, pl.col("window") == window
            )
            at = {(row["query"], row["measure"], row["variant"]): row for row in cell.to_dicts()}
            keys = [key for key in PARTS if any(row[:2] == key for row in at)]
            rows = [
                [variant.replace("_", " "), *(_interval(at.get((*key, variant))) for key in keys)]
                for variant in cell["variant"].unique(maintain_order=True).to_list()
            ]
            title = (
                f"What each part is worth: {look(base).label}, ε={epsilon:g} w={window}, ratio to the paper's"
            )
            heads = [PARTS[key] for key in keys]
            found.append(Block(title, heads, rows, [set() for _ in heads], [set() for _ in rows], False))
    return found


def _interval(row: dict[str, float] | None) -> str:
    if row is None or row["ratio"] is None or row["ratio"] != row["ratio"]:
        return "–"
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _shown(row: dict[str, float] | None, value: str, form: str) -> str:
    return form.format(row[value]) if row is not None and row[value] is not None else "–"


def _marked(block: Block, bold: str, dagger: str) -> list[list[str]]:
    rows = []
    for place, (label, *values) in enumerate(block.rows):
        row = [label]
        for column, value in enumerate(values):
            text = value + (dagger if column in block.losing[place] else "")
            row.append(bold.format(text) if place in block.best[column] else text)
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
        heads = [_latex(head) for head in block.heads]
        rows = [[_latex(cell) for cell in row] for row in _marked(block, r"\textbf{{{}}}", r"$^\dagger$")]
        table = tabulate(rows, headers=["mechanism", *heads], tablefmt="latex_raw", disable_numparse=True)
        lines += [f"% {block.title}", _booktabs(table)]
    return "\n".join(lines) + "\n"


def _latex(text: str) -> str:
    for sign, code in {"ε": r"$\varepsilon$", "Δ": r"$\Delta$", "≤": r"$\leq$", "–": "--"}.items():
        text = text.replace(sign, code)
    return text


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
        opened = "" if block.folded else " open"
        pieces.append(
            f"<details{opened}><summary>{html.escape(block.title)}</summary>"
            f"<div class='scroll'><table><thead><tr><th scope='col'>mechanism</th>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table></div></details>"
        )
    return "\n".join(pieces) + "\n"
