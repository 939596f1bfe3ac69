"""summarize: means and intervals over repetitions, and ratios of variants to their mechanism.

Writes ``data/summaries/<experiment>.parquet`` and ``<experiment>.ratios.parquet``.
"""

from pathlib import Path

from mtsp_ldp.evaluation.summary import read_scores, summarize, variant_ratios
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Summarise all runs of ``experiment``."""
    experiment, data = Experiment(**config["experiment"]), Path(config["data"])
    runs = data / "runs" / experiment.name
    scores = read_scores(runs / f"{cell.stem}.parquet" for cell in experiment.cells)
    tables = {".parquet": summarize(scores), ".ratios.parquet": variant_ratios(scores)}
    for suffix, table in tables.items():
        with atomic_write(data / "summaries" / f"{experiment.name}{suffix}") as partial:
            table.write_parquet(partial, compression="zstd")


if __name__ == "__main__":
    main()
