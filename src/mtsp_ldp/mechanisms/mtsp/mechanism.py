"""MTSP-LDP (Algorithm 1) under budget and under population division."""

import math
from typing import Literal, get_args

import numpy as np

from mtsp_ldp.mechanisms.adaptive import half_step
from mtsp_ldp.mechanisms.base import Mechanism, Setting, Step, register
from mtsp_ldp.mechanisms.mtsp.adaptive_tree import Structure, assemble, prune
from mtsp_ldp.mechanisms.mtsp.allocation import OptimalAllocation
from mtsp_ldp.mechanisms.mtsp.dissimilarity import dissimilarity
from mtsp_ldp.mechanisms.mtsp.smoothing import NodeGroups
from mtsp_ldp.oracle import FloatArray
from mtsp_ldp.survey import Survey
from mtsp_ldp.tree import binary_tree

Grouping = Literal["none", "variance"]


@register(mtsp_budget="budget", mtsp_population="population")
class Mtsp(Mechanism):
    """Multi-task streaming publication of private binary trees.

    Parameters
    ----------
    structure
        ``intermediate`` (the paper's): split by the dissimilarity's tree; ``fused``: by its mean with the
        last release, weighted by inverse variance; ``full``: never prune.
    grouping
        ``variance``, or ``none``.
    """

    tree = True

    def __init__(
        self,
        setting: Setting,
        *,
        structure: Structure = "intermediate",
        grouping: Grouping = "variance",
    ) -> None:
        super().__init__(setting)
        _one_of("structure", structure, get_args(Structure))
        _one_of("grouping", grouping, get_args(Grouping))
        self._structure = structure
        self._tree = binary_tree(setting.d)
        self._full = prune(self._tree, np.zeros(self._tree.size), -math.inf)
        self._unit = half_step(setting.window)
        self._allocation = OptimalAllocation(setting.window)
        self._groups = NodeGroups(self._tree.size, 1.0 if grouping == "variance" else None)
        self._release = self.initial()

    def initial(self) -> FloatArray:
        """A tree of zeros below its root, ``(size,)``."""
        nodes = np.zeros(binary_tree(self.setting.d).size)
        nodes[0] = 1.0
        return nodes

    def step(self, t: int, n: int, survey: Survey) -> Step:
        """M1, M2, M3."""
        # a tree of one cell is its root: nothing to ask
        first = survey(self._full.questions, self._unit) if self._full.questions else None
        if first is None:
            return Step()
        estimate, variances = assemble(self._tree, self._full, first)
        noise = float(np.mean(variances[self._tree.asked]))
        gap = dissimilarity(self._levels(estimate), self._levels(self._release), noise, self.setting.d)
        asked = len(self._full.questions)

        def variance(share: int) -> float:
            return self.setting.division.variance(share, n, asked)

        k, share = self._allocation.choose(t, gap, variance)
        spread = variance(share) if share else math.inf
        if not math.isfinite(spread):
            return Step(share_1=self._unit, dissimilarity=gap, k=k)
        pruned = prune(self._tree, self._score(estimate, noise, spread), self._threshold(spread))
        second = survey(pruned.questions, share)
        if second is None:
            return Step(share_1=self._unit, dissimilarity=gap, k=k)
        self._allocation.record(t, share)
        self._release, variances = self._groups.add(*assemble(self._tree, pruned, second))
        return Step(self._release, variances, self._unit, share, gap, k)

    def _levels(self, nodes: FloatArray) -> list[FloatArray]:
        return [nodes[self._tree.level(level)] for level in range(1, self._tree.levels)]

    def _threshold(self, spread: float) -> float:
        return -math.inf if self._structure == "full" else math.sqrt(3 * spread)

    def _score(self, estimate: FloatArray, noise: float, spread: float) -> FloatArray:
        if self._structure != "fused" or noise + spread == 0:
            return estimate
        return (estimate * spread + self._release * noise) / (noise + spread)


def _one_of(option: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{option}={value!r}: one of {', '.join(allowed)}")
