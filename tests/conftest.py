import fcntl
import json
from functools import cache
from pathlib import Path

import pytest

from clones import copy, snakemake

from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.experiment import load_dataset

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
    """A clone in which `smoke` ran undisturbed, and what Snakemake said; look at it only.

    One serves all of xdist's workers: the first that comes makes it.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent  # xdist's workers have a folder each
    folder, said = shared / "a clone's folder", shared / "reference.out"
    with (shared / "reference.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            said.write_text(snakemake(copy(folder)))
    return folder, said.read_text()
