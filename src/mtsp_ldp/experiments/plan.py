"""The plan of a run of the workflow: the config, composed and checked once, and the parameters of each job.

The Snakefile makes one plan. It is written to a file that every job reads, named by its digest, so that jobs
of another plan are not disturbed; what a job takes of it is a parameter of its rule, so that an edit reruns
only what it touches.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mtsp_ldp.datasets.base import Dataset
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.experiments.config import ConfigError, compose_groups, make_dataset
from mtsp_ldp.experiments.grid import Experiment, GridCell, load_experiment, typed
from mtsp_ldp.experiments.layout import ExperimentLayout, Layout, in_names
from mtsp_ldp.foundation.files import atomic_write, digest_text
from mtsp_ldp.mechanisms.options import check_options, check_terms, own_defaults
from mtsp_ldp.mechanisms.registry import base_of, find
from mtsp_ldp.streams.facts import PreparedFacts

SECONDS_PER_STEP = {"flat": 0.8e-4, "tree": 5e-4}
"""Seconds of one repetition and timestamp on one core of a small server; for the estimate before a run."""
PERMISSIONS = ("allow_download", "accept_terms")


BYTES = 500
"""Bytes of a job per timestamp and cell: 160 were measured, 320 where a mechanism states errors."""


@lru_cache(maxsize=1024)
def _entries(facts: Path, _changed: int) -> int:
    """Count timestamps and cells of a prepared stream, with a few for what a timestamp has without cells."""
    sizes = PreparedFacts.read(facts)
    return sizes.T * (sizes.d + 8)


class Plan:
    """An experiment with everything that its jobs need to know.

    Parameters
    ----------
    experiment
        A checked grid.
    permission
        Downloads and terms that the user allows.
    layout
        Folders of the workflow.

    Raises
    ------
    ConfigError
        In one line, for options, windows or raw files that cannot be.
    """

    def __init__(self, experiment: Experiment, permission: Permission, layout: Layout | None = None) -> None:
        self.experiment = experiment
        self.permission = permission
        self.layout = layout or Layout()
        bases = tuple(dict.fromkeys(base_of(name) for name in experiment.names))
        groups = compose_groups(tuple(experiment.dataset), bases)
        self.datasets: dict[str, dict[str, Any]] = dict(groups["dataset"])
        others = {self.dataset(name).raw_name for name in experiment.dataset} - self.datasets.keys()
        self.datasets |= compose_groups(tuple(sorted(others)), ())["dataset"]
        self.mechanisms = {name: self._mechanism(name, groups["mechanism"]) for name in experiment.names}
        self._check()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Plan":
        """Make the plan that ``--config`` asks for: an experiment, keys that replace its own, permissions."""
        given = dict(config)
        allowed = typed({key: given.pop(key) for key in PERMISSIONS if key in given})
        permission = Permission.of(allowed)
        return cls(load_experiment(str(given.pop("experiment", "default")), given), permission)

    def _mechanism(self, name: str, composed: Mapping[str, Any]) -> dict[str, Any]:
        """Give registered name and options of a mechanism: defaults, then its yaml's, then a variant's."""
        base, _, variant = name.partition(".")
        variants = self.experiment.variants
        own = variants[name if name in variants else variant] if variant else {}
        options = {**own_defaults(find(base)), **(composed[base].get("options") or {}), **own}
        return {"name": base, "options": options}

    def _check(self) -> None:
        source = f"config/experiment/{self.experiment.name}.yaml"
        try:
            for mechanism in self.mechanisms.values():
                for window in self.experiment.window:
                    check_options(find(mechanism["name"]), mechanism["options"], window)
            for name in self.experiment.dataset:
                for window in self.experiment.window:
                    check_terms(self.experiment.epsilon[0], window, self.dataset(name).slots)
        except ConfigError:
            raise
        except ValueError as problem:
            raise ConfigError(f"{source}: {problem}") from None
        for name in self.experiment.dataset:
            self._check_source(name)

    def _check_source(self, name: str) -> None:
        dataset = self.dataset(name)
        if Path(self.layout.stream(name)).exists() or Path(self.receipt(name)).exists():
            return
        try:
            dataset.require(Path(self.layout.raw(dataset.raw_name)), self.permission)
        except ValueError as problem:
            raise ConfigError(str(problem)) from None

    def check_windows(self, name: str) -> None:
        """Raise ConfigError if a window is longer than a prepared stream whose config does not fix T."""
        facts, experiment = Path(self.layout.facts(name)), self.experiment
        if self.dataset(name).slots is not None or not facts.exists():
            return
        length, longest = PreparedFacts.read(facts).T, max(experiment.window)
        if longest > length:
            fitting = [window for window in experiment.window if window <= length] or [length]
            raise ConfigError(
                f"{experiment.name}: window={longest}: the prepared {name} has {length} timestamps; "
                f"--config 'window={fitting}' fits (or delete {facts} if its data or config changed)"
            )

    def megabytes(self, facts: str | Sequence[str]) -> float:
        """Estimate the memory of arrays over timestamps and cells, from the facts of prepared streams."""
        files = [facts] if isinstance(facts, str) else facts
        there = [Path(file) for file in files if Path(file).exists()]
        return max((_entries(file, file.stat().st_mtime_ns) * BYTES / 1e6 for file in there), default=0.0)

    def dataset(self, name: str) -> Dataset:
        """Make a data set of the experiment."""
        return make_dataset(name, self.datasets[name])

    @cached_property
    def files(self) -> ExperimentLayout:
        """The files of the experiment."""
        return self.layout.experiment(self.experiment.name)

    def receipt(self, name: str) -> str:
        """Name the receipt of the raw files that a stream is made of."""
        return self.layout.receipt(self.dataset(name).raw_name)

    @cached_property
    def text(self) -> str:
        """JSON text of the plan, as every job reads it."""
        plan = {
            "experiment": self.experiment.as_config(),
            "dataset": self.datasets,
            "mechanism": self.mechanisms,
            "data": self.layout.data,
            "reports": self.layout.reports,
            **self.permission.as_config(),
        }
        return json.dumps(plan, ensure_ascii=False, indent=1)

    @property
    def path(self) -> str:
        """Path of the plan, with its digest."""
        return f"logs/{self.experiment.name}/plan-{digest_text(self.text)[:12]}.json"

    def write(self) -> None:
        """Write the plan for the jobs."""
        if not Path(self.path).exists():
            with atomic_write(self.path) as partial:
                partial.write_text(self.text, encoding="utf-8")

    def results(self) -> list[str]:
        """Name all results and not the page alone, so that whatever is deleted is made again."""
        files, streams = self.files, self.experiment.dataset
        runs = [path for cell in self.experiment.cells for path in cell.files(files).all]
        tables = [files.table(name, form) for name in streams for form in ("csv", "md", "tex", "html")]
        tables += [files.table(name, "csv") for name in ("claims", "ranks", "profiles")]
        figures = [
            files.figure(name, figure, form)
            for name in streams
            for figure in self.experiment.figures
            for form in ("pdf", "svg", "png")
        ]
        return [
            files.page,
            *runs,
            files.summary,
            files.ratios,
            *tables,
            files.table("claims", "md"),
            *figures,
        ]

    def focus_files(self, dataset: str) -> list[str]:
        """Name the scores of the runs that figures and the page show, one per mechanism."""
        experiment = self.experiment
        return [experiment.focus_cell(dataset, name).files(self.files).scores for name in experiment.names]

    def simulated_by(self, dataset: str, mechanism: str, wildcards: Mapping[str, str]) -> list[GridCell]:
        """List the cells that a job simulates: those of its wildcards, all where it has none."""
        cells = self.experiment.cells_of(dataset, mechanism)
        for key in ("epsilon", "window"):
            if key in wildcards:
                cells = [cell for cell in cells if in_names(getattr(cell, key)) == wildcards[key]]
        return cells

    def seconds(self, cells: Iterable[GridCell]) -> float:
        """Estimate how long these cells take on one core."""
        work = 0.0
        for cell in cells:
            cls = find(base_of(cell.mechanism)).cls
            if cls.reads_data:
                steps = self.dataset(cell.dataset).slots or 1000
                work += self.experiment.repetitions * steps * SECONDS_PER_STEP["tree" if cls.tree else "flat"]
            work += 1.0
        return work


def last_lines(logs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Find the logs of the jobs that failed, by what Snakemake's own logs say, and the last line of each."""
    text = "".join(Path(path).read_text(errors="replace") for path in logs)
    named = re.findall(r"^ +log: (.+) \(check log file", text, re.M)
    for path in dict.fromkeys(path for paths in named for path in paths.split(", ")):
        if Path(path).is_file():
            lines = Path(path).read_text(errors="replace").split("\n")
            yield path, next((line for line in reversed(lines) if line.strip()), "(it is empty)")
