"""Tables as Markdown (tabulate), LaTeX and HTML (pandas' Styler): the same marks, floors separated."""

import html
import re
from collections.abc import Iterable

import pandas as pd
from pandas.io.formats.style import Styler
from tabulate import tabulate

from mtsp_ldp.report.tables import ABOVE, BEST, CLOSE, LOSES, NOTE, Block

_SIGNS = {
    "ε": r"$\varepsilon$",
    "Δ": r"$\Delta$",
    "τ": r"$\tau$",
    "≤": r"$\leq$",
    "×": r"$\times$",
    "–": "--",
    "†": r"$^\dagger$",
}
_DAGGERS = {LOSES: "†", ABOVE: "(†)"}
_CSS = {BEST: "font-weight: bold", CLOSE: "text-decoration: underline"}


def as_markdown(parts: Iterable[Block], title: str) -> str:
    """Write all tables as GitHub Markdown."""
    lines = [f"# {title}", "", NOTE, ""]
    for block in parts:
        rows = [[row.label, *map(_emphasised, row.values, row.marks)] for row in block.rows]
        table = tabulate(rows, headers=["mechanism", *block.heads], tablefmt="github", disable_numparse=True)
        lines += [f"## {block.title}", "", *([table, ""] if block.rows else [])]
    return "\n".join(lines)


def _marked(value: str, marks: set[str]) -> str:
    """Add its dagger to a value."""
    return value + next((sign for mark, sign in _DAGGERS.items() if mark in marks), "")


def _emphasised(value: str, marks: set[str]) -> str:
    text = _marked(value, marks)
    return f"**{text}**" if BEST in marks else f"<u>{text}</u>" if CLOSE in marks else text


def as_latex(parts: Iterable[Block], title: str) -> str:
    """Write all tables as LaTeX, each a ``tabular`` under a comment with its title; needs booktabs only."""
    lines = [f"% {title}. {NOTE}", r"% needs \usepackage{booktabs}"]
    for block in parts:
        lines.append(f"% {block.title}")
        if block.rows:
            columns = "l" + "r" * len(block.heads)
            table = _styled(block, "latex").to_latex(hrules=True, convert_css=True, column_format=columns)
            lines.append(_separate_floors(table, block))
    text = "\n".join(lines)
    for sign, code in _SIGNS.items():
        text = text.replace(sign, code)
    return text


def _separate_floors(table: str, block: Block) -> str:
    first = next((row.label for row in block.rows if row.floor), None)
    lines = table.splitlines()
    if first is not None and not block.rows[0].floor:
        place = next(number for number, line in enumerate(lines) if line.startswith(first))
        lines.insert(place, r"\midrule")
    return "\n".join(lines) + "\n"


def as_html(parts: Iterable[Block]) -> str:
    """Write all tables as HTML: the means open, the rest folded."""
    pieces = []
    for number, block in enumerate(parts):
        title = html.escape(block.title)
        if not block.rows:
            pieces.append(f"<p>{title}.</p>")
            continue
        styler = _styled(block, "html")
        classes = [
            [" ".join(sorted(marks | ({"floor"} if row.floor else set()))) for marks in row.marks]
            for row in block.rows
        ]
        styler.set_td_classes(pd.DataFrame(classes, index=styler.index, columns=styler.columns))
        table = styler.to_html(table_uuid=f"t{number}", cell_ids=False)
        opened = "" if block.folded else " open"
        body = re.sub(r' id="T_[^"]*"', "", table.partition("</style>")[2].strip())
        pieces.append(
            f"<details{opened}><summary>{title}</summary><div class='scroll' tabindex='0' role='group' "
            f"aria-label='{title}'>{body}</div></details>"
        )
    return "\n".join(pieces) + "\n"


def _styled(block: Block, escape: str) -> Styler:
    values = [
        [_marked(value, marks) for value, marks in zip(row.values, row.marks, strict=True)]
        for row in block.rows
    ]
    heads = pd.Index(block.heads, name="mechanism")
    frame = pd.DataFrame(values, index=[row.label for row in block.rows], columns=heads)
    styler = frame.style.format(escape=escape)
    for axis in (0, 1):
        styler = styler.format_index(escape=escape, axis=axis)
    if escape == "html":  # there the page's style sheet marks
        return styler
    css = [
        ["; ".join(_CSS[mark] for mark in sorted(marks & set(_CSS))) for marks in row.marks]
        for row in block.rows
    ]
    return styler.apply(lambda _: pd.DataFrame(css, index=frame.index, columns=frame.columns), axis=None)
