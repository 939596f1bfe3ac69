"""publish: the page of an experiment, ``reports/<experiment>/index.html``."""

from pathlib import Path

import polars as pl

from mtsp_ldp.experiment import Experiment, config_digest
from mtsp_ldp.files import written_whole
from mtsp_ldp.report.page import read_facts, render, stream_view
from mtsp_ldp.report.tables import NOTE
from mtsp_ldp.runs import versions
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Write the page of ``experiment``."""
    experiment, data = Experiment(**config["experiment"]), Path(config["data"])
    folder = Path(config["reports"]) / experiment.name
    summary = pl.read_parquet(data / "summaries" / f"{experiment.name}.parquet")
    views = [
        stream_view(
            summary,
            read_facts(data / "streams" / f"{name}.json"),
            folder / "figures",
            experiment.figures,
            folder / "tables" / f"{name}.html",
            experiment.focus,
        )
        for name in experiment.dataset
    ]
    epsilon, window = experiment.focus
    page = render(
        "page",
        note=NOTE,
        experiment=experiment,
        cells=len(experiment.cells),
        streams=views,
        epsilon=epsilon,
        window=window,
        command=f"snakemake --cores all --config experiment={experiment.name}",
        commit=config["commit"] or "unknown",
        digest=config_digest(experiment),
        versions=versions(),
    )
    with written_whole(folder / "index.html") as partial:
        partial.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
