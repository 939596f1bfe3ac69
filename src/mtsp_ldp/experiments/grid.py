"""The grid of an experiment: its config, checked before any job starts, and the files of its cells."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.evaluation.runs import ANY
from mtsp_ldp.experiments.catalog import load_dataset, mechanism_options
from mtsp_ldp.experiments.composition import ROOT, ConfigError, choices, composed, read_choice, read_yaml
from mtsp_ldp.foundation.files import read_json
from mtsp_ldp.mechanisms.options import check_epsilon, check_options, check_window
from mtsp_ldp.mechanisms.registry import base_of, find

SCHEMA = ROOT / "workflow" / "schemas" / "experiment.schema.yaml"
FIGURES = ["mse_epsilon", "mse_window", "mse_column", "budget", "busiest", "events", "ablation"]
"""What can be drawn of a stream; the first five if an experiment does not say."""
SECONDS_PER_STEP = {"flat": 0.8e-4, "tree": 5e-4}
"""Of one repetition and timestamp, measured on one core of a small server; for the estimate before a run."""


@dataclass(frozen=True)
class Cell:
    """One mechanism at one budget and window on one stream. Both are "any" for a floor."""

    dataset: str
    mechanism: str
    epsilon: float | str
    window: int | str

    @property
    def stem(self) -> str:
        """Path below the experiment's folder of runs, without suffix."""
        return f"{self.dataset}/{self.mechanism}/epsilon={self.epsilon}_window={self.window}"


