"""tabulate: the tables of one stream as csv, Markdown, LaTeX and HTML."""

from pathlib import Path

import polars as pl

from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.foundation.files import atomic_write, read_table
from mtsp_ldp.report.page import read_facts
from mtsp_ldp.report.tables import ablation_blocks, blocks, errors, query_blocks
from mtsp_ldp.report.typeset import as_html, as_latex, as_markdown
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Tabulate ``dataset`` of ``experiment``."""
    experiment, name = Experiment(**config["experiment"]), config["dataset"]["name"]
    data = Path(config["data"])
    summary = read_table(data / "summaries" / f"{experiment.name}.parquet")
    ratios = read_table(data / "summaries" / f"{experiment.name}.ratios.parquet")
    table, here = errors(summary, name), pl.col("dataset") == name
    facts = read_facts(data / "streams" / f"{name}.json")
    title = f"{facts['title']} (replicate {facts['replicate']})"
    parts = [
        *ablation_blocks(ratios.filter(here)),
        *blocks(table),
        *query_blocks(summary.filter(here), *experiment.focus),
    ]
    texts = {
        "csv": table.with_columns(replicate=pl.lit(facts["replicate"])).write_csv(),
        "md": as_markdown(parts, title),
        "tex": as_latex(parts, title),
        "html": as_html(parts),
    }
    for suffix, text in texts.items():
        target = Path(config["reports"]) / experiment.name / "tables" / f"{name}.{suffix}"
        with atomic_write(target) as partial:
            partial.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
