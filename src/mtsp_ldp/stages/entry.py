"""How a stage starts: its config is composed, and a user's mistake ends it in one line.

What the machine refuses (a full disk, a folder that cannot be written) ends it in one line too; a fault of
the program with its traceback.
"""

import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtsp_ldp.privacy.ledger import PrivacyError

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
            config = _told(name, [word for word in words if word not in flags])
            if flags:
                print(f"python -m mtsp_ldp.stages.{name} key=value …\n\n{inspect.getdoc(work)}\n")
                print("Its config:\n" + json.dumps(config, indent=1, ensure_ascii=False))
            else:
                work(config)
        except (ValueError, OSError, PrivacyError) as error:
            sys.exit(f"{name}: {error}")

    return start


def _told(name: str, words: Sequence[str]) -> Config:
    """The config of a stage, as Hydra composes it from files and overrides.

    The workflow has composed what its many short jobs need, and hands it over as json objects, whose keys add
    up. To start Hydra would take as long as a small simulation.
    """
    if any(word.startswith("{") for word in words):
        return {key: value for word in words for key, value in json.loads(word).items()}

    from mtsp_ldp.experiments.composition import composed  # with Hydra

    return composed(name, words)
