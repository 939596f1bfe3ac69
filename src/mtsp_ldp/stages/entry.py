"""How a stage starts: Hydra composes its config, and a user's mistake ends it in one line."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import hydra
from omegaconf import DictConfig, OmegaConf

from mtsp_ldp.ledger import PrivacyError

CONFIG = Path(__file__).resolve().parents[3] / "config"
Config = Mapping[str, Any]


def stage(work: Callable[[Config], None]) -> Callable[[], None]:
    """Make a function of a config the entry point of a stage."""
    name = Path(work.__code__.co_filename).stem

    @hydra.main(version_base="1.3", config_path=str(CONFIG), config_name="config")
    def main(composed: DictConfig) -> None:
        config: dict[str, Any] = OmegaConf.to_container(composed, resolve=True)  # type: ignore[assignment]
        try:
            work(config)
        except (ValueError, FileNotFoundError, PrivacyError) as error:
            sys.exit(f"{name}: {error}")

    return main  # type: ignore[no-any-return]
