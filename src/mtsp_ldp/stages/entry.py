"""Start of a stage: its config is composed, and a user's mistake ends it in one line.

What the machine refuses (a full disk, a folder that cannot be written) ends it in one line too; a fault of
the program with its traceback.
"""

import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtsp_ldp.foundation.files import read_json
from mtsp_ldp.privacy.ledger import PrivacyError

Config = Mapping[str, Any]
VALUES = ("epsilon", "window", "repetitions", "seed")
"""Parameters of a job that are JSON and not text."""
WORDS = ("output", "code", "commit")
"""Optional parameters of a job."""


def stage(work: Callable[[Config], None]) -> Callable[[], None]:
    """Turn a function of a config into what ``python -m mtsp_ldp.stages.<stage> key=value …`` runs.

    Its config is ``config/<stage>.yaml`` if there is one, else ``config/config.yaml``.
    """
    name = Path(work.__code__.co_filename).stem

    def start() -> None:
        words = sys.argv[1:]
        flags = [word for word in words if word.startswith("-")]
        try:
            if set(flags) - {"-h", "--help"}:
                raise ValueError(f"{' '.join(flags)}: unknown option; allowed: key=value, --help")
            config = _read_config(name, [word for word in words if word not in flags])
            if flags:
                print(f"python -m mtsp_ldp.stages.{name} key=value …\n\n{inspect.getdoc(work)}\n")
                print("Its config:\n" + json.dumps(config, indent=1, ensure_ascii=False))
            else:
                work(config)
        except (ValueError, OSError, PrivacyError) as error:
            sys.exit(f"{name}: {error}")

    return start


def _read_config(name: str, words: Sequence[str]) -> Config:
    """Compose the config of a stage from files and overrides; a job takes its part of the workflow's plan.

    To start Hydra for each of many short jobs would take as long as a small simulation.
    """
    if words and words[0].endswith(".json"):
        return _of_plan(read_json(words[0]), dict(word.split("=", 1) for word in words[1:]))

    from mtsp_ldp.experiments.config import compose_config  # with Hydra
    from mtsp_ldp.experiments.parameters import check_config

    return check_config(compose_config(name, words))


def _of_plan(plan: dict[str, Any], given: dict[str, str]) -> Config:
    """Collect the parameters of a stage: those of all jobs, its data set and mechanism, and its others."""
    config = {**dict.fromkeys(WORDS), **plan, "label": given.get("mechanism")}
    for key, value in given.items():
        if key in ("dataset", "mechanism"):
            config[key] = plan[key][value]
        else:
            config[key] = json.loads(value) if key in VALUES else value
    return config
