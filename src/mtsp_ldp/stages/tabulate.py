"""tabulate: the tables of one stream as csv, Markdown, LaTeX and HTML."""

from pathlib import Path

import polars as pl

from mtsp_ldp.evaluation.summary import frequency_errors
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import atomic_write, read_table
from mtsp_ldp.report.tables import ablation_blocks, blocks, query_blocks
from mtsp_ldp.report.typeset import as_html, as_latex, as_markdown
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.streams.facts import PreparedFacts


@stage
def main(config: Config) -> None:
    """Tabulate ``dataset`` of ``experiment``."""
    experiment, name = Experiment(**config["experiment"]), config["dataset"]["name"]
    layout = Layout.of(config)
    files = layout.experiment(experiment.name)
    summary, ratios = read_table(files.summary), read_table(files.ratios)
    table, here = frequency_errors(summary, name), pl.col("dataset") == name
    facts = PreparedFacts.read(Path(layout.facts(name)))
    title = f"{facts.title} (replicate {facts.replicate})"
    parts = [
        *ablation_blocks(ratios.filter(here)),
        *blocks(table),
        *query_blocks(summary.filter(here), *experiment.focus),
    ]
    texts = {
        "csv": table.with_columns(replicate=pl.lit(facts.replicate)).write_csv(),
        "md": as_markdown(parts, title),
        "tex": as_latex(parts, title),
        "html": as_html(parts),
    }
    for suffix, text in texts.items():
        with atomic_write(files.table(name, suffix)) as partial:
            partial.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
