import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from mtsp_ldp import Stream, simulate
from mtsp_ldp.evaluation.measures import detection, errors, event_runs, event_threshold, roc
from mtsp_ldp.evaluation.scoring import score
from mtsp_ldp.evaluation.workload import Workload, true_release
from mtsp_ldp.foundation.grid import hilbert_grid
from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.releases import queries
from mtsp_ldp.releases.release import Release

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("tied", [False, True])
def test_event_scores_agree_with_scikit_learn(tied):
    for _ in range(30):
        happens = RNG.random(200) < 0.1
        score = RNG.normal(0, 1, 200) + happens
        score = np.round(score) if tied else score
        flagged = score >= 1
        ours = detection(happens, flagged) | roc(happens, score)
        assert ours["f1"] == pytest.approx(metrics.f1_score(happens, flagged))
        assert ours["precision"] == pytest.approx(metrics.precision_score(happens, flagged))
        assert ours["recall"] == pytest.approx(metrics.recall_score(happens, flagged))
        assert ours["auc"] == pytest.approx(metrics.roc_auc_score(happens, score))
        false, true, _ = metrics.roc_curve(happens, score, drop_intermediate=False)
        for percent in (1, 5):
            assert ours[f"tpr_at_{percent}"] == pytest.approx(true[false <= percent / 100].max())


def test_what_is_undefined_is_nan():
    nothing, some = np.zeros(5, bool), np.array([1, 0, 0, 1, 0], bool)
    assert np.isnan(detection(nothing, some)["f1"])
    assert np.isnan(detection(nothing, some)["recall"])
    assert np.isnan(detection(some, nothing)["precision"])
    assert detection(some, nothing)["f1"] == 0
    assert all(np.isnan(value) for value in roc(nothing, np.arange(5.0)).values())
    assert all(np.isnan(value) for value in errors(np.zeros((2, 1)), np.full((2, 1), np.nan)).values())


def test_the_threshold_is_the_smallest_rare_increase():
    change = np.r_[np.zeros(96), [1.0, 2.0, 2.0, 3.0]]
    assert event_threshold(change, 0.05) == 1
    assert event_threshold(change, 0.03) == 2
    assert event_threshold(change, 0.02) == 3
    assert np.isnan(event_threshold(-np.arange(10.0)))
    assert np.isnan(event_threshold(np.r_[np.zeros(5), np.ones(5)]))


def test_runs_of_events():
    happens = np.array([0, 1, 1, 1, 0, 1, 0, 1, 1], bool)
    flagged = np.array([1, 0, 0, 1, 1, 0, 0, 1, 0], bool)
    runs = event_runs(happens, flagged)
    assert (runs.number, runs.found, runs.delay) == (3, 2, 2)
    assert event_runs(np.zeros(4, bool), flagged[:4]).number == 0


def test_errors_by_hand_leave_out_empty_timestamps():
    truth = np.array([[0.5, 0.5], [np.nan, np.nan], [0.0, 1.0]])
    found = errors(np.array([[0.4, 0.7], [9, 9], [0.001, 1.0]]), truth, relative=True)
    assert found["mse"] == pytest.approx((0.01 + 0.04 + 1e-6) / 4)
    assert found["mae"] == pytest.approx((0.1 + 0.2 + 0.001) / 4)
    assert found["mre"] == pytest.approx((0.2 + 0.4 + 1.0) / 4)


def test_boxes_are_the_sums_of_their_cells():
    numbers = hilbert_grid(8)
    stream = Stream.from_counts(RNG.integers(0, 50, (4, 64)))
    boxes = [(0, 7, 0, 7), (2, 5, 3, 3), (1, 6, 2, 7), (4, 4, 4, 4)]
    truth = true_release(stream)
    answers = truth.box_frequencies(numbers, boxes)
    for column, (a, b, c, d) in enumerate(boxes):
        cells = numbers[a : b + 1, c : d + 1].ravel()
        np.testing.assert_allclose(answers[:, column], stream.frequencies[:, cells].sum(axis=1))
    with pytest.raises(ValueError, match="box="):
        truth.box_frequencies(numbers, [(3, 2, 0, 0)])


@pytest.mark.parametrize("d", range(1, 65))
def test_covers_of_every_interval_agree_with_single_covers(d):
    tree = BinaryTree(d)
    nodes = RNG.random((2, tree.size))
    lo, hi = np.triu_indices(d)
    sums = queries.cover_sums(tree, nodes, lo, hi)
    for q in RNG.permutation(lo.size)[:60]:
        cover = tree.cover(int(lo[q]), int(hi[q]))
        where = [(1 << level) - 1 + i for level, i in cover]
        np.testing.assert_allclose(sums[:, q], nodes[:, where].sum(axis=1))


def test_ranges_on_a_consistent_tree_are_the_sums_of_its_leaves():
    stream = Stream.from_counts(RNG.integers(0, 500, (20, 13)))
    release = simulate(stream, "mtsp_population", epsilon=1.0, window=4, consistency=True)
    assert release.trace["published"].any()
    first = int(release.trace["published"].arg_max())
    lo, hi = np.triu_indices(13)
    leaves = np.concatenate([np.zeros((20, 1)), np.cumsum(release.frequencies, axis=1)], axis=1)
    found = release.range_frequencies(lo, hi)
    np.testing.assert_allclose(found[first:], (leaves[:, hi + 1] - leaves[:, lo])[first:], atol=1e-12)
    np.testing.assert_allclose(release.frequencies[first:].sum(axis=1), 1)


