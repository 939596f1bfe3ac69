"""How a stage starts: its config is composed, and a user's mistake ends it in one line.

What the machine refuses (a full disk, a folder that cannot be written) ends it in one line too; a fault of
the program with its traceback.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtsp_ldp.ledger import PrivacyError

CONFIG = Path(__file__).resolve().parents[3] / "config"  # here too, since the catalogue loads OmegaConf
Config = Mapping[str, Any]


def stage(work: Callable[[Config], None]) -> Callable[[], None]:
    """Make a function of a config what ``python -m mtsp_ldp.stages.<stage> key=value …`` runs.

    Its config is ``config/<stage>.yaml`` if there is one, else ``config/config.yaml``.
    """
    name = Path(work.__code__.co_filename).stem

    def start() -> None:
        words = sys.argv[1:]
        flags = [word for word in words if word.startswith("-")]
        try:
            if set(flags) - {"-h", "--help"}:
                raise ValueError(f"{' '.join(flags)}: no such option; key=value, or --help")
            config = _composed(name, [word for word in words if word not in flags])
            if flags:
                print(f"python -m mtsp_ldp.stages.{name} key=value …\n\n{inspect.getdoc(work)}\n")
                print("Its config:\n" + json.dumps(config, indent=1, ensure_ascii=False))
            else:
                work(config)
        except (ValueError, OSError, PrivacyError) as error:
            sys.exit(f"{name}: {error}")

    return start


def _composed(name: str, words: Sequence[str]) -> Config:
    """The config of a stage, as Hydra composes it from files and overrides.

    The workflow has composed what its many short jobs need, and hands it over as json objects, whose keys add
    up. To start Hydra would take as long as a small simulation.
    """
    if any(word.startswith("{") for word in words):
        return {key: value for word in words for key, value in json.loads(word).items()}

    from hydra import compose, initialize_config_dir
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    primary = name if (CONFIG / f"{name}.yaml").exists() else "config"
    try:
        with initialize_config_dir(str(CONFIG), version_base="1.3"):
            config = compose(primary, overrides=list(words))
        return OmegaConf.to_container(config, resolve=True)  # type: ignore[return-value]
    except (HydraException, OmegaConfBaseException) as error:
        known = [*OmegaConf.load(CONFIG / "config.yaml"), "dataset", "mechanism", "experiment"]
        raise ValueError(_in_one_line(str(error), {str(key) for key in known} - {"defaults"})) from None


def _in_one_line(message: str, known: set[str]) -> str:
    """What Hydra has to say of a wrong override, without its advice."""
    unknown = re.match(r"Could not override '([^']+)'", message)
    if unknown and "." in unknown[1]:
        return f"{unknown[1]}: no such key"
    if unknown:
        return f"{unknown[1]}: no such key; one of {', '.join(sorted(known))}"
    group = re.match(r"In '[^']+': Could not find '([^/']+)/([^']+)'\s+Available options in", message)
    if group:
        names = ", ".join(sorted(path.stem for path in (CONFIG / group[1]).glob("*.yaml")))
        return f"{group[1]}={group[2]}: one of {names}"
    return " ".join(message.partition("\nSee ")[0].split())
