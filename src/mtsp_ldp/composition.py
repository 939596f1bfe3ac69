"""The config as Hydra composes it, and the files that it is made of."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

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


def composed(stage: str, overrides: Sequence[str]) -> dict[str, Any]:
    """The config of ``config/<stage>.yaml`` if there is one, else of ``config/config.yaml``.

    Raises
    ------
    ConfigError
        For an override that it does not know, in one line.
    """
    primary = stage if (CONFIG / f"{stage}.yaml").exists() else "config"
    try:
        with initialize_config_dir(str(CONFIG), version_base="1.3"):
            config = compose(primary, overrides=list(overrides))
        resolved: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_in_one_line(str(error))) from None
    return resolved


def _in_one_line(message: str) -> str:
    """What Hydra has to say of a wrong override, without its advice."""
    unknown = re.match(r"Could not override '([^']+)'", message)
    if unknown and "." in unknown[1]:
        return f"{unknown[1]}: no such key"
    if unknown:
        known = {*read_yaml(CONFIG / "config.yaml"), "dataset", "mechanism", "experiment"} - {"defaults"}
        return f"{unknown[1]}: no such key; one of {', '.join(sorted(known))}"
    group = re.match(r"In '[^']+': Could not find '([^/']+)/([^']+)'\s+Available options in", message)
    if group:
        return f"{group[1]}={group[2]}: one of {', '.join(choices(group[1]))}"
    return " ".join(message.partition("\nSee ")[0].split())
