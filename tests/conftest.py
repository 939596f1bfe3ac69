import json
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden.json"


@pytest.fixture(scope="session")
def golden():
    return json.loads(GOLDEN.read_text())
