"""The prepared stream of a stage's data set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtsp_ldp.foundation.files import digest_text
from mtsp_ldp.stages.entry import Config
from mtsp_ldp.streams.stream import Stream


def made_of(dataset: Mapping[str, Any]) -> str:
    """What a prepared stream remembers of the config that it was made of."""
    return digest_text(json.dumps(dataset, sort_keys=True, default=str))[:16]


def path_of(config: Config) -> Path:
    """Where the prepared stream of ``dataset`` is."""
    return Path(config["data"]) / "streams" / f"{config['dataset']['name']}.parquet"


def prepared(config: Config) -> Stream:
    """The stream of ``dataset``, if it was prepared from the config that the data set has now.

    A workflow's job is told the name alone, and ``made_of`` beside it.

    Raises
    ------
    ValueError
        If it was not.
    """
    path, dataset = path_of(config), config["dataset"]
    stream = Stream.read(path)
    known = stream.facts.get("config")
    if known is not None and known != (config.get("made_of") or made_of(dataset)):
        raise ValueError(
            f"{path}: prepared from another config of {dataset['name']} than it has now; run "
            "mtsp_ldp.stages.prepare with the same dataset.KEY=…, or delete it and run the workflow"
        )
    return stream
