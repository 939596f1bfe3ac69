"""inspect: profile of a prepared stream and expected errors of LDP on it, as a page and on the terminal."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from mtsp_ldp.evaluation.expectation import Expectation
from mtsp_ldp.evaluation.stream_profile import EPSILONS, outlook, profile
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.report.canvas import save
from mtsp_ldp.report.page import inlined, render
from mtsp_ldp.report.stream_figures import overview, verdicts
from mtsp_ldp.report.style import style_of
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stages.inputs import load_prepared_stream, stream_path
from mtsp_ldp.streams.doubts import doubts
from mtsp_ldp.streams.facts import PreparedFacts


@stage
def main(config: Config) -> None:
    """Inspect ``dataset``: print the tables and write ``reports/streams/<dataset>.html``."""
    name = config["dataset"]["name"]
    stream, facts = load_prepared_stream(config), PreparedFacts.read(stream_path(config).with_suffix(".json"))
    sizes = {key: _shown(value) for key, value in profile(stream).items()}
    sentences, table = verdicts(stream), outlook(stream)
    rows = [
        {"mechanism": style_of(mechanism).label, "window": window, "cells": part.to_dicts()}
        for (mechanism, window), part in table.group_by("mechanism", "window", maintain_order=True)
    ]
    target = Path(Layout.of(config).stream_page(name))
    with TemporaryDirectory() as scratch:
        save(lambda: overview(stream, facts), Path(scratch) / name)
        image = inlined(Path(scratch) / f"{name}.svg")
    page = render(
        "stream",
        facts=facts,
        verdicts=sentences,
        doubts=doubts(facts),
        floor=Expectation(stream).floor,
        image=image,
        epsilons=EPSILONS,
        table=rows,
        profile=sizes,
    )
    with atomic_write(target) as partial:
        partial.write_text(page, encoding="utf-8")
    errors = [
        [row["mechanism"], row["window"], *(_shown(cell["mse"]) for cell in row["cells"])] for row in rows
    ]
    heads = ["expected MSE", "w", *(f"ε = {value:g}" for value in EPSILONS)]
    for shown in (tabulate(sizes.items(), tablefmt="plain"), tabulate(errors, headers=heads)):
        print(shown, "", sep="\n")
    print(*sentences, "", sep="\n")
    if facts.origin:
        print(f"It starts at {facts.origin} ({facts.time_zone}).")
    if facts.rows:
        print(facts.describe_drops())
    for doubt in doubts(facts):
        print(f"WARNING: {doubt}")
    print(f"The page is {target}")


def _shown(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


if __name__ == "__main__":
    main()
