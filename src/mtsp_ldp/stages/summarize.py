"""summarize: means and intervals over repetitions, and ratios of variants to their mechanism."""

from mtsp_ldp.evaluation.summary import read_scores, summarize, variant_ratios
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Summarise all runs of ``experiment``."""
    experiment = Experiment(**config["experiment"])
    files = Layout.of(config).experiment(experiment.name)
    scores = read_scores(cell.files(files).scores for cell in experiment.cells)
    for path, table in ((files.summary, summarize(scores)), (files.ratios, variant_ratios(scores))):
        with atomic_write(path) as partial:
            table.write_parquet(partial, compression="zstd")


if __name__ == "__main__":
    main()
