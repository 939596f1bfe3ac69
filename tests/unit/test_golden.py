"""The vectors of an independent brute-force program (tests/golden.json)."""

import math
from functools import partial

import numpy as np
import pytest

from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.mechanisms.absorption import Absorption
from mtsp_ldp.mechanisms.distribution import Distribution
from mtsp_ldp.mechanisms.mtsp.allocation import OptimalAllocation, optimal_allocation
from mtsp_ldp.mechanisms.mtsp.dissimilarity import dissimilarity
from mtsp_ldp.privacy.division import DIVISIONS, ExpectedVariance
from mtsp_ldp.privacy.oracle import OUE
from mtsp_ldp.privacy.units import FULL, NOTHING


def test_oue(golden):
    for case in golden["oue"]:
        oracle = OUE(case["epsilon"])
        assert oracle.q == pytest.approx(case["q"], rel=1e-9, abs=1e-300)
        assert oracle.variance(case["n"]) == pytest.approx(case["variance"], rel=1e-9, abs=1e-300)


def test_cover(golden):
    for case in golden["cover"]:
        nodes = BinaryTree(case["leaves"]).cover(case["lo"], case["hi"])
        assert [list(node) for node in nodes] == case["nodes"]


def test_optimal_allocation(golden):
    for case in golden["oba"]:
        table = [math.inf if v is None else v for v in case["variance_of_k"]]
        k, selected = optimal_allocation(
            case["dissimilarities"], lambda share, table=table: table[round(1 / (2 * share)) - 1]
        )
        assert (k, selected) == (case["k"], case["selected"])


def test_variance_of_k(golden):
    for case in golden["oba"]:
        division = DIVISIONS[case["division"]](case["epsilon"])
        for k, wanted in enumerate(case["variance_of_k"], start=1):
            share = FULL // (2 * k)
            got = ExpectedVariance(division, [2] * case["asked_levels"])(share, case["n"])
            assert got == (math.inf if wanted is None else pytest.approx(wanted, rel=1e-9))


@pytest.mark.parametrize(("kind", "rule"), [("distribution", Distribution), ("absorption", Absorption)])
def test_strategies(golden, kind, rule):
    cases = [case for case in golden["strategy"] if case["kind"] == kind]
    assert cases
    for case in cases:
        division = DIVISIONS[case["division"]](case["epsilon"])
        variance = ExpectedVariance(division, [2])
        strategy, shares = rule(case["w"]), []
        for t, dis in enumerate(case["dissimilarities"]):
            share = strategy.candidate(t)
            if share < NOTHING or dis <= variance(share, case["n"]):
                share = 0
            else:
                strategy.record(t, share)
            shares.append(share / FULL)
        np.testing.assert_allclose(shares, case["shares"], atol=1e-9)


def test_oba_along_a_stream(golden):
    for case in golden["oba_trace"]:
        variance = ExpectedVariance(DIVISIONS["budget"](case["epsilon"]), [2])
        allocation, shares = OptimalAllocation(case["w"]), []
        for t, dis in enumerate(case["dissimilarities"]):
            _, share = allocation.choose(t, dis, 0.0, partial(variance, n=case["users_per_level"]))
            if share:
                allocation.record(t, share)
            shares.append(share / FULL)
        np.testing.assert_allclose(shares, case["shares"], atol=1e-9)


def test_dissimilarity(golden):
    for case in golden["dissimilarity"]:
        estimate, last = ([np.array(v) for v in case[k]] for k in ("estimate", "last_release"))
        got = dissimilarity(estimate, last, case["node_variance"], case["cells"])
        assert got == pytest.approx(case["dissimilarity"], rel=1e-9, abs=1e-12)
        assert BinaryTree(case["cells"]).asked.sum() == case["counted_nodes"]
