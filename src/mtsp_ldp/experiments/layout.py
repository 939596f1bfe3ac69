"""Layout: the path of every file of the workflow, for Snakefile and stages.

Names may hold Snakemake's wildcards, as ``{dataset}``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mtsp_ldp.evaluation.runs import RunFiles

ANY = "any"
"""Epsilon and window in file names of the floors, which depend on neither."""


def cell_name(epsilon: float | str | None, window: int | str | None) -> str:
    """Name the files of one cell of a grid."""
    return f"epsilon={in_names(epsilon)}_window={in_names(window)}"


def in_names(value: float | str | None) -> str:
    """Write epsilon or window as it stands in file names."""
    return ANY if value is None else str(value)


@dataclass(frozen=True)
class Layout:
    """The folders of the workflow.

    Attributes
    ----------
    data
        Folder of raw files, streams, runs and summaries.
    reports
        Folder of tables, figures and pages.
    """

    data: str = "data"
    reports: str = "reports"

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Layout":
        """Take the folders from the config of a stage."""
        return cls(config["data"], config["reports"])

    def raw(self, name: str) -> str:
        """Name the folder of the raw files of a data set."""
        return f"{self.data}/raw/{name}"

    def receipt(self, name: str) -> str:
        """Name the receipt that fetch writes of the raw files of a data set."""
        return f"{self.raw(name)}/receipt.json"

    def stream(self, dataset: str) -> str:
        """Name the file of a prepared stream."""
        return f"{self.data}/streams/{dataset}.parquet"

    def facts(self, dataset: str) -> str:
        """Name the file of the facts beside a prepared stream."""
        return f"{self.data}/streams/{dataset}.json"

    def stream_page(self, dataset: str) -> str:
        """Name the page about a stream."""
        return f"{self.reports}/streams/{dataset}.html"

    def study(self, name: str) -> str:
        """Name the report of a study."""
        return f"{self.reports}/studies/{name}.md"

    def experiment(self, name: str) -> "ExperimentLayout":
        """Lay out the files of an experiment."""
        return ExperimentLayout(self, name)


@dataclass(frozen=True)
class ExperimentLayout:
    """The files of one experiment."""

    layout: Layout
    name: str

    def folder(self, dataset: str, mechanism: str) -> str:
        """Name the folder of the runs of a mechanism on a stream."""
        return f"{self.layout.data}/runs/{self.name}/{dataset}/{mechanism}"

    def run(
        self, dataset: str, mechanism: str, epsilon: float | str | None, window: int | str | None
    ) -> RunFiles:
        """Name the files of one cell of the grid."""
        return RunFiles(f"{self.folder(dataset, mechanism)}/{cell_name(epsilon, window)}")

    @property
    def summary(self) -> str:
        """File of the means and intervals of all cells."""
        return f"{self.layout.data}/summaries/{self.name}.parquet"

    @property
    def ratios(self) -> str:
        """File of the ratios of variants to their mechanisms."""
        return f"{self.layout.data}/summaries/{self.name}.ratios.parquet"

    @property
    def report(self) -> str:
        """Folder of the report."""
        return f"{self.layout.reports}/{self.name}"

    @property
    def page(self) -> str:
        """File of the page."""
        return f"{self.report}/index.html"

    def table(self, name: str, form: str) -> str:
        """Name a table (of a stream by its name, else ``claims``, ``ranks``, ``profiles``) in a format."""
        return f"{self.report}/tables/{name}.{form}"

    def figure(self, dataset: str, figure: str, form: str) -> str:
        """Name a figure of a stream in a format."""
        return f"{self.report}/figures/{dataset}.{figure}.{form}"

    def log(self, rule: str, part: str = "") -> str:
        """Name the log of a rule, or of one of its jobs."""
        return f"logs/{self.name}/{rule}/{part}.log" if part else f"logs/{self.name}/{rule}.log"
