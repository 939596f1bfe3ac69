"""A recommendation in words."""

from collections.abc import Callable

import polars as pl

from mtsp_ldp.evaluation.recommendation import FEWEST, Advice


def sentence(advice: Advice, label: Callable[[str], str] = str) -> str:
    """Say what to use where: a sentence on releases as they are, and one on their projections.

    Parameters
    ----------
    advice
        Result of `advise`.
    label
        Function from a mechanism's name to its label.
    """
    raw = _verdict(advice.table.filter(pl.col("release") == "raw"), label)
    waits = [
        f"at w = {window} {label(found[0])} wins from ε = {found[1]:.2g} on"
        if found
        else f"at w = {window} not even ε = 100 helps"
        for window, found in advice.later.items()
    ]
    later = f", and by closed form {', '.join(waits)}" if waits else ""
    projected = _verdict(advice.table.filter(pl.col("release") == "projected"), label)
    simulated = advice.table.filter(pl.col("method") == "simulation")["repetitions"]
    few = f"Fewer than {FEWEST} repetitions tell nothing: nothing that was simulated is recommended.\n"
    note = few if len(simulated) and int(simulated.min()) < FEWEST else ""  # type: ignore[arg-type]
    return f"{note}As released: {raw}{later}.\nProjected, which costs no privacy: {projected}."


def _verdict(table: pl.DataFrame, label: Callable[[str], str]) -> str:
    """Say what to use where for raw or projected releases, and the error of publishing nothing."""
    verdicts: dict[str, list[tuple[float, int]]] = {}
    for (epsilon, window), part in table.group_by("epsilon", "window", maintain_order=True):
        chosen = part.filter("chosen")["mechanism"].to_list()
        tied = part.filter("tied")["mechanism"].to_list()
        names = [label(name) for name in [*chosen, *sorted(tied)]]
        open_ = [label(name) for name in sorted(part.filter("open")["mechanism"].to_list())]
        said = "publish nothing"
        if names:
            said = f"use {' or '.join(names)}"
        elif open_:
            said = f"publish nothing, unless more repetitions tell that {' or '.join(open_)} helps"
        verdicts.setdefault(said, []).append((float(epsilon), int(window)))
    everywhere = len(verdicts) == 1
    parts = [
        said if everywhere and len(cells) > 1 else f"{said} at {_places(cells)}"
        for said, cells in verdicts.items()
    ]
    floor = float(table.filter(pl.col("method") == "floor")["mse"].min())  # type: ignore[arg-type]
    return f"{'; '.join(parts)}; publishing nothing errs by {floor:.2g}"


def _places(cells: list[tuple[float, int]]) -> str:
    """Put cells of the grid into words, the windows of one ε together."""
    by_epsilon: dict[float, list[int]] = {}
    for epsilon, window in sorted(cells):
        by_epsilon.setdefault(epsilon, []).append(window)
    by_windows: dict[tuple[int, ...], list[str]] = {}
    for epsilon, windows in by_epsilon.items():
        by_windows.setdefault(tuple(windows), []).append(f"{epsilon:g}")
    return ", ".join(
        f"ε = {' and '.join(epsilons)} (w = {', '.join(map(str, windows))})"
        for windows, epsilons in by_windows.items()
    )
