"""Frequency oracles: optimised unary encoding (OUE), and randomised response (GRR) as an extension.

Two realisations with the same law: per user (``perturb``: what a deployment sends) and aggregate
(``sample``: two binomials per cell, whatever the number of users). Estimates are raw: never clipped,
never normalised. Source: Wang et al. 2017; MTSP-LDP §2.3.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import FloatArray, IntArray
from mtsp_ldp.foundation.numbers import integers

OracleKind = Literal["oue", "grr", "adaptive"]
_LEAST_CHANCE = 2.0**-51 / 1e-9
"""Chances below this are not exact to a relative 1e-9 with uniform numbers of 53 bits."""
_USERS_AT_ONCE = 1024  # whose uniform numbers stay in a processor's cache


@dataclass(frozen=True)
class OUE:
    """OUE at one privacy budget.

    Parameters
    ----------
    epsilon
        Budget of one report; finite and above 0.

    Attributes
    ----------
    p
        Probability that the user's own bit stays 1.
    one_hot
        True if a report names exactly one group, so that estimates sum to 1 by themselves.

    Raises
    ------
    ValueError
        If epsilon is not finite or not positive.
    """

    epsilon: float
    p: ClassVar[float] = 0.5
    one_hot: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_budget(self.epsilon)

    @cached_property
    def q(self) -> float:
        """Probability that another bit becomes 1: 1 / (e^epsilon + 1)."""
        return math.exp(-self.epsilon) / (1.0 + math.exp(-self.epsilon))

    @cached_property
    def gap(self) -> float:
        """P - q, without cancellation at a small epsilon."""
        return 0.5 * math.tanh(self.epsilon / 2)

    @cached_property
    def _unit_variance(self) -> float:
        # 4 e^-eps / (1 - e^-eps)^2: the textbook form times e^-2eps, finite at 1e-6 and at 800
        return 4.0 * math.exp(-self.epsilon) / math.expm1(-self.epsilon) ** 2

    def variance(self, n: float) -> float:
        """Compute the noise variance of one frequency estimated from n reports (+inf for n = 0).

        The data's own share of it, f / n, is left out as in the paper (MTSP-LDP §2.3).
        """
        return _per_report(self._unit_variance, n)

    def perturb(self, cells: npt.ArrayLike, d: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Perturb each user's cell into one report.

        Parameters
        ----------
        cells
            Each user's cell, ``(n,)``; -1 is an inactive user, who sends nothing (all False).
        d
            Number of cells.
        rng
            Private coins.

        Returns
        -------
        BoolArray
            Perturbed bits, ``(n, d)``.
        """
        truth = integers("cells", cells)
        if truth.ndim != 1 or (truth.size and (truth.min() < -1 or truth.max() >= d)):
            raise ValueError(f"cells: must be a vector of values in -1..{d - 1}")
        reports = np.empty((truth.size, d), dtype=bool)
        for start in range(0, truth.size, _USERS_AT_ONCE):
            mine = truth[start : start + _USERS_AT_ONCE]
            bits = _flip(self.q, (mine.size, d), rng)
            active = np.flatnonzero(mine >= 0)
            bits[active, mine[active]] = rng.random(active.size) < self.p
            bits[mine < 0] = False
            reports[start : start + mine.size] = bits
        return reports

    def sample(
        self, counts: npt.ArrayLike, rng: np.random.Generator, n: int | IntArray | None = None
    ) -> IntArray:
        """Draw the number of ones per position, exact in law for users whose cells have these counts.

        Parameters
        ----------
        counts
            Users per position, ``(g,)``.
        rng
            Private coins.
        n
            Users who report at each position; their sum ``counts.sum()`` by default. An array lets
            several questions be drawn at once.
        """
        truth = np.asarray(counts, dtype=np.int64)
        asked = truth.sum() if n is None else n
        try:  # numpy refuses negative numbers
            ones: IntArray = rng.binomial(truth, self.p)
            ones += rng.binomial(asked - truth, self.q)
        except ValueError:
            raise ValueError("counts: must be in 0..n, the number of users who report") from None
        return ones

    def estimate(self, ones: npt.ArrayLike, n: int) -> FloatArray:
        """Estimate unbiased frequencies (raw: may be negative or above 1) from the ones of n reports.

        Raises
        ------
        ValueError
            If n is 0 or less: there is no estimate.
        """
        return _unbiased(ones, n, self.q, self.gap)


