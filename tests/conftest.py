import json
from functools import cache
from pathlib import Path

import pytest

from clones import copy, once_for_all, snakemake
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.experiments.config import load_dataset

GOLDEN = Path(__file__).parent / "golden.json"


@pytest.fixture(scope="session")
def golden():
    return json.loads(GOLDEN.read_text())


@pytest.fixture(scope="session")
def stream(tmp_path_factory):
    """Prepared streams by name, made once a process."""

    @cache
    def prepared(name):
        dataset = load_dataset(name)
        folder = tmp_path_factory.mktemp(name)
        dataset.fetch(folder, Permission())
        return dataset.prepare(folder)

    return prepared


@pytest.fixture(scope="session")
def reference(tmp_path_factory, worker_id):
    """A clone in which `smoke` ran undisturbed, and what Snakemake said; look at it only."""
    return once_for_all(
        tmp_path_factory, worker_id, "a clone's folder", lambda folder: snakemake(copy(folder))
    )
