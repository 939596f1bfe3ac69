"""The grid of an experiment: its keys, which are those of its yaml, and its cells."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from mtsp_ldp.evaluation.runs import RunFiles
from mtsp_ldp.experiments.as_written import number
from mtsp_ldp.experiments.config import ConfigError, compose_config, read_choice
from mtsp_ldp.experiments.layout import ExperimentLayout
from mtsp_ldp.foundation.validation import explain
from mtsp_ldp.mechanisms.registry import base_of, find

Figure = Literal["mse_epsilon", "mse_window", "mse_column", "budget", "busiest", "events", "ablation"]
FIGURES: tuple[Figure, ...] = get_args(Figure)
T = TypeVar("T")


def _unique(values: list[T]) -> list[T]:
    if any(values.count(value) > 1 for value in values):
        raise ValueError("must be a list of different entries")
    return values


_Some = Field(min_length=1)
_Once = AfterValidator(_unique)
Names = Annotated[list[str], _Some, _Once]
Epsilon = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Window = Annotated[int, Field(ge=1)]
Repetitions = Annotated[int, Field(ge=1, le=100_000)]


class GridCell(BaseModel):
    """One mechanism at one budget and window on one stream; a floor depends on neither (None)."""

    model_config = ConfigDict(frozen=True)

    dataset: str
    mechanism: str
    epsilon: float | None
    window: int | None

    def files(self, experiment: ExperimentLayout) -> RunFiles:
        """Name the files of this cell."""
        return experiment.run(self.dataset, self.mechanism, self.epsilon, self.window)


class Experiment(BaseModel):
    """A grid of streams, mechanisms, budgets and windows.

    Attributes
    ----------
    name
        Name of the folders of runs and reports; small letters, digits and underscores.
    dataset
        Streams: names in ``dataset/``.
    mechanism
        Mechanisms by registered name; floors (``zero``, ``uniform``) run once per stream.
    epsilon
        Budgets of every window.
    window
        Window lengths w, in timestamps, from 1 to T.
    repetitions
        Number of repetitions, all of them inside one job.
    seed
        Seed; with stream, mechanism, ε, w and repetition it is the key of every random number.
    figures
        Figures to draw of every stream.
    batch
        Axes whose values share a job instead of getting a job each; the same bytes, fewer starts.
    vary
        Mechanisms that run again per variant, as ``<mechanism>.<variant>``, on the same random numbers.
    variants
        Other settings, options by name: of each mechanism in ``vary``, or of one alone where the variant is
        called ``<mechanism>.<variant>``.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    dataset: Names
    mechanism: Names
    epsilon: Annotated[list[Epsilon], _Some, _Once]
    window: Annotated[list[Window], _Some, _Once]
    repetitions: Repetitions
    seed: Annotated[int, Field(ge=0)]
    figures: Annotated[list[Figure], _Some, _Once] = list(FIGURES[:5])
    batch: Annotated[list[Literal["epsilon", "window"]], _Once, Field(repr=False)] = []
    vary: Annotated[list[str], _Once] = []
    variants: dict[
        Annotated[str, Field(pattern=r"^([a-z0-9_]+\.)?[a-z0-9_]+$")],
        Annotated[dict[str, Any], Field(min_length=1)],
    ] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.mechanism:
            find(name)
        if self.mechanism == self.floors:
            raise ValueError(f"mechanism={self.mechanism!r}: must hold one that reads data")
        shared = [name for name in self.variants if "." not in name]
        if bool(self.vary) != bool(shared):
            raise ValueError("vary: must come with variants, and variants with vary")
        if "ablation" in self.figures and not self.variants:
            raise ValueError("figures: ablation must come with variants")
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise ValueError(f"variants={min(twice)!r}: must not be what vary and another variant make too")
        for key, names in (("vary", self.vary), ("variants", map(base_of, self.variants.keys() - shared))):
            for name in names:
                if name not in self.mechanism:
                    raise ValueError(f"{key}={name!r}: must be one of {', '.join(self.mechanism)}")
        return self

    @cached_property
    def names(self) -> list[str]:
        """The mechanisms of the grid, variants (``<mechanism>.<variant>``) included."""
        shared = [name for name in self.variants if "." not in name]
        varied = [f"{base}.{variant}" for base in self.vary for variant in shared]
        return [*self.mechanism, *varied, *(name for name in self.variants if name not in shared)]

    @cached_property
    def floors(self) -> list[str]:
        """The mechanisms that read no data."""
        return [name for name in self.mechanism if not find(name).cls.reads_data]

    @cached_property
    def cells(self) -> list[GridCell]:
        """The whole grid, floors once per stream."""
        return [cell for dataset in self.dataset for cell in self.cells_of(dataset)]

    def cells_of(self, dataset: str, mechanism: str | None = None) -> list[GridCell]:
        """List the cells of one stream, or of one mechanism on it."""
        names = self.names if mechanism is None else [mechanism]
        return [
            GridCell(dataset=dataset, mechanism=name, epsilon=epsilon, window=window)
            for name in names
            for epsilon in ([None] if name in self.floors else self.epsilon)
            for window in ([None] if name in self.floors else self.window)
        ]

    @property
    def focus(self) -> tuple[float, int]:
        """The epsilon and window in the middle of the grid, for views of one run."""
        return self.epsilon[len(self.epsilon) // 2], self.window[len(self.window) // 2]

    def focus_cell(self, dataset: str, mechanism: str) -> GridCell:
        """Find the cell of a mechanism at the focus."""
        epsilon, window = (None, None) if mechanism in self.floors else self.focus
        return GridCell(dataset=dataset, mechanism=mechanism, epsilon=epsilon, window=window)

    def as_config(self) -> dict[str, Any]:
        """Give the keys that results depend on: all but ``batch``, which shares cells out over jobs."""
        return self.model_dump(exclude={"batch"})


def make_experiment(config: Mapping[str, Any], source: str) -> Experiment:
    """Make an experiment of its config.

    Raises
    ------
    ConfigError
        In one line, naming the source, the key, its value and what is allowed.
    """
    try:
        return Experiment.model_validate(config)
    except ValidationError as error:
        raise ConfigError(explain(error, f"{source}: ", Experiment.model_fields)) from None


def load_experiment(name: str, overrides: Mapping[str, Any] | None = None) -> Experiment:
    """Load the experiment of ``config/experiment/<name>.yaml``, some of its keys replaced.

    Raises
    ------
    ConfigError
        In one line.
    """
    read_choice("experiment", name)
    source = f"config/experiment/{name}.yaml"
    try:
        config = compose_config("config", [f"experiment={name}"])["experiment"]
    except ConfigError as problem:
        raise ConfigError(f"{source}: {problem}") from None
    for key in ("name", "variants"):
        if overrides and key in overrides:
            raise ConfigError(f"--config {key}: must be set in the file of an experiment")
    if overrides:
        source += " with --config"
    return make_experiment({**config, **typed(overrides or {})}, source)


def typed(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Read values of a command line, where Snakemake hands the entries of a list over as text.

    Names stay as they are written, whatever yaml would take them for.
    """
    return {key: value if _names(key) else _read(value) for key, value in overrides.items()}


def _names(key: str) -> bool:
    """Tell whether a key of an experiment holds names."""
    return key in Experiment.model_fields and key not in ("epsilon", "window", "repetitions", "seed")


_WORDS = {"true": True, "false": False, "null": None}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [_read(entry) for entry in value]
    if not isinstance(value, str):
        return value
    found = number(value)
    return _WORDS.get(value.lower(), value) if found is None else found


def as_command(experiment: Experiment) -> str:
    """Write the command that makes an experiment's results, with the keys that differ from its file."""
    usual, own = load_experiment(experiment.name).as_config(), experiment.as_config()
    keys = [f"'{name}={_text(value)}'" for name, value in own.items() if value != usual[name]]
    return " ".join([f"snakemake --cores all --config experiment={experiment.name}", *keys])


def _text(value: Any) -> str:
    return f"[{','.join(map(str, value))}]" if isinstance(value, list) else str(value)


def readers(cells: Iterable[GridCell]) -> list[GridCell]:
    """Pick the cells of mechanisms that read data."""
    return [cell for cell in cells if find(base_of(cell.mechanism)).cls.reads_data]
