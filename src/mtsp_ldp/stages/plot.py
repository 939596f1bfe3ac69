"""plot: the figures of one stream as pdf, svg and png."""

from functools import cache
from pathlib import Path

import polars as pl

from mtsp_ldp.evaluation.runs import Run, read_run
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import read_table
from mtsp_ldp.report.canvas import Material
from mtsp_ldp.report.figures import draw
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.streams.facts import PreparedFacts
from mtsp_ldp.streams.stream import Stream


@stage
def main(config: Config) -> None:
    """Draw the figures of ``dataset`` in ``experiment``."""
    experiment, name = Experiment(**config["experiment"]), config["dataset"]["name"]
    layout = Layout.of(config)
    files, facts = layout.experiment(experiment.name), PreparedFacts.read(Path(layout.facts(name)))
    summary, ratios = read_table(files.summary), read_table(files.ratios)

    @cache
    def stream() -> Stream:
        return Stream.read(layout.stream(name))

    def run(mechanism: str) -> Run:
        return read_run(experiment.focus_cell(name, mechanism).files(files), stream())

    epsilon, window = experiment.focus
    material = Material(
        title=facts.title,
        facts=facts,
        summary=summary.filter(pl.col("dataset") == name),
        ratios=ratios.filter(pl.col("dataset") == name),
        epsilon=epsilon,
        window=window,
        stream=stream,
        run=run,
    )
    for figure in experiment.figures:
        draw(figure, material, Path(files.figure(name, figure, "svg")).with_suffix(""))


if __name__ == "__main__":
    main()
