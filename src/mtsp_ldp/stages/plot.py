"""plot: the figures of one stream as pdf, svg and png."""

from functools import cache
from pathlib import Path

import polars as pl

from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.foundation.files import read_table
from mtsp_ldp.report.canvas import Material, Run, read_run
from mtsp_ldp.report.figures import draw
from mtsp_ldp.report.page import read_facts
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.streams.stream import Stream


@stage
def main(config: Config) -> None:
    """Draw the figures of ``dataset`` in ``experiment``."""
    experiment, name = Experiment(**config["experiment"]), config["dataset"]["name"]
    data = Path(config["data"])
    facts = read_facts(data / "streams" / f"{name}.json")
    summary = read_table(data / "summaries" / f"{experiment.name}.parquet")
    ratios = read_table(data / "summaries" / f"{experiment.name}.ratios.parquet")

    @cache
    def stream() -> Stream:
        return Stream.read(data / "streams" / f"{name}.parquet")

    def run(mechanism: str) -> Run:
        stem = data / "runs" / experiment.name / experiment.focus_cell(name, mechanism).stem
        return read_run(stem, stream())

    epsilon, window = experiment.focus
    material = Material(
        title=facts["title"],
        facts=facts,
        summary=summary.filter(pl.col("dataset") == name),
        ratios=ratios.filter(pl.col("dataset") == name),
        epsilon=epsilon,
        window=window,
        stream=stream,
        run=run,
    )
    figures = Path(config["reports"]) / experiment.name / "figures"
    for figure in experiment.figures:
        draw(figure, material, figures / f"{name}.{figure}")


if __name__ == "__main__":
    main()
