"""Post-processing and queries against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from mtsp_ldp import Stream, simulate
from mtsp_ldp.evaluation.workload import true_release
from mtsp_ldp.foundation.projection import make_consistent, make_nonnegative, project_on_simplex, refine
from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.privacy.oracle import OUE

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
    refined = refine(tree, versions, release.variances, release.copied)
    np.testing.assert_allclose(release.projected().versions, refined)
    alike = refine(tree, versions, np.ones_like(release.variances))
    assert not np.allclose(release.projected().versions, alike)


def least_squares(tree, values, variances, asked):
    """Cells x with sum 1 that minimise the sum over asked nodes of (node - sum of its cells)^2 / variance."""
    d = tree.d
    design = np.array([(tree.path == node).any(axis=0) for node in range(tree.size)], float)
    weighted = design[asked] / np.sqrt(variances[asked])[:, None]
    target = values[asked] / np.sqrt(variances[asked])
    system = np.block([[weighted.T @ weighted, np.ones((d, 1))], [np.ones((1, d)), np.zeros((1, 1))]])
    return design, np.linalg.lstsq(system, np.r_[weighted.T @ target, 1], rcond=None)[0][:d]


@pytest.mark.parametrize("d", [2, 4, 5, 7])
def test_consistency_is_weighted_least_squares(d):
    tree = BinaryTree(d)
    values, variances = RNG.random((1, tree.size)), RNG.random((1, tree.size)) + 0.1
    values[:, ~tree.asked] = variances[:, ~tree.asked] = 0
    values[:, 0] = 1
    design, cells = least_squares(tree, values[0], variances[0], tree.asked)
    np.testing.assert_allclose(make_consistent(tree, values, variances)[0], design @ cells, atol=1e-9)


@pytest.mark.parametrize("d", [8, 7, 6])
def test_copies_carry_no_information_of_their_own(d):
    """Nodes below a pruned leaf: least squares over the others only."""
    tree = BinaryTree(d)
    values, variances = RNG.random((1, tree.size)), RNG.random((1, tree.size)) + 0.1
    values[:, ~tree.asked] = variances[:, ~tree.asked] = 0
    values[:, 0] = 1
    copied = np.zeros((1, tree.size), dtype=bool)
    copied[0, [7, 8]] = True  # below node 3, which covers cells 0 and 1
    values[0, [7, 8]] = values[0, 3] / 2
    design, cells = least_squares(tree, values[0], variances[0], tree.asked & ~copied[0])
    found = make_consistent(tree, values, np.where(copied, np.inf, variances))[0]
    known = ~copied[0]
    np.testing.assert_allclose(found[known], (design @ cells)[known], atol=1e-9)
    refined = refine(tree, values, variances, copied)[0]
    assert refined[7] == pytest.approx(refined[3] / 2)
    assert refined[8] == pytest.approx(refined[3] / 2)


@given(st.integers(1, 40), st.integers(0, 1000), st.sampled_from([0.05, 0.5, 3.0]))
@settings(deadline=None)
def test_a_refined_tree_is_consistent_and_not_negative(d, seed, noise):
    tree, rng = BinaryTree(d), np.random.default_rng(seed)
    values = rng.normal(1 / d, noise, (3, tree.size)) * tree.asked
    values[:, 0] = 1
    variances = rng.random((3, tree.size)) * tree.asked
    copied = np.zeros((3, tree.size), dtype=bool)
    for level in range(2, tree.levels):  # prune at random: below a copy all are
        parents = (np.arange(tree.size)[tree.level(level)] - 1) // 2
        leaf = (rng.random((3, parents.size // 2)) < 0.3).repeat(2, axis=1)
        copied[:, tree.level(level)] = (copied[:, parents] | leaf) & tree.asked[tree.level(level)]
    refined = refine(tree, values, variances, copied)
    assert (refined >= 0).all()
    assert (refined[:, tree.cells == 0] == 0).all()
    np.testing.assert_allclose(refined[:, 0], 1)
    inner = np.arange(tree.leaves - 1)
    np.testing.assert_allclose(
        refined[:, inner], refined[:, 2 * inner + 1] + refined[:, 2 * inner + 2], atol=1e-12
    )
    for version, node in zip(*np.nonzero(copied), strict=True):
        parent = (node - 1) // 2
        share = refined[version, parent] * tree.cells[node] / tree.cells[parent]
        assert refined[version, node] == pytest.approx(share, abs=1e-12)


def test_a_pair_of_siblings_is_projected_on_its_parent():
    tree = BinaryTree(4)
    values = np.array([[1, 0.9, 0.3, -0.2, 0.4, 0.1, 0.1]])
    wanted = [1, 0.8, 0.2, 0.1, 0.7, 0.1, 0.1]
    np.testing.assert_allclose(make_nonnegative(tree, values)[0], wanted, atol=1e-12)
    lopsided = make_nonnegative(tree, np.array([[1, 2.0, -1.5, 0.6, 0.4, 5.0, -5.0]]))[0]
    np.testing.assert_allclose(lopsided, [1, 1, 0, 0.6, 0.4, 0, 0], atol=1e-12)


def test_a_large_tree_keeps_its_ranges():
    """Ranges of a skewed histogram of 33,000 users: least squares, and the leaves' simplex, against it."""
    d, n, oracle, rng = 1024, 33_000, OUE(0.8), np.random.default_rng(7)
    tree = BinaryTree(d)
    truth = np.exp(-np.arange(d) / 60.0)
    truth /= truth.sum()
    group = n // (tree.levels - 1)
    values, variances = np.zeros((1, tree.size)), np.full((1, tree.size), oracle.variance(group))
    values[0, 0], variances[0, 0] = 1, 0
    for level in range(1, tree.levels):
        own = truth.reshape(1 << level, -1).sum(axis=1)
        counts = rng.multinomial(group, own)
        values[0, tree.level(level)] = oracle.estimate(oracle.sample(counts, rng), group)
    fitted = make_consistent(tree, values, variances)[0, tree.bottom]
    kinds = {
        "least squares": fitted,
        "simplex": project_on_simplex(fitted[None])[0],
        "tree": refine(tree, values, variances)[0, tree.bottom],
    }
    lo, hi = np.sort(rng.integers(0, d, (2, 500)), axis=0)
    error = {
        name: np.mean(
            (np.r_[0, np.cumsum(leaves - truth)][hi + 1] - np.r_[0, np.cumsum(leaves - truth)][lo]) ** 2
        )
        for name, leaves in kinds.items()
    }
    assert error["tree"] < error["least squares"] < error["simplex"] / 10
    squares = {name: ((leaves - truth) ** 2).mean() for name, leaves in kinds.items()}
    assert squares["tree"] < squares["least squares"]


@pytest.mark.parametrize("name", ["lpa", "mtsp_budget", "lbu"])
def test_queries_agree_with_one_by_one_sums(name):
    release = simulate(STREAM, name, epsilon=2.0, window=3, seed=4)
    sources = [release, true_release(STREAM), release.projected()]
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
