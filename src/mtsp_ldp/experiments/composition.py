"""The config as Hydra composes it, and the files that it is made of."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

ROOT = Path(__file__).resolve().parents[3]
CONFIG = ROOT / "config"
GROUPS = ("dataset", "mechanism", "experiment")


class ConfigError(ValueError):
    """A config that cannot be run: the message names the key, the value and what is allowed."""


@cache
def read_yaml(path: Path) -> Any:
    """A yaml file, read once."""
    try:
        return OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    except (yaml.YAMLError, OmegaConfBaseException, OSError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        told = f"line {mark.line + 1}: {error.problem}" if mark else _in_one_line(str(error))  # type: ignore[union-attr]
        raise ConfigError(f"config/{path.relative_to(CONFIG)}: {told}") from None


def read_choice(group: str, name: str) -> dict[str, Any]:
    """One file of a group of ``config``: keys and values, ``name`` as the file is called among them.

    Raises
    ------
    ConfigError
        If there is no such file, or it is none of the kind.
    """
    if name not in choices(group):
        raise ConfigError(f"{group}={name!r}: one of {', '.join(choices(group))}")
    config, source = read_yaml(CONFIG / group / f"{name}.yaml"), f"config/{group}/{name}.yaml"
    if not isinstance(config, dict):
        raise ConfigError(f"{source}: keys and their values, not {config!r}")
    if config.get("name") != name:
        raise ConfigError(f"{source}: name: {config.get('name')!r}: {name!r}, as the file is called")
    if group == "mechanism":
        for key in config:
            if key not in ("name", "options"):
                raise ConfigError(f"{source}: {key}: no such key; it has name, options")
        if not isinstance(config.get("options") or {}, dict):
            raise ConfigError(f"{source}: options: {config['options']!r}: names and values")
    return config


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
    for word in overrides:
        group, _, name = word.partition("=")
        if group in GROUPS and name in choices(group):
            read_choice(group, name)
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