def test_a_thousand_ranges_need_no_cube(monkeypatch):
    length, d, many = 1000, 1024, 1000
    tree = BinaryTree(d)
    versions = RNG.random((length, tree.size))
    release = Release(versions, np.arange(length), np.ones(length, int), None, tree)
    lo = RNG.integers(0, d, many)
    hi = np.minimum(lo + RNG.integers(0, d, many), d - 1)
    largest = []
    original = np.zeros

    def watched(shape, *args, **kwargs):
        made = original(shape, *args, **kwargs)
        largest.append(made.size)
        return made

    monkeypatch.setattr(np, "zeros", watched)
    start = time.perf_counter()
    release.range_counts(lo, hi, 3)
    print(f"1,000 ranges: {time.perf_counter() - start:.2f} s")
    assert max(largest) <= length * max(many, 2 * d)


def test_the_blizzard_is_among_the_true_events_of_flights(stream):
    flights = stream("flights")
    truth = Workload(flights, flights.replicate)
    airports = [cell.name for cell in flights.facts.cells]
    (watch,) = (w for w in truth.watches if w.query == "event_12_share")
    # aircraft come back from the afternoon of 9 February (t = 204) on
    back = slice(206 - 23, 222 - 23)
    hit = {airports[cell] for cell in watch.cells[watch.happens[back].sum(axis=0) >= 5]}
    assert {"JFK", "LGA", "EWR"} <= hit
    scores = score(truth.release, truth)
    known = {(query, measure) for query, measure, _ in scores if query.startswith("known")}
    assert {(f"known_{i}_blizzard", "found_6_share") for i in (1, 2, 3)} <= known


def test_a_perfect_release_scores_perfectly_and_planned_events_exist(stream):
    city = stream("city")
    truth = Workload(city)
    scores = {(query, measure): value for query, measure, value in score(truth.release, truth)}
    assert scores["event_3_count", "f1_pooled"] == 1
    assert scores["event_12_share", "auc_macro"] == 1
    assert scores["event_6_count", "run_recall"] == 1
    assert scores["event_6_count", "run_delay"] == 0
    assert all(value == pytest.approx(0, abs=1e-20) for (_, m), value in scores.items() if m == "mse")
    known = {query for query, _ in scores if query.startswith("known_")}
    assert known == {"known_1_crowd", "known_2_evacuation", "known_3_crowd"}
    assert all(value == 1 for (query, _), value in scores.items() if query in known)
    assert ("box", "mse") in scores


def test_pooled_changes_are_in_standard_deviations_of_their_cells():
    rng = np.random.default_rng(4)
    counts = rng.poisson([2000, 1500, 30, 20], (120, 4))
    counts[rng.random((120, 4)) < 0.1] *= 2
    data = Stream.from_counts(counts)
    truth = Workload(data)
    noisy = replace(truth.release, versions=truth.release.versions + rng.normal(0, 0.004, (120, 4)))
    found = {(query, measure): value for query, measure, value in score(noisy, truth)}
    for watch in truth.watches:
        if watch.asked.relative or not watch.cells.size:
            continue
        change = np.array([_changes(counts[:, cell], watch.asked.delta) for cell in watch.cells])
        level, scale = watch.thresholds[:, None], change.std(axis=1, keepdims=True)
        ours = noisy.versions * truth.release.active[:, None]
        guess = np.array([_changes(ours[:, cell], watch.asked.delta) for cell in watch.cells])
        auc = metrics.roc_auc_score((change >= level).ravel(), ((guess - level) / scale).ravel())
        assert found[watch.query, "auc_pooled"] == pytest.approx(auc)
        plain = metrics.roc_auc_score((change >= level).ravel(), (guess - level).ravel())
        assert plain != pytest.approx(auc, abs=1e-3)


def _changes(counts, delta):
    sums = np.convolve(counts, np.ones(delta), "valid")
    return sums[delta:] - sums[:-delta]


def test_a_release_of_all_users_is_scored_on_the_truths_scale():
    """With private presence frequencies are shares of all users; what is asked of them stays the same."""
    rng = np.random.default_rng(0)
    data = Stream.from_counts(rng.integers(0, 400, (60, 4)), 4000)
    truth = Workload(data)
    shares = data.counts / 4000
    everybody = np.full(60, 4000)
    private = replace(truth.release, versions=shares, active=everybody, of_all_users=True)
    asked = {(query, measure): value for query, measure, value in score(truth.release, truth)}
    found = {(query, measure): value for query, measure, value in score(private, truth)}
    assert asked.keys() == found.keys()
    for key, value in asked.items():
        assert found[key] == pytest.approx(value, abs=1e-9, nan_ok=True), key


def test_a_stream_without_events_says_so():
    truth = Workload(Stream.from_counts(np.full((40, 3), 5)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = {(q, m): value for q, m, value in score(truth.release, truth)}
    assert scores["event_3_count", "events"] == 0
    assert scores["event_3_count", "cells_without_events"] == 3
    assert ("event_3_count", "f1_macro") not in scores


def test_equal_counts_give_equal_changes():
    counts = RNG.integers(0, 7, (500, 3)) * 150
    truth = true_release(Stream.from_counts(counts))
    for delta in (1, 3, 12):
        sums = np.array([counts[t - delta + 1 : t + 1].sum(axis=0) for t in range(delta - 1, 500)])
        wanted = (sums[delta:] - sums[:-delta]).astype(float)
        assert np.array_equal(truth.changes(np.arange(3), np.arange(3), delta), wanted)
