"""compare: verdicts on the paper's claims, mean ranks and performance profiles of an experiment.

Writes ``claims``, ``ranks`` and ``profiles`` below ``reports/<experiment>/tables``, as csv, and claims as
Markdown.
"""

import polars as pl
import yaml
from tabulate import tabulate

from mtsp_ldp.evaluation.claims import Evidence, as_rows, judge
from mtsp_ldp.evaluation.comparison import profiles, ranking
from mtsp_ldp.evaluation.stream_profile import profile
from mtsp_ldp.evaluation.summary import read_scores
from mtsp_ldp.experiments.config import CONFIG
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import atomic_write, read_table
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.streams.stream import Stream

FACTORS = [round(10 ** (step / 10), 4) for step in range(31)]


@stage
def main(config: Config) -> None:
    """Compare the mechanisms of ``experiment``."""
    experiment, layout = Experiment(**config["experiment"]), Layout.of(config)
    files, movement, concentration = layout.experiment(experiment.name), {}, {}
    for name in experiment.dataset:
        sizes = profile(Stream.read(layout.stream(name)))
        movement[name] = sizes["change"] / max(sizes["rms"], 1e-300)
        tenth = sizes["share of the busiest tenth of the cells"]
        concentration[name] = tenth if sizes["d"] >= 10 else 0.0
    scores = read_scores(cell.files(files).scores for cell in experiment.cells)
    claims = yaml.safe_load((CONFIG / "claims.yaml").read_text(encoding="utf-8"))
    verdicts = as_rows(judge(claims, Evidence(scores, movement, concentration)))
    summary = read_table(files.summary)
    ranked = [(release, ranking(summary, release)) for release in ("raw", "projected")]
    ranks = pl.concat(
        found.ranks.with_columns(
            release=pl.lit(release),
            streams=pl.lit(found.streams),
            friedman_p=pl.lit(found.p_value, pl.Float64),
            nemenyi_difference=pl.lit(found.critical, pl.Float64),
        )
        for release, found in ranked
    )
    shown = tabulate(
        verdicts.select("says", "source", "verdict", "numbers", "where").rows(),
        headers=["claim", "source", "verdict", "numbers", "where"],
        tablefmt="github",
    )
    texts = {
        ("claims", "csv"): verdicts.write_csv(),
        ("claims", "md"): f"# Claims, judged on {experiment.name}\n\n{shown}\n",
        ("ranks", "csv"): ranks.write_csv(),
        ("profiles", "csv"): profiles(summary, FACTORS).write_csv(),
    }
    for place, text in texts.items():
        with atomic_write(files.table(*place)) as partial:
            partial.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
