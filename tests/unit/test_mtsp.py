import math

import numpy as np

from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.mechanisms.mtsp.adaptive_tree import assemble, prune
from mtsp_ldp.mechanisms.mtsp.smoothing import NodeGroups
from mtsp_ldp.privacy.oracle import OUE
from mtsp_ldp.privacy.survey import Answer


def answer(estimates, reporters, variance):
    return Answer(np.array(estimates), reporters, variance, 100, OUE(1.0), np.zeros(len(estimates), int))


def test_a_full_tree_asks_each_level_about_its_nodes():
    pruned = prune(BinaryTree(5), np.zeros(15), -math.inf)
    assert [q.labels.tolist() for q in pruned.questions] == [
        [0, 0, 0, 0, 1],
        [0, 0, 1, 1, 2],
        [0, 1, 2, 3, 4],
    ]


def test_a_tree_is_full_though_padding_never_splits():
    tree = BinaryTree(5)
    pruned = prune(tree, np.where(tree.cells, 1.0, 0.0), 0.5)
    assert pruned.full
    assert sorted(pruned.nodes) == np.flatnonzero(tree.asked).tolist()


def test_a_cold_node_stays_a_leaf_and_is_asked_at_every_level():
    tree, score = BinaryTree(4), np.zeros(7)
    score[1] = 0.9
    pruned = prune(tree, score, 0.5)
    assert [q.labels.tolist() for q in pruned.questions] == [[0, 0, 1, 1], [0, 1, 2, 2]]
    assert pruned.nodes.tolist() == [1, 2, 3, 4, 2]
    assert not pruned.full
    answers = [answer([0.7, 0.3], 10, 0.2), answer([0.5, 0.3, 0.6], 20, 0.1)]
    values, variances, copied = assemble(tree, pruned, answers)
    assert np.flatnonzero(copied).tolist() == [5, 6]
    # node 2 by the inverse variances of its two answers; its children share it evenly
    np.testing.assert_allclose(values, [1, 0.7, 0.5, 0.5, 0.3, 0.25, 0.25])
    np.testing.assert_allclose(variances, [0, 0.2, 1 / 15, 0.1, 0.1, 1 / 60, 1 / 60])


def test_a_pruned_interval_gives_padding_nothing():
    tree = BinaryTree(3)
    pruned = prune(tree, np.zeros(7), 0.5)
    values, variances, _ = assemble(tree, pruned, [answer([0.4, 0.6], 5, 0.3)])
    np.testing.assert_allclose(values, [1, 0.4, 0.6, 0.2, 0.2, 0.6, 0.0])
    np.testing.assert_allclose(variances, [0, 0.3, 0.3, 0.075, 0.075, 0.3, 0.0])


def test_a_group_takes_values_until_they_spread_beyond_their_noise():
    groups = NodeGroups(1)
    noise = np.array([1.0])
    # spread of (0, 1) is 0.5 <= 2; a third value of 9 makes it 24.3 > 2 and opens a group
    released = [groups.add(np.array([x]), noise) for x in (0.0, 1.0, 9.0, 9.0)]
    np.testing.assert_allclose([value[0] for value, *_ in released], [0, 0.5, 9, 9])
    np.testing.assert_allclose([variance[0] for _, variance, _ in released], [1, 0.5, 1, 0.5])


def test_without_grouping_values_pass():
    groups = NodeGroups(2, "none")
    for values in ([0.1, 0.2], [0.3, 0.4]):
        released, variance, _ = groups.add(np.array(values), np.array([0.5, 0.25]))
        np.testing.assert_allclose(released, values)
        np.testing.assert_allclose(variance, [0.5, 0.25])


def test_a_node_is_a_copy_while_no_report_of_its_group_answered_it():
    one = np.array([1.0])
    groups = NodeGroups(1)
    told = [bool(groups.add(one, one, np.array([copied]))[2][0]) for copied in (True, True, False, True)]
    assert told == [True, True, False, False]
    # a new group begins, with a copy
    assert groups.add(9 * one, one, np.array([True]))[2].tolist() == [True]
    # and what has left the window does not count
    groups = NodeGroups(1, window=2)
    told = [bool(groups.add(one, one, np.array([copied]))[2][0]) for copied in (False, True, True)]
    assert told == [False, False, True]
