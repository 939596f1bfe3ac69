"""Styles of mechanisms in every figure: colour and marker name the strategy, the line the division."""

from dataclasses import dataclass, replace
from itertools import product

from mtsp_ldp.mechanisms.registry import floors, mechanisms

_ORDER = ["lbu", "lbd", "lba", "mtsp_budget", "lsp", "lpu", "lpd", "lpa", "mtsp_population", "mtsp_filter"]


@dataclass(frozen=True)
class Style:
    """Label, colour (Okabe and Ito's colour-blind safe set), marker and dash of a mechanism."""

    label: str
    colour: str
    marker: str
    dash: str


_STYLES = {
    "lbu": Style("LBU", "#E69F00", "s", "--"),
    "lpu": Style("LPU", "#E69F00", "s", "-"),
    "lbd": Style("LBD", "#56B4E9", "^", "--"),
    "lpd": Style("LPD", "#56B4E9", "^", "-"),
    "lba": Style("LBA", "#009E73", "v", "--"),
    "lpa": Style("LPA", "#009E73", "v", "-"),
    "lsp": Style("LSP", "#CC79A7", "D", "-"),
    "mtsp_budget": Style("MTSP budget", "#0072B2", "o", "--"),
    "mtsp_population": Style("MTSP population", "#0072B2", "o", "-"),
    "mtsp_filter": Style("MTSP-F (ours)", "#D55E00", "P", "-"),
    "uniform": Style("floor: uniform", "#444444", "", ":"),
    "zero": Style("floor: zero", "#999999", "", "-."),
}
_SPARE = list(product("PX*h", ["#8C564B", "#7F3C8D", "#7A7F6B", "#4B4B8F"]))


def style_of(mechanism: str) -> Style:
    """Look up the style of a mechanism; one from elsewhere takes a spare one, by its place among those."""
    base, _, variant = mechanism.partition(".")
    if base in _STYLES:
        known = _STYLES[base]
        return replace(known, label=f"{known.label} ({variant.replace('_', ' ')})") if variant else known
    own = sorted(set(mechanisms()) - set(_STYLES))
    marker, colour = _SPARE[own.index(base) % len(_SPARE)] if base in own else _SPARE[0]
    budget = base in own and mechanisms()[base].division == "budget"
    return Style(mechanism, colour, marker, "--" if budget else "-")


def ordered(names: list[str]) -> list[str]:
    """Sort mechanisms: budget division, population division, others; the floors last."""
    rank = {name: place for place, name in enumerate([*_ORDER, "", *floors()])}
    return sorted(names, key=lambda name: (rank.get(name, rank[""]), name))
