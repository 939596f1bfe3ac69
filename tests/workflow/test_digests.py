"""The results of `smoke` are those that are committed: any change of them is seen, and meant."""

from clones import differences
from digests import DIGESTS, digests


def test_the_results_of_smoke_are_the_committed_ones(reference):
    committed = dict(line.split("  ")[::-1] for line in DIGESTS.read_text().splitlines())
    changed = differences(digests(reference[0]), committed)
    assert changed == [], (
        "results of smoke that are not those of tests/workflow/smoke.sha256 (if that is meant, "
        f"`make digests` renews the file): {changed}"
    )