@dataclass(frozen=True)
class GRR:
    """Generalised randomised response over d groups: the truth with odds e^epsilon against each other group.

    An extension here, better than OUE where d < 3 e^epsilon + 2. See `OUE` for the methods' arguments.
    """

    epsilon: float
    d: int
    one_hot: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_budget(self.epsilon)
        if self.d < 1:
            raise ValueError(f"d={self.d!r}: must be at least one group")
        if not is_exact(self.epsilon, self.d):
            most = math.log(self.d / _LEAST_CHANCE)
            raise ValueError(
                f"epsilon={self.epsilon!r}: must be at most {most:.4g} for GRR over {self.d} groups; "
                "beyond, its chances are not exact to 1e-9"
            )

    @cached_property
    def _others(self) -> float:
        return 1.0 + (self.d - 1) * math.exp(-self.epsilon)

    @cached_property
    def p(self) -> float:
        """Probability that the truth is reported."""
        return 1.0 / self._others

    @cached_property
    def q(self) -> float:
        """Probability that one given other group is reported."""
        return math.exp(-self.epsilon) / self._others

    @cached_property
    def gap(self) -> float:
        """P - q: the share of reports that keep the truth; the others are uniform over all d groups."""
        return -math.expm1(-self.epsilon) / self._others

    def variance(self, n: float) -> float:
        """Compute the noise variance of one small frequency estimated from n reports (+inf for n = 0)."""
        return _per_report(self.q * (1 - self.q) / self.gap**2, n)

    def perturb(self, cells: npt.ArrayLike, d: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Perturb each user's group into one report, one-hot, ``(n, d)``; a group of -1 sends nothing."""
        truth = integers("cells", cells)
        if truth.ndim != 1 or d != self.d or (truth.size and (truth.min() < -1 or truth.max() >= d)):
            raise ValueError(f"cells: must be a vector of values in -1..{self.d - 1}")
        keeps = rng.random(truth.size) < self.gap
        reported = np.where(keeps, truth, rng.integers(0, d, truth.size))
        reports = np.zeros((truth.size, d), dtype=bool)
        active = np.flatnonzero(truth >= 0)
        reports[active, reported[active]] = True
        return reports

    def sample(self, counts: npt.ArrayLike, rng: np.random.Generator, n: int | None = None) -> IntArray:
        """Draw the number of reports per group, exact in law, in O(d); all n users are in a group."""
        truth = np.asarray(counts, dtype=np.int64)
        if n is not None and n != truth.sum():
            raise ValueError(f"n={n!r}: must be {truth.sum()}, the users who are in a group")
        kept = rng.binomial(truth, self.gap)
        spread = rng.multinomial(int((truth - kept).sum()), np.full(self.d, 1.0 / self.d))
        return np.asarray(kept + spread)

    def estimate(self, ones: npt.ArrayLike, n: int) -> FloatArray:
        """Estimate unbiased raw frequencies from n reports."""
        return _unbiased(ones, n, self.q, self.gap)


Oracle = OUE | GRR


def is_exact(epsilon: float, d: int) -> bool:
    """Tell whether uniform numbers of 53 bits give GRR's chance of another group to a relative 1e-9.

    The chance that a report does not keep the truth is about d e^-epsilon. It is 1 - `GRR.gap`, and is off by
    less than 2^-51: two roundings of numbers next to 1, that of their quotient, and that of a comparison with
    a multiple of 2^-53.
    """
    return d == 1 or d * math.exp(-epsilon) >= _LEAST_CHANCE


@lru_cache(maxsize=8192)
def choose_oracle(kind: OracleKind, epsilon: float, groups: int) -> Oracle:
    """Choose the oracle for a question of so many groups.

    ``adaptive`` takes GRR where groups < 3 e^epsilon + 2, as far as GRR is exact.
    """
    if kind == "grr":
        return GRR(epsilon, groups)
    better = kind == "adaptive" and is_exact(epsilon, groups) and groups < 3 * math.exp(epsilon) + 2
    return GRR(epsilon, groups) if better else OUE(epsilon)


def _flip(chance: float, shape: tuple[int, int], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Draw bits of this probability: compare 16 random bits with its first 16; break ties with 53 more."""
    scaled = chance * (1 << 16)
    whole = int(scaled)
    drawn = rng.integers(0, 1 << 16, shape, dtype=np.uint16)
    true, tied = drawn < whole, drawn == whole
    true[tied] = rng.random(np.count_nonzero(tied)) < scaled - whole
    return true


def _check_budget(epsilon: float) -> None:
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon={epsilon!r}: a report's budget must be finite and above 0")


def _per_report(unit: float, n: float) -> float:
    if not (math.isfinite(n) and n >= 0):
        raise ValueError(f"n={n!r}: a number of reports must be finite and at least 0")
    return unit / n if n else math.inf


def _unbiased(ones: npt.ArrayLike, n: int, q: float, gap: float) -> FloatArray:
    if not n > 0:
        raise ValueError(f"n={n!r}: must be at least 1 report for an estimate")
    estimates: FloatArray = (np.asarray(ones) - n * q) / (n * gap)
    return estimates
