"""How a stage starts: Hydra composes its config, and a user's mistake ends it in one line.

What the machine refuses (a full disk, a folder that cannot be written) ends it in one line too; a fault of
the program with its traceback, and what was wrong as the last line.
"""

import sys
import traceback
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
        except (ValueError, OSError, PrivacyError) as error:
            sys.exit(f"{name}: {error}")
        except Exception:
            traceback.print_exc()  # Hydra would end with a hint of its own
            sys.exit(1)

    return main  # type: ignore[no-any-return]
