"""What ``config`` holds by name: data sets, and the options of mechanisms."""

from functools import cache
from typing import Any

from mtsp_ldp.datasets.base import Dataset, configured
from mtsp_ldp.experiments.composition import ConfigError, choices, read_choice


def dataset_names() -> list[str]:
    """Every data set that has a yaml."""
    return choices("dataset")


@cache
def dataset_config(name: str) -> dict[str, Any]:
    """The config of a data set: its yaml's, over that of the one in its defaults."""
    config = dict(read_choice("dataset", name))
    bases, others = config.pop("defaults", []), {*dataset_names(), "_self_"} - {name}
    if not isinstance(bases, list) or not set(map(str, bases)) <= others:
        raise ConfigError(f"config/dataset/{name}.yaml: defaults: {bases!r}: a list of other data sets")
    for base in bases:
        config = {**(dataset_config(base) if base != "_self_" else {}), **config}
    return config


def load_dataset(name: str) -> Dataset:
    """The data set of this name."""
    config = dataset_config(name)
    try:
        return configured(config)
    except ValueError as problem:
        raise ConfigError(f"config/dataset/{name}.yaml: {problem}") from None


def raw_config(name: str) -> Any:
    """What fetching a data set depends on: its source, or all of its config where it has none."""
    config = dataset_config(name)
    return config.get("source", config)


def mechanism_options(name: str) -> dict[str, Any]:
    """The configured options of a mechanism; none if it has no yaml."""
    if name not in choices("mechanism"):
        return {}
    return dict(read_choice("mechanism", name).get("options") or {})
