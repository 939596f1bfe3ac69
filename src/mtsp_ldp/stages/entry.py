"""How a stage starts: Hydra composes its config, and a user's mistake ends it in one line.

What the machine refuses (a full disk, a folder that cannot be written) ends it in one line too; a fault of
the program with its traceback, and what was wrong as the last line.
"""

import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import hydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf

from mtsp_ldp.ledger import PrivacyError

CONFIG = Path(__file__).resolve().parents[3] / "config"
Config = Mapping[str, Any]


def stage(work: Callable[[Config], None]) -> Callable[[], None]:
    """Make a function of a config the entry point of a stage.

    Its config is ``config/<stage>.yaml`` if there is one, else ``config/config.yaml``.
    """
    name = Path(work.__code__.co_filename).stem
    primary = name if (CONFIG / f"{name}.yaml").exists() else "config"

    @hydra.main(version_base="1.3", config_path=str(CONFIG), config_name=primary)
    def main(composed: DictConfig) -> None:
        config: dict[str, Any] = OmegaConf.to_container(composed, resolve=True)  # type: ignore[assignment]
        try:
            work(config)
        except (ValueError, OSError, PrivacyError) as error:
            sys.exit(f"{name}: {error}")
        except Exception:
            traceback.print_exc()  # Hydra would end with a hint of its own
            sys.exit(1)

    def start() -> None:
        os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then leaves its errors to us
        try:
            main()
        except HydraException as error:
            sys.exit(f"{name}: {_in_one_line(str(error))}")

    return start


def _in_one_line(message: str) -> str:
    """What Hydra has to say of a wrong override, without its advice."""
    unknown = re.match(r"Could not override '([^']+)'", message)
    if unknown and "." in unknown[1]:
        return f"{unknown[1]}: no such key"
    if unknown:
        keys = [*OmegaConf.load(CONFIG / "config.yaml"), "dataset", "mechanism", "experiment"]
        known = ", ".join(sorted(str(key) for key in set(keys) - {"defaults", "hydra"}))
        return f"{unknown[1]}: no such key; one of {known}"
    group = re.match(r"In '[^']+': Could not find '([^/']+)/([^']+)'\s+Available options in", message)
    if group:
        names = ", ".join(sorted(path.stem for path in (CONFIG / group[1]).glob("*.yaml")))
        return f"{group[1]}={group[2]}: one of {names}"
    return " ".join(message.partition("\nSee ")[0].split())
