"""The parameters of a stage by hand: checked at once, whatever of them the stage uses."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from mtsp_ldp.experiments.config import ConfigError, make_dataset
from mtsp_ldp.experiments.grid import Repetitions, make_experiment
from mtsp_ldp.foundation.validation import explain
from mtsp_ldp.mechanisms.options import check_options
from mtsp_ldp.mechanisms.registry import find

_Some = Field(min_length=1)
_Several = BeforeValidator(lambda value: value if value is None or isinstance(value, list) else [value])


class _Parameters(BaseModel):
    """The parameters of a stage by hand, beside its data set, mechanism and experiment."""

    model_config = ConfigDict(strict=True)

    epsilon: Annotated[Annotated[list[float], _Some] | None, _Several]
    window: Annotated[Annotated[list[int], _Some] | None, _Several]
    repetitions: Repetitions
    seed: Annotated[int, Field(ge=0)]
    study: str
    output: str | None
    label: str | None
    code: str | None
    commit: str | None
    data: str
    reports: str


def check_config(config: dict[str, Any]) -> dict[str, Any]:
    """Check the parameters, data set, mechanism and experiment of a stage's config, and hand it on.

    Raises
    ------
    ConfigError
        In one line.
    """
    try:
        _Parameters.model_validate({key: config.get(key) for key in _Parameters.model_fields})
    except ValidationError as error:
        raise ConfigError(explain(error, "", _Parameters.model_fields)) from None
    make_dataset(config["dataset"]["name"], config["dataset"])
    try:
        mechanism = config["mechanism"]
        options = mechanism.get("options")
        if not isinstance(options, dict | None):
            raise ValueError(f"mechanism.options={options!r}: must be names and values")
        check_options(find(mechanism["name"]), options or {})
    except ValueError as problem:
        raise ConfigError(str(problem)) from None
    make_experiment(config["experiment"], f"config/experiment/{config['experiment'].get('name')}.yaml")
    return config
