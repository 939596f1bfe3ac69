import json
from functools import cache
from pathlib import Path

import pytest

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
