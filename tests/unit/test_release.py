"""Post-processing and queries against brute force."""

import numpy as np
import pytest
from scipy import optimize

from mtsp_ldp import Stream, simulate
from mtsp_ldp.evaluation.workload import true_release
from mtsp_ldp.foundation.projection import make_consistent, project_on_simplex, refine
from mtsp_ldp.foundation.tree import BinaryTree

RNG = np.random.default_rng(5)
STREAM = Stream.from_counts(RNG.integers(0, 200, (12, 11)))


def test_projection_is_the_nearest_probability_vector():
    points = RNG.normal(0.1, 0.4, (8, 6))
    projected = project_on_simplex(points)
    for point, got in zip(points, projected, strict=True):
        found = optimize.minimize(
            lambda x, point=point: ((x - point) ** 2).sum(),
            np.full(6, 1 / 6),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            tol=1e-14,
        )
        np.testing.assert_allclose(got, found.x, atol=1e-4)
    np.testing.assert_allclose(project_on_simplex(np.zeros((1, 4))), 0.25)


def test_a_tree_is_projected_with_its_own_variances():
    release = simulate(STREAM, "mtsp_population", epsilon=2.0, window=5)
    tree, versions = release.tree, release.versions
    np.testing.assert_allclose(release.simplex().versions, refine(tree, versions, release.variances))
    alike = refine(tree, versions, np.ones_like(release.variances))
    assert not np.allclose(release.simplex().versions, alike)


@pytest.mark.parametrize("d", [2, 4, 5, 7])
def test_consistency_is_weighted_least_squares(d):
    tree = BinaryTree(d)
    values, variances = RNG.random((1, tree.size)), RNG.random((1, tree.size)) + 0.1
    values[:, ~tree.asked] = variances[:, ~tree.asked] = 0
    values[:, 0] = 1
    # cells x with sum 1 that minimise sum over nodes (node - sum of its cells)^2 / variance
    design = np.array([(tree.path == node).any(axis=0) for node in range(tree.size)], float)
    asked = tree.asked
    weighted = design[asked] / np.sqrt(variances[0, asked])[:, None]
    target = values[0, asked] / np.sqrt(variances[0, asked])
    system = np.block([[weighted.T @ weighted, np.ones((d, 1))], [np.ones((1, d)), np.zeros((1, 1))]])
    cells = np.linalg.solve(system, np.r_[weighted.T @ target, 1])[:d]
    np.testing.assert_allclose(make_consistent(tree, values, variances)[0], design @ cells, atol=1e-9)


@pytest.mark.parametrize("name", ["lpa", "mtsp_budget", "lbu"])
def test_queries_agree_with_one_by_one_sums(name):
    release = simulate(STREAM, name, epsilon=2.0, window=3, seed=4)
    sources = [release, true_release(STREAM), release.simplex()]
    lo, hi = (grid.ravel() for grid in np.meshgrid(np.arange(11), np.arange(11)))
    lo, hi = lo[lo <= hi], hi[lo <= hi]
    for source in sources:
        answers = source.range_counts(lo, hi, delta=4)
        for q, (first, last) in enumerate(zip(lo, hi, strict=True)):
            for t in (3, 11):
                wanted = sum(_one(source, first, last, when) for when in range(t - 3, t + 1))
                assert answers[t - 3, q] == pytest.approx(wanted, abs=1e-8)


def _one(source, first, last, t):
    version = source.versions[source.which[t]]
    if source.tree is None:
        share = version[first : last + 1].sum()
    else:
        nodes = source.tree.cover(first, last)
        share = sum(version[(1 << level) - 1 + i] for level, i in nodes)
    return share * source.active[t]


def test_scalar_queries_on_the_truth():
    truth, counts = true_release(STREAM), STREAM.counts
    assert truth.count(4, 6, 3) == pytest.approx(counts[4:7, 4].sum())
    assert truth.range(2, 8, 11) == pytest.approx(counts[11, 2:9].sum())
    rise = counts[6:8, 3].sum() - counts[4:6, 3].sum()
    assert truth.event(3, 7, 2, rise)
    assert not truth.event(3, 7, 2, rise + 1e-6)
    assert truth.event((3, 3), 7, 2, rise)
    share = counts[6:8, 3].sum() / counts[6:8].sum() - counts[4:6, 3].sum() / counts[4:6].sum()
    assert truth.event(3, 7, 2, share - 1e-9, relative=True)
    assert not truth.event(3, 7, 2, share + 1e-9, relative=True)


@pytest.mark.parametrize(
    "ask",
    [
        lambda r: r.count(0, 2, 4),
        lambda r: r.count(0, 12, 1),
        lambda r: r.count(0, 3, 0),
        lambda r: r.event(0, 6, 4, 1.0),
        lambda r: r.range(3, 2, 5),
        lambda r: r.range(0, 11, 5),
        lambda r: r.changes(0, 0, 7),
    ],
)
def test_a_query_that_reaches_outside_is_an_error(ask):
    with pytest.raises(ValueError, match=r"t=|delta=|interval"):
        ask(true_release(STREAM))


def test_a_release_repeats_where_nothing_was_published():
    release = simulate(STREAM, "lsp", epsilon=1.0, window=4, phase=0)
    frequencies = release.frequencies
    assert release.trace["published"].to_list() == [t % 4 == 0 for t in range(12)]
    for t in range(12):
        assert np.array_equal(frequencies[t], frequencies[t // 4 * 4])
