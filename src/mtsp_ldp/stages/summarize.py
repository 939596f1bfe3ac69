"""summarize: means and intervals over repetitions, and ratios of variants to their mechanism."""

import polars as pl

from mtsp_ldp.evaluation.expectation import closed_forms, has_closed_form
from mtsp_ldp.evaluation.summary import EXPECTED, read_scores, summarize, variant_ratios
from mtsp_ldp.experiments.config import mechanism_options
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.streams.stream import Stream


@stage
def main(config: Config) -> None:
    """Summarise all runs of ``experiment``, with the expected errors that are known in closed form."""
    experiment, layout = Experiment(**config["experiment"]), Layout.of(config)
    files = layout.experiment(experiment.name)
    scores = read_scores(cell.files(files).scores for cell in experiment.cells)
    closed = [name for name in experiment.mechanism if has_closed_form(name, mechanism_options(name))]
    rows = [
        row
        for dataset in experiment.dataset
        for row in closed_forms(
            Stream.read(layout.stream(dataset)), closed, experiment.epsilon, experiment.window
        )
    ]
    expected = pl.DataFrame(rows, schema=EXPECTED, orient="row")
    tables = {files.summary: summarize(scores, expected), files.ratios: variant_ratios(scores)}
    for path, table in tables.items():
        with atomic_write(path) as partial:
            table.write_parquet(partial, compression="zstd")


if __name__ == "__main__":
    main()