@dataclass(frozen=True)
class Experiment:
    """A validated grid."""

    name: str
    dataset: list[str]
    mechanism: list[str]
    epsilon: list[float]
    window: list[int]
    repetitions: int
    seed: int
    figures: list[str] = field(default_factory=lambda: list(FIGURES[:5]))
    batch: list[str] = field(default_factory=list, repr=False)  # changes no result, so it enters no digest
    vary: list[str] = field(default_factory=list)
    variants: dict[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        """The mechanisms of the grid, variants (``<mechanism>.<variant>``) included."""
        varied = [f"{base}.{variant}" for base in self.vary for variant in self.variants]
        return [*self.mechanism, *varied]

    def options(self, name: str) -> dict[str, Any]:
        """Options of a mechanism of the grid: its yaml's, and the variant's over them."""
        base, _, variant = name.partition(".")
        return mechanism_options(base) | (self.variants[variant] if variant else {})

    def mechanism_config(self, name: str) -> dict[str, Any]:
        """What a job is told of a mechanism of the grid: the registered name, and its options."""
        return {"name": base_of(name), "options": self.options(name)}

    @cached_property
    def floors(self) -> list[str]:
        """The mechanisms that read no data."""
        return [name for name in self.mechanism if not find(name).cls.reads_data]

    @cached_property
    def cells(self) -> list[Cell]:
        """The whole grid, floors once per stream."""
        return [cell for dataset in self.dataset for cell in self.cells_of(dataset)]

    def cells_of(self, dataset: str, mechanism: str | None = None) -> list[Cell]:
        """The cells of one stream, or of one mechanism on it."""
        names = self.names if mechanism is None else [mechanism]
        return [
            Cell(dataset, name, epsilon, window)
            for name in names
            for epsilon in ([ANY] if name in self.floors else self.epsilon)
            for window in ([ANY] if name in self.floors else self.window)
        ]

    @property
    def focus(self) -> tuple[float, int]:
        """The epsilon and window in the middle of the grid, for views of one run."""
        return self.epsilon[len(self.epsilon) // 2], self.window[len(self.window) // 2]

    def focus_cell(self, dataset: str, mechanism: str) -> Cell:
        """The cell of a mechanism at the focus."""
        if mechanism in self.floors:
            return Cell(dataset, mechanism, ANY, ANY)
        return Cell(dataset, mechanism, *self.focus)

    def seconds(self, cells: Iterable[Cell], cores: int) -> float:
        """About how long these cells take on so many cores."""
        work = 0.0
        for cell in cells:
            kind = find(base_of(cell.mechanism)).cls
            steps = load_dataset(cell.dataset).slots or 1000
            if kind.reads_data:
                step = SECONDS_PER_STEP["tree" if kind.tree else "flat"]
                work += self.repetitions * steps * step
            work += 1.0
        return work / max(cores, 1)


def check_windows(experiment: Experiment, data: Path) -> None:
    """Refuse an experiment with a window that is longer than a stream which is prepared.

    Raises
    ------
    ConfigError
        One line: the window, the stream, and how to go on.
    """
    for name in experiment.dataset:
        facts = data / "streams" / f"{name}.json"
        if load_dataset(name).slots is not None or not facts.exists():
            continue
        length, longest = int(read_json(facts)["T"]), max(experiment.window)
        if longest > length:
            fitting = [window for window in experiment.window if window <= length] or [length]
            raise ConfigError(
                f"{experiment.name}: window={longest}: the prepared {name} has {length} timestamps; "
                f"--config 'window={fitting}' fits (or delete {facts} if its data or config changed)"
            )


def check_sources(experiment: Experiment, data: Path, permission: Permission) -> None:
    """Refuse an experiment that its data cannot serve, before any job.

    Raises
    ------
    ConfigError
        One line: which raw files are missing, where to put them, or which key allows the download.
    """
    for name in experiment.dataset:
        dataset = load_dataset(name)
        raw = data / "raw" / dataset.raw_name
        if (data / "streams" / f"{name}.parquet").exists() or (raw / "receipt.json").exists():
            continue
        try:
            dataset.require(raw, permission)
        except ValueError as problem:
            raise ConfigError(str(problem)) from None


def load_experiment(name: str, overrides: Mapping[str, Any] | None = None) -> Experiment:
    """The experiment of ``config/experiment/<name>.yaml``, some of its keys replaced.

    Raises
    ------
    ConfigError
        In one line, before any job could start.
    """
    read_choice("experiment", name)
    source = f"config/experiment/{name}.yaml"
    try:
        config = composed("config", [f"experiment={name}"])["experiment"]
    except ConfigError as problem:
        raise ConfigError(f"{source}: {problem}") from None
    for key in ("name", "variants"):
        if overrides and key in overrides:
            raise ConfigError(f"--config {key}: set it in an experiment's file of your own")
    if overrides:
        config.update(typed(overrides))
        source += " with --config"
    return _checked(config, source)


def typed(value: Any) -> Any:
    """Values as yaml would read them: Snakemake hands the entries of a list over as text."""
    if isinstance(value, Mapping):
        return {key: typed(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [typed(entry) for entry in value]
    return yaml.safe_load(value) if isinstance(value, str) else value


def _experiment(config: Mapping[str, Any]) -> Experiment:
    numbers = {
        "epsilon": [float(value) for value in config["epsilon"]],
        "window": [int(value) for value in config["window"]],
        "repetitions": int(config["repetitions"]),
        "seed": int(config["seed"]),
    }
    return Experiment(**{**config, **numbers})


def _checked(config: dict[str, Any], source: str) -> Experiment:
    validator = jsonschema.Draft202012Validator(read_yaml(SCHEMA))
    error = jsonschema.exceptions.best_match(validator.iter_errors(config))
    if error is not None:
        key = "".join(f"[{part}]" if isinstance(part, int) else str(part) for part in error.path)
        allowed = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
        if error.validator == "additionalProperties" and not error.path:
            allowed = f"allowed: {', '.join(error.schema['properties'])}"
        message = f"{source}: {key or 'keys'}: {error.message}"
        raise ConfigError(message + (f" ({allowed})" if allowed else ""))
    experiment = _experiment(config)
    try:
        for epsilon in experiment.epsilon:
            check_epsilon(epsilon)
        for name in experiment.names:
            entry = find(base_of(name))
            if base_of(name) not in choices("mechanism"):
                raise ConfigError(f"mechanism: {name!r}: config/mechanism/{name}.yaml is missing")
            for window in experiment.window:
                check_options(entry, experiment.options(name), window)
        if experiment.mechanism == experiment.floors:
            raise ConfigError("mechanism: at least one that reads data")
        if bool(experiment.vary) != bool(experiment.variants):
            raise ConfigError("vary: it needs variants, and variants need vary")
        if "ablation" in experiment.figures and not experiment.vary:
            raise ConfigError("figures: ablation: it needs vary and variants")
        for name in experiment.vary:
            if name not in experiment.mechanism:
                raise ConfigError(f"vary: {name!r}: one of {', '.join(experiment.mechanism)}")
        for name in experiment.dataset:
            slots = load_dataset(name).slots
            for window in experiment.window:
                check_window(window, slots)
    except (ValueError, TypeError) as problem:
        raise ConfigError(f"{source}: {problem}") from None
    return experiment


def _texts(experiment: Experiment) -> dict[str, str]:
    """Its keys as a command line takes them.

    Variants stay in its file; how ``batch`` shared cells out over jobs changes no result.
    """
    keys = {name: value for name, value in asdict(experiment).items() if name not in ("variants", "batch")}
    return {
        name: f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)
        for name, value in keys.items()
    }


def as_overrides(experiment: Experiment) -> list[str]:
    """The Hydra overrides that give a later stage this experiment."""
    keys = [f"++experiment.{name}={text}" for name, text in _texts(experiment).items()]
    return [f"experiment={experiment.name}", *keys]


def regenerate(experiment: Experiment) -> str:
    """The command that makes an experiment's results, with the keys that differ from its file."""
    usual = _texts(load_experiment(experiment.name))
    keys = [f"'{name}={text}'" for name, text in _texts(experiment).items() if text != usual[name]]
    return " ".join([f"snakemake --cores all --config experiment={experiment.name}", *keys])
