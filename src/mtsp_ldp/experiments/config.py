"""The config: files in ``config``, composed by Hydra, and checked by the models of what they configure."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from mtsp_ldp.datasets.base import Dataset, configured
from mtsp_ldp.experiments.as_written import refuse_misread, underlined
from mtsp_ldp.foundation.validation import check_name
from mtsp_ldp.mechanisms.options import own_defaults
from mtsp_ldp.mechanisms.registry import mechanisms

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
"""Folder of the clone, if the package is in one."""
CONFIG = next(
    (
        folder
        for folder in (ROOT / "config", Path.cwd() / "config", PACKAGE / "config")
        if (folder / "config.yaml").is_file()
    ),
    PACKAGE / "config",
)
"""Folder of the config: that of the clone, else of the working folder, else the one in the package."""
GROUPS = ("dataset", "mechanism", "experiment")


class ConfigError(ValueError):
    """A config that cannot be run: the message names the key, the value and what is allowed."""


@cache
def read_yaml(path: Path) -> Any:
    """Read a yaml file, once."""
    try:
        loaded = OmegaConf.load(path)
        refuse_misread(path.read_text(encoding="utf-8"))
        return OmegaConf.to_container(loaded, resolve=True)
    except (yaml.YAMLError, OmegaConfBaseException, OSError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: {error.problem}" if mark else _first_line(error)  # type: ignore[union-attr]
        raise ConfigError(f"config/{path.relative_to(CONFIG)}: {where}") from None


def choices(group: str) -> list[str]:
    """List the names of a group of ``config``: dataset, mechanism, experiment.

    A mechanism needs no file: without one its options have their defaults.
    """
    files = {path.stem for path in (CONFIG / group).glob("*.yaml")}
    return sorted(files | set(mechanisms() if group == "mechanism" else ()))


def read_choice(group: str, name: str) -> dict[str, Any]:
    """Read one file of a group of ``config``; ``name`` in it is as the file is called.

    Raises
    ------
    ConfigError
        If there is no such choice, or its file does not describe one.
    """
    if name not in choices(group):
        raise ConfigError(f"{group}={name!r}: must be one of {', '.join(choices(group))}")
    path, source = CONFIG / group / f"{name}.yaml", f"config/{group}/{name}.yaml"
    try:
        check_name(name)
    except ValueError as problem:
        raise ConfigError(f"{source}: {name!r}: {problem}") from None
    if not path.exists():
        return {"name": name, "options": {}}
    config = read_yaml(path)
    if not isinstance(config, dict):
        raise ConfigError(f"{source}: must hold keys and their values, not {config!r}")
    for key in config:
        if not isinstance(key, str):
            raise ConfigError(f"{source}: {key!r}: must be a key, which is text")
    if config.get("name") != name:
        raise ConfigError(f"{source}: name={config.get('name')!r}: must be {name!r}, as the file is called")
    if group == "mechanism":
        for key in config.keys() - {"name", "options"}:
            raise ConfigError(f"{source}: {key}: unknown key; allowed: name, options")
        if not isinstance(config.get("options") or {}, dict):
            raise ConfigError(f"{source}: options={config['options']!r}: must be names and values")
    if group == "dataset":
        _check_defaults(name, config, (name,))
    return config


def _check_defaults(name: str, config: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Raise ConfigError unless ``defaults`` names other data sets, in no circle."""
    bases, others = config.get("defaults", []), {*choices("dataset"), "_self_"} - {*path}
    if not isinstance(bases, list) or not set(map(str, bases)) <= others:
        source = f"config/dataset/{name}.yaml"
        raise ConfigError(f"{source}: defaults={bases!r}: must be a list of other data sets, in no circle")
    for base in bases:
        if base != "_self_":
            _check_defaults(base, read_yaml(CONFIG / "dataset" / f"{base}.yaml"), (*path, base))


