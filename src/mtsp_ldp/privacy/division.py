"""The two meanings of a share of the window: a part of every user's epsilon, or a part of the users.

A mechanism is one strategy over shares; the division is a second, independent choice. Source: MTSP-LDP
§2.6, "population division is a general augmentation strategy".
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from mtsp_ldp.privacy.oracle import Oracle, OracleKind, choose_oracle
from mtsp_ldp.privacy.units import FULL, Units


@dataclass(frozen=True)
class Division(ABC):
    """Meaning of a share of the window: which users report, and with which budget.

    Attributes
    ----------
    epsilon
        Budget of every window.
    oracle_kind
        Frequency oracle: ``oue`` (the paper's), ``grr`` or ``adaptive`` (the better of the two for each
        question).
    """

    epsilon: float
    oracle_kind: OracleKind = "oue"

    @abstractmethod
    def report_epsilon(self, share: Units) -> float:
        """Compute the budget of each report that a share buys."""

    @abstractmethod
    def arc(self, share: Units) -> Units | None:
        """Compute the length of the arc of users to ask, in units; None asks everybody."""

    @abstractmethod
    def reporters(self, share: Units, n: int) -> int:
        """Compute the expected number of the n active users who are asked."""

    def oracle(self, share: Units, groups: int = 2) -> Oracle:
        """Choose the oracle with which the users of a share answer a question of so many groups."""
        return choose_oracle(self.oracle_kind, self.report_epsilon(share), groups)

    def unit_variance(self, share: Units, groups: Sequence[int]) -> float:
        """Compute the noise variance of an estimate from one report: the mean over the questions' groups."""
        if self.oracle_kind == "oue":
            return self.oracle(share).variance(1)
        return sum(size * self.oracle(share, size).variance(1) for size in groups) / sum(groups)


@dataclass(frozen=True)
class BudgetDivision(Division):
    """Division by budget: all active users report, with the share's part of epsilon."""

    def report_epsilon(self, share: Units) -> float:
        """Compute share * epsilon, rounded down: a window's reports sum to at most epsilon exactly."""
        part = self.epsilon * (share / FULL)
        return math.nextafter(part, 0.0) if share < FULL else self.epsilon

    def arc(self, share: Units) -> Units | None:
        """Ask everybody: there is no arc."""
        return None

    def reporters(self, share: Units, n: int) -> int:
        """Count everybody."""
        return n


@dataclass(frozen=True)
class PopulationDivision(Division):
    """Division by population: the users whose phase lies in the next arc report, with the whole epsilon."""

    def report_epsilon(self, share: Units) -> float:
        """Give each report the whole epsilon."""
        return self.epsilon

    def arc(self, share: Units) -> Units | None:
        """Ask an arc of the length of the share."""
        return share

    def reporters(self, share: Units, n: int) -> int:
        """Compute the share of n, with the tolerance of the specification: floor(share n + 1e-6)."""
        return math.floor(share / FULL * n + 1e-6)


@dataclass(frozen=True)
class ExpectedVariance:
    """Expected noise variance of a publication's estimates, by its share and the number of active users.

    Attributes
    ----------
    division
        Division of the window.
    groups
        Number of groups of each question; the reporters are split over the questions.
    """

    division: Division
    groups: Sequence[int]

    @cached_property
    def _unit(self) -> Callable[[Units], float]:
        return lru_cache(maxsize=1024)(partial(self.division.unit_variance, groups=self.groups))

    def __call__(self, share: Units, n: int) -> float:
        """Compute the variance that ``share`` units buy among n active users (+inf if nobody is left)."""
        each = self.division.reporters(share, n) // len(self.groups)
        return self._unit(share) / each if each else math.inf


DIVISIONS: dict[str, type[BudgetDivision | PopulationDivision]] = {
    "budget": BudgetDivision,
    "population": PopulationDivision,
}
