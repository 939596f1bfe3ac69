import numpy as np
import pytest

from mtsp_ldp.foundation.tree import BinaryTree


@pytest.mark.parametrize(
    ("d", "leaves", "levels"), [(1, 1, 1), (2, 2, 2), (3, 4, 3), (64, 64, 7), (95, 128, 8)]
)
def test_shape(d, leaves, levels):
    tree = BinaryTree(d)
    assert (tree.leaves, tree.levels, tree.size) == (leaves, levels, 2 * leaves - 1)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8, 13, 32, 64])
def test_every_cover_is_the_smallest(d):
    tree = BinaryTree(d)
    spans = {
        (level, i): set(range(i * tree.leaves >> level, (i + 1) * tree.leaves >> level))
        for level in range(tree.levels)
        for i in range(1 << level)
    }
    for lo in range(tree.leaves):
        for hi in range(lo, tree.leaves):
            wanted = set(range(lo, hi + 1))
            # the smallest cover: every node inside whose parent is not inside
            maximal = [
                node
                for node, span in spans.items()
                if span <= wanted and not (node[0] and spans[node[0] - 1, node[1] // 2] <= wanted)
            ]
            assert tree.cover(lo, hi) == sorted(maximal, key=lambda node: min(spans[node]))


def test_cells_under_each_node_and_padding():
    tree = BinaryTree(5)
    assert tree.cells[tree.level(1)].tolist() == [4, 1]
    assert tree.cells[tree.level(3)].tolist() == [1, 1, 1, 1, 1, 0, 0, 0]
    assert tree.asked.sum() == 2 + 3 + 5
    for cell in range(5):
        path = [tree.path[level, cell] - (1 << level) + 1 for level in range(tree.levels)]
        assert path == [cell >> (3 - level) for level in range(4)]


@pytest.mark.parametrize(("lo", "hi"), [(-1, 0), (3, 2), (0, 8)])
def test_refuses_intervals_outside(lo, hi):
    with pytest.raises(ValueError, match="interval"):
        BinaryTree(5).cover(lo, hi)


def test_refuses_no_cells():
    with pytest.raises(ValueError, match="d=0"):
        BinaryTree(0)
    assert np.array_equal(BinaryTree(1).cells, [1])