def _offer_mechanisms() -> None:
    """Give Hydra the defaults of every mechanism that has no file."""
    store = ConfigStore.instance()
    store.repo.pop("mechanism", None)
    for name, registration in mechanisms().items():
        if not (CONFIG / "mechanism" / f"{name}.yaml").exists():
            node = {"name": name, "options": own_defaults(registration)}
            store.store(group="mechanism", name=name, node=node)


def compose_config(stage: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Compose ``config/<stage>.yaml`` if there is one, else ``config/config.yaml``.

    Parameters
    ----------
    stage
        Name of a stage.
    overrides
        Words as ``key=value``; a word with dots adds or replaces a key of a group.

    Raises
    ------
    ConfigError
        For an override that names no key or choice, in one line.
    """
    primary = stage if (CONFIG / f"{stage}.yaml").exists() else "config"
    try:
        parsed = OverridesParser.create().parse_overrides(list(overrides))
    except HydraException as error:
        raise ConfigError(_first_line(error)) from None
    known = {*read_yaml(CONFIG / "config.yaml"), *GROUPS} - {"defaults"}
    words = []
    for word, one in zip(overrides, parsed, strict=True):
        key, dots, _ = str(one.key_or_group).partition(".")
        if key not in known and one.package is None:
            raise ConfigError(f"{key}: unknown key; allowed: {', '.join(sorted(known))}")
        if key in GROUPS and not dots:
            read_choice(key, _text_after(word))
            words.append(f"{word.partition('=')[0]}='{_text_after(word)}'")
            continue
        if misread := underlined(word):
            raise ConfigError(f"{word}: {misread} would be a number: put it in quotes, '\"{misread}\"'")
        words.append(f"++{word.lstrip('+')}" if dots else word)
    _offer_mechanisms()
    try:
        with initialize_config_dir(str(CONFIG), version_base="1.3"):
            config = compose(primary, overrides=words)
        resolved: dict[str, Any] = OmegaConf.to_container(config, resolve=True)  # type: ignore[assignment]
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(_first_line(error)) from None
    return resolved


def _text_after(word: str) -> str:
    """Take the value of an override as it is written."""
    return word.partition("=")[2].strip("'\"")


def _first_line(error: Exception) -> str:
    """Put the error of a library into one line, without its advice."""
    return " ".join(re.split(r"\nSee |\n\s*full_key:|\nAvailable options", str(error))[0].split())


@cache
def compose_groups(dataset: tuple[str, ...], mechanism: tuple[str, ...]) -> dict[str, Any]:
    """Compose several data sets and mechanisms at once.

    Returns
    -------
    dict
        ``dataset`` and ``mechanism``, each by name.
    """
    words, names = [], {"dataset": dataset, "mechanism": mechanism}
    for group, chosen in names.items():
        for place, name in enumerate(chosen):
            read_choice(group, name)
            words.append(f"+{group}@{group}s.n{place}='{name}'")
    config = compose_config("config", words)
    return {
        group: {name: config[f"{group}s"][f"n{place}"] for place, name in enumerate(chosen)}
        for group, chosen in names.items()
    }


def dataset_config(name: str) -> dict[str, Any]:
    """Compose the config of a data set."""
    config: dict[str, Any] = compose_groups((name,), ())["dataset"][name]
    return dict(config)


def load_dataset(name: str) -> Dataset:
    """Make the data set of this name."""
    return make_dataset(name, dataset_config(name))


def make_dataset(name: str, config: Mapping[str, Any]) -> Dataset:
    """Make a data set of its config; raise ConfigError naming its file if it is wrong."""
    try:
        return configured(config)
    except ValueError as problem:
        raise ConfigError(f"config/dataset/{name}.yaml: {problem}") from None


def mechanism_options(name: str) -> dict[str, Any]:
    """Read the configured options of a mechanism; one without a file has none."""
    return dict(read_choice("mechanism", name).get("options") or {})
