"""study: one of the studies that are no grid, as csv tables and a figure in ``reports/studies``."""

from pathlib import Path

from mtsp_ldp.files import written_whole
from mtsp_ldp.report.figures import save
from mtsp_ldp.report.study_figures import FIGURES
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.studies import STUDIES


@stage
def main(config: Config) -> None:
    """Run ``study`` (growth, grouping)."""
    name = config["study"]
    if name not in STUDIES:
        raise ValueError(f"study={name!r}: one of {', '.join(STUDIES)}")
    folder = Path(config["reports"]) / "studies"
    tables = STUDIES[name]()
    for part, table in tables.items():
        with written_whole(folder / f"{name}.{part}.csv") as partial:
            table.write_csv(partial)
    save(lambda: FIGURES[name](tables), folder / name)


if __name__ == "__main__":
    main()
