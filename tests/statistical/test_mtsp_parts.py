"""What the parts of MTSP-LDP are worth on flights and city, against an independent prototype."""

import numpy as np
import pytest

from mtsp_ldp import simulate
from mtsp_ldp.evaluation.scoring import score
from mtsp_ldp.evaluation.workload import Workload

REPETITIONS = 8


def scores(data, name, measure=("frequency", "mse"), **options):
    truth, found = Workload(data, data.replicate), []
    for repetition in range(REPETITIONS):
        release = simulate(
            data,
            name,
            epsilon=1.0,
            window=20,
            repetition=repetition,
            replicate=data.replicate,
            **options,
        )
        found.append({(q, m): v for q, m, v in score(release, truth)}[measure])
    return np.array(found)


PROTOTYPE = [
    ("mtsp_budget", {"structure": "full", "grouping": "none"}, 3.5e-2),
    ("mtsp_budget", {"grouping": "none"}, 4.3e-4),
    ("mtsp_budget", {}, 3.1e-4),
    ("mtsp_budget", {"structure": "fused"}, 2.0e-4),
    ("mtsp_population", {"structure": "full", "grouping": "none"}, 1.8e-3),
    ("mtsp_population", {"grouping": "none"}, 2.7e-4),
    ("mtsp_population", {}, 2.0e-4),
    ("mtsp_population", {"structure": "fused"}, 1.7e-4),
]


@pytest.mark.parametrize(("name", "options", "wanted"), PROTOTYPE)
def test_parts_on_flights(stream, name, options, wanted):
    found = scores(stream("flights"), name, **options).mean()
    print(f"{name} {options}: {found:.2g}, prototype {wanted:.2g}")
    assert found == pytest.approx(wanted, rel=0.35)


@pytest.mark.parametrize("data", ["flights", "city"])
def test_mtsp_against_absorption(stream, data):
    population = scores(stream(data), "lpa").mean() / scores(stream(data), "mtsp_population").mean()
    budget = scores(stream(data), "lba").mean() / scores(stream(data), "mtsp_budget").mean()
    print(f"{data}: LPA / MTSP population {population:.2f}, LBA / MTSP budget {budget:.1f}")
    assert population > 1.3
    assert budget > 4


@pytest.mark.parametrize("data", ["flights", "city"])
@pytest.mark.parametrize("name", ["mtsp_budget", "mtsp_population"])
def test_consistency_helps_ranges_and_never_harms_leaves(stream, data, name):
    ranges = [scores(stream(data), name, ("range", "mse"), consistency=c).mean() for c in (False, True)]
    leaves = [scores(stream(data), name, consistency=c) for c in (False, True)]
    print(f"{data} {name}: ranges {ranges[0] / ranges[1]:.2f} times less error")
    assert ranges[0] / ranges[1] > 1.5
    assert leaves[1].mean() < leaves[0].mean() + 2 * leaves[0].std(ddof=1)
