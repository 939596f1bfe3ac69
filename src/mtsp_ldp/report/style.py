"""How a mechanism looks in every figure: colour and marker name the strategy, the line the division."""

from dataclasses import dataclass, replace
from itertools import product

from mtsp_ldp.mechanisms.registry import mechanisms

FLOORS = ["uniform", "zero"]
BASELINES = ["lbu", "lsp", "lbd", "lba", "lpu", "lpd", "lpa"]
_ORDER = ["lbu", "lbd", "lba", "mtsp_budget", "lsp", "lpu", "lpd", "lpa", "mtsp_population"]


@dataclass(frozen=True)
class Look:
    """Label, colour (Okabe and Ito's colour-blind safe set), marker and dash of a mechanism."""

    label: str
    colour: str
    marker: str
    dash: str


_LOOKS = {
    "lbu": Look("LBU", "#E69F00", "s", "--"),
    "lpu": Look("LPU", "#E69F00", "s", "-"),
    "lbd": Look("LBD", "#56B4E9", "^", "--"),
    "lpd": Look("LPD", "#56B4E9", "^", "-"),
    "lba": Look("LBA", "#009E73", "v", "--"),
    "lpa": Look("LPA", "#009E73", "v", "-"),
    "lsp": Look("LSP", "#CC79A7", "D", "-"),
    "mtsp_budget": Look("MTSP budget", "#0072B2", "o", "--"),
    "mtsp_population": Look("MTSP population", "#0072B2", "o", "-"),
    "uniform": Look("floor: uniform", "#444444", "", ":"),
    "zero": Look("floor: zero", "#999999", "", "-."),
}
_SPARE = list(product("PX*h", ["#D55E00", "#7F3C8D", "#7A7F6B", "#4B4B8F"]))


def look(mechanism: str) -> Look:
    """The look of a mechanism; one that is not ours takes a spare one, by its place among their names."""
    base, _, variant = mechanism.partition(".")
    if base in _LOOKS:
        known = _LOOKS[base]
        return replace(known, label=f"{known.label} ({variant.replace('_', ' ')})") if variant else known
    own = sorted(set(mechanisms()) - set(_LOOKS))
    marker, colour = _SPARE[own.index(base) % len(_SPARE)] if base in own else _SPARE[0]
    budget = base in own and mechanisms()[base].division == "budget"
    return Look(mechanism, colour, marker, "--" if budget else "-")


def ordered(mechanisms: list[str]) -> list[str]:
    """Budget division, population division, others; the floors last."""
    rank = {name: place for place, name in enumerate(_ORDER)}
    floors = {name: len(rank) + 1 + place for place, name in enumerate(FLOORS)}
    return sorted(mechanisms, key=lambda name: ((rank | floors).get(name, len(rank)), name))
