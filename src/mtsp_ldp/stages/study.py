"""study: one of the studies outside the experiment grid, as csv and Markdown tables in ``reports/studies``.

Growth and grouping come with a figure.
"""

from pathlib import Path

from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.experiments.studies import STUDIES
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.report.canvas import save
from mtsp_ldp.report.study_figures import FIGURES, as_markdown_tables
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Run ``study`` (growth, grouping, privacy)."""
    name = config["study"]
    if name not in STUDIES:
        raise ValueError(f"study={name!r}: must be one of {', '.join(STUDIES)}")
    stem = Path(Layout.of(config).study(name)).with_suffix("")
    tables = STUDIES[name]()
    for part, table in tables.items():
        with atomic_write(stem.with_name(f"{name}.{part}.csv")) as partial:
            table.write_csv(partial)
    with atomic_write(stem.with_suffix(".md")) as partial:
        partial.write_text(as_markdown_tables(name, tables), encoding="utf-8")
    if name in FIGURES:
        save(lambda: FIGURES[name](tables), stem)


if __name__ == "__main__":
    main()
