"""What ``config`` holds by name: data sets, and the options of mechanisms."""

from functools import cache
from typing import Any

from mtsp_ldp.composition import CONFIG, ConfigError, choices, read_yaml
from mtsp_ldp.datasets.base import Dataset, configured


def dataset_names() -> list[str]:
    """Every data set that has a yaml."""
    return choices("dataset")


@cache
def dataset_config(name: str) -> dict[str, Any]:
    """The config of a data set: its yaml's, over that of the one in its defaults."""
    if name not in choices("dataset"):
        raise ConfigError(f"dataset: {name!r}: one of {', '.join(choices('dataset'))}")
    config = dict(read_yaml(CONFIG / "dataset" / f"{name}.yaml"))
    for base in config.pop("defaults", []):
        config = {**dataset_config(base), **config}
    return config


def load_dataset(name: str) -> Dataset:
    """The data set of this name."""
    return configured(dataset_config(name))


def raw_config(name: str) -> Any:
    """What fetching a data set depends on: its source, or all of its config where it has none."""
    config = dataset_config(name)
    return config.get("source", config)


def mechanism_options(name: str) -> dict[str, Any]:
    """The configured options of a mechanism; none if it has no yaml."""
    path = CONFIG / "mechanism" / f"{name}.yaml"
    return dict(read_yaml(path).get("options") or {}) if path.exists() else {}
