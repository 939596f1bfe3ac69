"""The results of `smoke` are those that are committed: any change of them is seen, and meant."""

import numpy as np

from clones import differences
from digests import committed, digests


def test_the_results_of_smoke_are_the_committed_ones(reference):
    path = committed()
    known = dict(line.split("  ")[::-1] for line in path.read_text().splitlines())
    changed = differences(digests(reference[0]), known)
    assert changed == [], (
        f"results of smoke with numpy {np.__version__} that are not those of {path.name} (if that is meant, "
        f"`make digests` renews the file of this numpy): {changed}"
    )
