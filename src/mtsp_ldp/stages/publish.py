"""publish: the page of an experiment, ``reports/<experiment>/index.html``."""

from pathlib import Path
from typing import Any

import polars as pl

from mtsp_ldp.evaluation.runs import read_run, versions
from mtsp_ldp.experiments.grid import Experiment, as_command
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.experiments.provenance import config_digest
from mtsp_ldp.foundation.files import atomic_write, read_table
from mtsp_ldp.report.page import as_json, render, script, stream_section
from mtsp_ldp.report.payload import View, payload
from mtsp_ldp.report.style import style_of
from mtsp_ldp.report.tables import NOTE
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.streams.facts import PreparedFacts
from mtsp_ldp.streams.stream import Stream


@stage
def main(config: Config) -> None:
    """Write the page of ``experiment``."""
    experiment, layout = Experiment(**config["experiment"]), Layout.of(config)
    files = layout.experiment(experiment.name)
    summary = read_table(files.summary)
    facts = {name: PreparedFacts.read(Path(layout.facts(name))) for name in experiment.dataset}
    publishers = [name for name in experiment.names if name not in experiment.floors]

    def view(dataset: str) -> View:
        stream = Stream.read(layout.stream(dataset))
        cells = {name: experiment.focus_cell(dataset, name) for name in publishers if "." not in name}
        runs = {name: read_run(cell.files(files), stream) for name, cell in cells.items()}
        return View(stream, facts[dataset], runs)

    profiles = pl.read_csv(files.table("profiles", "csv"))
    epsilon, window = experiment.focus
    page = render(
        "page",
        note=NOTE,
        experiment=experiment,
        cells=len(experiment.cells),
        streams=[
            stream_section(summary, facts[name], files, experiment.figures, experiment.focus)
            for name in experiment.dataset
        ],
        data=as_json(payload(summary, {name: view(name) for name in facts}, experiment.focus, profiles)),
        vega=script(),
        claims=pl.read_csv(files.table("claims", "csv")).to_dicts(),
        ranks=_ranks(pl.read_csv(files.table("ranks", "csv"))),
        epsilon=epsilon,
        window=window,
        command=as_command(experiment),
        commit=config["commit"] or "unknown",
        digest=config_digest(experiment),
        versions=versions(),
    )
    with atomic_write(files.page) as partial:
        partial.write_text(page, encoding="utf-8")


def _ranks(table: pl.DataFrame) -> dict[str, Any]:
    """Take mean ranks by raw errors, best first, and the tests of them over streams."""
    raw = table.filter(pl.col("release") == "raw")
    rows = raw.select("mechanism", "rank").iter_rows()
    return {
        "rows": [(style_of(name).label, rank) for name, rank in rows],
        "streams": raw["streams"][0],
        "p_value": raw["friedman_p"].cast(pl.Float64)[0],
        "critical": raw["nemenyi_difference"].cast(pl.Float64)[0],
    }


if __name__ == "__main__":
    main()
