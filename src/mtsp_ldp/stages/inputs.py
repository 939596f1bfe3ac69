"""Inputs of stages: the prepared stream of a data set, and the digest of its config."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import digest_text
from mtsp_ldp.stages.entry import Config
from mtsp_ldp.streams.stream import Stream


def dataset_config_digest(dataset: Mapping[str, Any]) -> str:
    """Digest the config of a data set, for the stream that is prepared from it."""
    return digest_text(json.dumps(dataset, sort_keys=True, default=str))[:16]


def stream_path(config: Config) -> Path:
    """Find the prepared stream of ``dataset``."""
    return Path(Layout.of(config).stream(config["dataset"]["name"]))


def load_prepared_stream(config: Config) -> Stream:
    """Read the stream of ``dataset``, if it was prepared from the config that the data set has now.

    Raises
    ------
    ValueError
        If it was not.
    """
    path, dataset = stream_path(config), config["dataset"]
    stream = Stream.read(path)
    known = stream.facts.config
    if known is not None and known != dataset_config_digest(dataset):
        raise ValueError(
            f"{path}: prepared from another config of {dataset['name']} than it has now; run "
            "mtsp_ldp.stages.prepare with the same dataset.KEY=…, or delete it and run the workflow"
        )
    return stream
