"""M3, first half (ATC): a tree that is fine where users are and coarse where they are not.

The structure is decided from the dissimilarity's tree, without a second interaction. Source: MTSP-LDP
§3.4; the split rule (threshold sqrt(3 v)) is a reconstruction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray, IntArray
from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.privacy.survey import Answer, NoiseKind, Question

_LEAST_VARIANCE = 1e-30
Structure = Literal["full", "intermediate", "fused"]


@dataclass(frozen=True)
class Pruned:
    """A pruned tree: per level that exists, the question over its nodes and its coarser leaves.

    Attributes
    ----------
    questions
        Questions, one per level 1, 2, …
    nodes
        Node of each group, question after question.
    full
        True if nothing was pruned; then each node is asked once.
    """

    questions: list[Question]
    nodes: IntArray
    full: bool


def prune(tree: BinaryTree, score: FloatArray, threshold: float) -> Pruned:
    """Split from the root down every node whose score exceeds the threshold.

    Parameters
    ----------
    tree
        The geometry.
    score
        Score of each node in level order, ``(size,)``.
    threshold
        Score above which a node splits; the root always does, the last level never. -inf keeps the tree full.
    """
    exists = np.zeros(tree.size, dtype=bool)
    exists[0] = True
    splits = score > threshold
    splits[0] = True
    for level in range(tree.levels - 1):
        here, below = tree.level(level), tree.level(level + 1)
        exists[below] = np.repeat(exists[here] & splits[here], 2)
    depth = exists[tree.path].sum(axis=0) - 1
    questions, nodes = [], []
    for level in range(1, int(depth.max()) + 1):
        node = tree.path[np.minimum(level, depth), np.arange(tree.d)]
        starts = np.concatenate([[True], node[1:] != node[:-1]])
        questions.append(Question(np.cumsum(starts) - 1))
        nodes.append(node[starts])
    asked = np.concatenate(nodes) if nodes else np.empty(0, dtype=np.int64)
    return Pruned(questions, asked, bool(exists[tree.asked].all()))


def assemble(
    tree: BinaryTree, pruned: Pruned, answers: Sequence[Answer], noise: NoiseKind = "paper"
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Assemble a tree from the answers.

    A leaf that was asked at several levels gets the inverse-variance mean of its answers; nodes below a
    leaf share its value in proportion to their real cells.

    Returns
    -------
    values, variances : FloatArray
        Per node in level order, ``(size,)``; the root is 1 and padding 0, both without noise.
    copied : BoolArray
        Nodes below a leaf, which no report answered, ``(size,)``.
    """
    nodes = pruned.nodes
    estimates = np.concatenate([answer.estimates for answer in answers])
    spread = np.array([answer.variance for answer in answers]).repeat(
        [answer.estimates.size for answer in answers]
    )
    if noise == "exact":
        # one that is 0 by chance does not make its answer infinitely good
        exact = np.concatenate([answer.exact_variances() for answer in answers])
        spread = np.maximum(exact, spread / 100)
    # at a very large epsilon all variances are 0, and all weights alike
    spread = np.maximum(spread, _LEAST_VARIANCE)
    values, variances = np.zeros(tree.size), np.zeros(tree.size)
    values[0] = 1.0
    if pruned.full:
        values[nodes], variances[nodes] = estimates, spread
        return values, variances, np.zeros(tree.size, dtype=bool)
    weight = 1.0 / spread
    precision = np.bincount(nodes, weights=weight, minlength=tree.size)
    answered = precision > 0
    totals = np.bincount(nodes, weights=estimates * weight, minlength=tree.size)
    values[answered] = totals[answered] / precision[answered]
    variances[answered] = 1.0 / precision[answered]
    for level in range(1, tree.levels):
        below = tree.level(level)
        coarse = ~answered[below]
        parent = np.arange(tree.size)[below][coarse] - 1 >> 1
        share = tree.cells[below][coarse] / np.maximum(tree.cells[parent], 1)
        values[below][coarse] = values[parent] * share
        variances[below][coarse] = variances[parent] * share * share
    return values, variances, ~answered & tree.asked
