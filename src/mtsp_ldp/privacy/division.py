"""The two meanings of a share of the window: a part of every user's epsilon, or a part of the users.

A mechanism is one strategy over shares; the division is a second, independent choice. Source: MTSP-LDP
§2.6, "population division is a general augmentation strategy".
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from mtsp_ldp.privacy.oracle import GRR, Oracle, OracleKind, choose_oracle
from mtsp_ldp.privacy.units import FULL, Units


@dataclass(frozen=True)
class Division(ABC):
    """What a share buys.

    Attributes
    ----------
    epsilon
        Budget of the window.
    oracle_kind
        ``oue`` (the paper's), ``grr`` or ``adaptive`` (the better of the two for each question).
    """

    epsilon: float
    oracle_kind: OracleKind = "oue"

    def __post_init__(self) -> None:
        if self.oracle_kind == "grr":
            GRR(self.epsilon, 2)  # refuses at once what it would refuse at some question

    @abstractmethod
    def report_epsilon(self, share: Units) -> float:
        """Budget of each report that a share buys."""

    @abstractmethod
    def arc(self, share: Units) -> Units | None:
        """Length of the arc of users that is asked, in units; None asks everybody."""

    @abstractmethod
    def reporters(self, share: Units, n: int) -> int:
        """Expected number of the n active users who are asked."""

    def oracle(self, share: Units, groups: int = 2) -> Oracle:
        """The oracle with which the users of a share answer a question of so many groups."""
        return choose_oracle(self.oracle_kind, self.report_epsilon(share), groups)

    def unit_variance(self, share: Units, groups: Sequence[int]) -> float:
        """Noise variance of an estimate from one report: the mean over all groups of such questions."""
        if self.oracle_kind == "oue":
            return self.oracle(share).variance(1)
        return sum(size * self.oracle(share, size).variance(1) for size in groups) / sum(groups)


@dataclass(frozen=True)
class BudgetDivision(Division):
    """All active users report, with the share's part of epsilon."""

    def report_epsilon(self, share: Units) -> float:
        """Share * epsilon, rounded down: a window's reports sum to at most epsilon exactly."""
        part = self.epsilon * (share / FULL)
        return math.nextafter(part, 0.0) if share < FULL else self.epsilon

    def arc(self, share: Units) -> Units | None:
        """Everybody."""
        return None

    def reporters(self, share: Units, n: int) -> int:
        """Everybody."""
        return n


@dataclass(frozen=True)
class PopulationDivision(Division):
    """The users whose phase lies in the next arc report, with the whole epsilon."""

    def report_epsilon(self, share: Units) -> float:
        """All of it."""
        return self.epsilon

    def arc(self, share: Units) -> Units | None:
        """The share itself."""
        return share

    def reporters(self, share: Units, n: int) -> int:
        """The share of n, with the tolerance of the specification: floor(share n + 1e-6)."""
        return math.floor(share / FULL * n + 1e-6)


@dataclass(frozen=True)
class ExpectedVariance:
    """Expected noise variance of a publication's estimates, by its share and the number of active users.

    Attributes
    ----------
    division
        What a share buys.
    groups
        Groups of each question that the reporters share among them.
    """

    division: Division
    groups: Sequence[int]

    @cached_property
    def _unit(self) -> Callable[[Units], float]:
        return lru_cache(maxsize=1024)(partial(self.division.unit_variance, groups=self.groups))

    def __call__(self, share: Units, n: int) -> float:
        """Variance that ``share`` units of the window buy among n active users (+inf if nobody is left)."""
        each = self.division.reporters(share, n) // len(self.groups)
        return self._unit(share) / each if each else math.inf


DIVISIONS: dict[str, type[BudgetDivision | PopulationDivision]] = {
    "budget": BudgetDivision,
    "population": PopulationDivision,
}
