"""Two meanings of a share of the window: a part of every user's epsilon, or a part of the users.

A mechanism is one strategy over shares; the division is a second, independent choice. Source: MTSP-LDP
§2.6, "population division is a general augmentation strategy".
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from mtsp_ldp.ledger import FULL
from mtsp_ldp.oracle import Oracle, OracleKind, choose_oracle


@dataclass(frozen=True)
class Division(ABC):
    """What a share buys.

    Attributes
    ----------
    epsilon
        Budget of the window.
    kind
        ``oue`` (the paper's), ``grr`` or ``adaptive`` (the better of the two for each question).
    """

    epsilon: float
    kind: OracleKind = "oue"

    @abstractmethod
    def report_epsilon(self, share: int) -> float:
        """Budget of each report that a share buys."""

    @abstractmethod
    def arc(self, share: int) -> int | None:
        """Length of the arc of users that is asked, in units; None asks everybody."""

    @abstractmethod
    def reporters(self, share: int, n: int) -> int:
        """Expected number of the n active users who are asked."""

    def oracle(self, share: int, groups: int = 2) -> Oracle:
        """The oracle with which the users of a share answer a question of so many groups."""
        return choose_oracle(self.kind, self.report_epsilon(share), groups)

    def variance(self, share: int, n: int, groups: Sequence[int]) -> float:
        """Expected noise variance of an estimate among n active users (+inf if nobody is left).

        Parameters
        ----------
        share
            Units of the window.
        n
            Active users.
        groups
            Groups of each question that the reporters share among them; the mean is over all groups.
        """
        each = self.reporters(share, n) // len(groups)
        if self.kind == "oue":
            return self.oracle(share).variance(each)
        noise = sum(size * self.oracle(share, size).variance(each) for size in groups)
        return noise / sum(groups)


@dataclass(frozen=True)
class BudgetDivision(Division):
    """All active users report, with the share's part of epsilon."""

    def report_epsilon(self, share: int) -> float:
        """Share * epsilon, rounded down: a window's reports sum to at most epsilon exactly."""
        part = self.epsilon * (share / FULL)
        return math.nextafter(part, 0.0) if share < FULL else self.epsilon

    def arc(self, share: int) -> int | None:
        """Everybody."""
        return None

    def reporters(self, share: int, n: int) -> int:
        """Everybody."""
        return n


@dataclass(frozen=True)
class PopulationDivision(Division):
    """The users whose phase lies in the next arc report, with the whole epsilon."""

    def report_epsilon(self, share: int) -> float:
        """All of it."""
        return self.epsilon

    def arc(self, share: int) -> int | None:
        """The share itself."""
        return share

    def reporters(self, share: int, n: int) -> int:
        """The share of n, with the tolerance of the specification: floor(share n + 1e-6)."""
        return math.floor(share / FULL * n + 1e-6)


DIVISIONS: dict[str, type[BudgetDivision | PopulationDivision]] = {
    "budget": BudgetDivision,
    "population": PopulationDivision,
}
