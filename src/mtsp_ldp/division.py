"""Two meanings of a share of the window: a part of every user's epsilon, or a part of the users.

A mechanism is one strategy over shares; the division is a second, independent choice. Source: MTSP-LDP
§2.6, "population division is a general augmentation strategy".
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from mtsp_ldp.ledger import FULL
from mtsp_ldp.oracle import OUE


@lru_cache(maxsize=4096)
def _oracle(epsilon: float) -> OUE:
    return OUE(epsilon)


class Division(Protocol):
    """What a share buys."""

    @property
    def epsilon(self) -> float:
        """Budget of the window."""
        ...

    def oracle(self, share: int) -> OUE:
        """The oracle with which the users of a share report."""
        ...

    def arc(self, share: int) -> int | None:
        """Length of the arc of users that is asked, in units; None asks everybody."""
        ...

    def variance(self, share: int, n: int, questions: int = 1) -> float:
        """Expected noise variance of one estimate among n active users (+inf if nobody is left)."""
        ...


@dataclass(frozen=True)
class BudgetDivision:
    """All active users report, with the share's part of epsilon."""

    epsilon: float

    def oracle(self, share: int) -> OUE:
        """OUE at share * epsilon, rounded down: a window's reports sum to at most epsilon exactly."""
        part = self.epsilon * (share / FULL)
        return _oracle(math.nextafter(part, 0.0) if share < FULL else self.epsilon)

    def arc(self, share: int) -> int | None:
        """Everybody."""
        return None

    def variance(self, share: int, n: int, questions: int = 1) -> float:
        """See `Division.variance`."""
        return self.oracle(share).variance(n // questions)


@dataclass(frozen=True)
class PopulationDivision:
    """The users whose phase lies in the next arc report, with the whole epsilon."""

    epsilon: float

    def oracle(self, share: int) -> OUE:
        """OUE at epsilon, whatever the share."""
        return _oracle(self.epsilon)

    def arc(self, share: int) -> int | None:
        """The share itself."""
        return share

    def variance(self, share: int, n: int, questions: int = 1) -> float:
        """See `Division.variance`; n users of whom a share is asked are floor(share n + 1e-6)."""
        return self.oracle(share).variance(math.floor(share / FULL * n + 1e-6) // questions)


DIVISIONS: dict[str, type[BudgetDivision | PopulationDivision]] = {
    "budget": BudgetDivision,
    "population": PopulationDivision,
}
