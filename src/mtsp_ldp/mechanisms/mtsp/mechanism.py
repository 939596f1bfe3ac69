"""MTSP-LDP (Algorithm 1) under budget and under population division."""

import math
from functools import partial
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.projection import refine
from mtsp_ldp.foundation.tree import binary_tree
from mtsp_ldp.mechanisms.adaptive import Share, half_step
from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.mechanisms.mtsp.adaptive_tree import Structure, assemble, prune
from mtsp_ldp.mechanisms.mtsp.allocation import AllocationKind, make_allocation
from mtsp_ldp.mechanisms.mtsp.dissimilarity import dissimilarity
from mtsp_ldp.mechanisms.mtsp.smoothing import Grouping, NodeGroups, Smoothing
from mtsp_ldp.privacy.division import ExpectedVariance
from mtsp_ldp.privacy.survey import NOT_ASKED, Survey

Threshold = Literal["publication", "score"]


@register(mtsp_budget="budget", mtsp_population="population")
class Mtsp(Mechanism):
    """Multi-task streaming publication of private binary trees.

    Parameters
    ----------
    structure
        Structure of the tree: ``intermediate`` (the paper's) splits by the tree of the dissimilarity;
        ``fused`` [extension] by its mean with the last release, weighted by inverse variance; ``full`` never
        prunes.
    threshold
        Variance v in the test that splits a node, score > sqrt(factor v): that of the ``publication`` to come
        [reconstructed], or of the ``score`` [extension].
    threshold_factor
        Factor in that test [reconstructed].
    grouping
        Test by which a node's publications form a group [reconstructed]: ``variance``, ``predictive``
        [extension], ``none``; see `mtsp_ldp.mechanisms.mtsp.smoothing.NodeGroups`.
    grouping_tolerance
        Factor c of the variance test [reconstructed].
    grouping_window
        Number of the last values of a group that count; null is all [reconstructed].
    smoothing
        Value that a group releases: its mean, median, or inverse-variance mean [reconstructed].
    allocation
        Rule of when to publish with which share: ``oba`` (the paper's), ``oba_shrunk`` [extension], or a rule
        of LDP-IDS in its place (``distribution``, ``absorption``).
    minimum_share
        Share of the window below which nothing is published [extension; 0 spends scraps, as the paper does].
    consistency
        [extension] If true, released trees are made consistent and non-negative; decisions and groups keep
        raw values.
    """

    tree = True
    published = True

    def __init__(
        self,
        setting: Setting,
        *,
        structure: Structure = "intermediate",
        threshold: Threshold = "publication",
        threshold_factor: Annotated[float, Field(ge=0)] = 3.0,
        grouping: Grouping = "variance",
        grouping_tolerance: Annotated[float, Field(gt=0)] = 1.0,
        grouping_window: Annotated[int, Field(ge=2)] | None = None,
        smoothing: Smoothing = "mean",
        allocation: AllocationKind = "oba",
        minimum_share: Share = 0.0,
        consistency: bool = False,
    ) -> None:
        super().__init__(setting)
        self._structure = structure
        self._threshold = threshold
        self._factor = threshold_factor
        self._consistency = consistency
        self._tree = binary_tree(setting.d)
        self._full = prune(self._tree, np.zeros(self._tree.size), -math.inf)
        self._variance = ExpectedVariance(
            setting.division, [question.groups for question in self._full.questions]
        )
        self._unit = half_step(setting.window)
        self._allocation = make_allocation(allocation, setting.window, minimum_share)
        self._groups = NodeGroups(self._tree.size, grouping, smoothing, grouping_tolerance, grouping_window)
        self._release = self.initial()

    def initial(self) -> FloatArray:
        """Make a tree of zeros below its root, ``(size,)``, or of 1/d at every cell."""
        tree = binary_tree(self.setting.d)
        nodes: FloatArray = tree.cells / tree.d * (self.setting.initial == "uniform")
        nodes[0] = 1.0
        return nodes

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Run M1, M2, M3."""
        # a tree of one cell is its root: nothing to ask
        first = survey(self._full.questions, self._unit) if self._full.questions else NOT_ASKED
        if not first:
            return Step(share_1=first.spent)
        noise_kind = self.setting.noise
        estimate, variances, _ = assemble(self._tree, self._full, first, noise_kind)
        asked = self._full.nodes.size  # the root and padding add nothing to the sum
        noise = float(variances.sum()) / asked
        gap = dissimilarity([estimate[1:]], [self._release[1:]], noise, self.setting.d)

        variance = partial(self._variance, n=n)
        spread = noise * math.sqrt(2 / asked)
        k, share = self._allocation.choose(t, gap, spread, variance)
        cost = variance(share) if share else math.inf
        if not math.isfinite(cost):
            return Step(share_1=first.spent, dissimilarity=gap, k=k)
        pruned = prune(self._tree, *self._score(estimate, noise, cost))
        second = survey(pruned.questions, share)
        if second.spent:
            self._allocation.record(t, second.spent)
        if not second:
            return Step(share_1=first.spent, share_2=second.spent, dissimilarity=gap, k=k)
        self._release, variances, copied = self._groups.add(*assemble(self._tree, pruned, second, noise_kind))
        released = self._release
        if self._consistency:
            released = refine(self._tree, released[None], variances[None], copied[None])[0]
        return Step(released, variances, first.spent, second.spent, gap, k, copied)

    def _score(self, estimate: FloatArray, noise: float, cost: float) -> tuple[FloatArray, float]:
        """Compute the score of every node, and the threshold above which it splits."""
        if self._structure == "full":
            return estimate, -math.inf
        score, own = estimate, noise
        if self._structure == "fused" and noise + cost > 0:
            score = (estimate * cost + self._release * noise) / (noise + cost)
            own = noise * cost / (noise + cost)
        return score, math.sqrt(self._factor * (cost if self._threshold == "publication" else own))
