"""What ``config`` holds by name: data sets, and the options of mechanisms."""

from functools import cache
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from mtsp_ldp.datasets.base import Dataset, configured

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config"


class ConfigError(ValueError):
    """A config that cannot be run: the message names the key, the value and what is allowed."""


@cache
def read_yaml(path: Path) -> dict[str, Any]:
    """A yaml file below ``config`` or ``workflow``, read once."""
    loaded: dict[str, Any] = OmegaConf.to_container(OmegaConf.load(path), resolve=True)  # type: ignore[assignment]
    return loaded


def choices(group: str) -> list[str]:
    """Every name of a group of ``config``: dataset, mechanism, experiment."""
    return sorted(path.stem for path in (CONFIG / group).glob("*.yaml"))


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
