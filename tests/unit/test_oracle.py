import math

import numpy as np
import pytest
from scipy import stats

from mtsp_ldp.privacy.division import BudgetDivision, PopulationDivision
from mtsp_ldp.privacy.oracle import GRR, OUE, _flip, choose_oracle
from mtsp_ldp.privacy.units import FULL, Units


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf])
def test_a_budget_is_finite_and_positive(epsilon):
    with pytest.raises(ValueError, match="epsilon="):
        OUE(epsilon)


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, 1.0, 700.0])
def test_keeps_and_flips_with_the_stated_odds(epsilon):
    oracle = OUE(epsilon)
    odds = math.log(oracle.p / (1 - oracle.p)) - (math.log(oracle.q) - math.log1p(-oracle.q))
    assert odds == pytest.approx(epsilon, rel=1e-6)
    assert math.isfinite(oracle.variance(100))


def test_no_reports():
    assert OUE(1.0).variance(0) == math.inf
    with pytest.raises(ValueError, match="n="):
        OUE(1.0).variance(-1)
    with pytest.raises(ValueError, match=r"n=0.*at least 1 report"):
        OUE(1.0).estimate([0, 0], 0)


def test_inactive_users_send_nothing():
    reports = OUE(1e-6).perturb([-1, 2, -1], 4, np.random.default_rng(0))
    assert reports.shape == (3, 4)
    assert not reports[[0, 2]].any()


@pytest.mark.parametrize("cells", [[4], [-2], [[0, 1]]])
def test_refuses_cells_outside_the_domain(cells):
    with pytest.raises(ValueError, match="cells"):
        OUE(1.0).perturb(cells, 4, np.random.default_rng(0))


def test_both_realisations_have_the_law_of_exact_binomials():
    counts, epsilon, draws = np.array([30, 0, 10]), 0.7, 4000
    oracle, rng = OUE(epsilon), np.random.default_rng(7)
    cells = np.repeat(np.arange(3), counts)
    per_user = np.array([oracle.perturb(cells, 3, rng).sum(axis=0) for _ in range(draws)])
    aggregate = np.array([oracle.sample(counts, rng) for _ in range(draws)])
    support = np.arange(41)
    for cell, own in enumerate(counts):
        law = np.convolve(
            stats.binom.pmf(np.arange(own + 1), own, oracle.p),
            stats.binom.pmf(np.arange(41 - own), 40 - own, oracle.q),
        )
        for seen in (per_user[:, cell], aggregate[:, cell]):
            tally = np.bincount(seen, minlength=41)
            common = law * draws >= 5
            expected = np.r_[law[common], law[~common].sum()] * draws
            observed = np.r_[tally[support[common]], tally[~common].sum()]
            keep = expected > 0
            assert stats.chisquare(observed[keep], expected[keep]).pvalue > 1e-4


def test_estimate_is_unbiased_with_the_stated_variance():
    counts, oracle, rng = np.array([600, 300, 100]), OUE(1.0), np.random.default_rng(3)
    estimates = np.array([oracle.estimate(oracle.sample(counts, rng), 1000) for _ in range(20000)])
    variance = oracle.variance(1000) + counts / 1000 / 1000
    error = estimates.mean(axis=0) - counts / 1000
    assert (np.abs(error) < 4 * np.sqrt(variance / 20000)).all()
    np.testing.assert_allclose(estimates.var(axis=0), variance, rtol=4 * math.sqrt(2 / 20000))


def test_an_array_of_sizes_draws_several_questions_at_once():
    ones = OUE(800.0).sample([5, 0, 7], np.random.default_rng(0), [5, 5, 7])
    assert ones[1] == 0
    with pytest.raises(ValueError, match="counts"):
        OUE(1.0).sample([5], np.random.default_rng(0), 4)


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 9.0, 700.0])
def test_sixteen_bits_decide_and_a_tie_is_decided_by_the_rest(epsilon):
    q = OUE(epsilon).q
    whole, rest = divmod(q * 2**16, 1)

    class Script:
        """Every number of 16 bits once, then the uniform numbers beside the rest of the chance."""

        def integers(self, low, high, shape, dtype):
            assert (low, high, shape) == (0, 2**16, (1, 2**16))
            return np.arange(2**16, dtype=dtype)[None]

        def random(self, number):
            return np.full(number, self.uniform)

    script = Script()
    script.uniform = math.nextafter(rest, 0)
    below = OUE(epsilon).perturb([0], 2**16, script)[0, 1:].sum()
    script.uniform = rest
    above = OUE(epsilon).perturb([0], 2**16, script)[0, 1:].sum()
    # the user's own bit, number 0, is no matter of q
    assert above == max(whole - 1, 0)
    assert below == above + (whole >= 1)


@pytest.mark.parametrize("chance", [0.3, 2**-17, 1 - 2**-17, 1e-3])
def test_a_flip_has_its_chance(chance):
    draws = 4_000_000
    seen = _flip(chance, (1, draws), np.random.default_rng(5)).sum()
    assert abs(seen - draws * chance) < 4 * math.sqrt(draws * chance * (1 - chance))


def test_grr_refuses_what_it_cannot_give_exactly():
    """The chance of another group, as a comparison with 53 random bits gives it, against the formula."""
    for d in (2, 3, 64):
        limit = np.log(d / (2.0**-51 / 1e-9))
        near = limit - np.geomspace(1e-6, 1, 2000)
        for epsilon in [*np.linspace(0.1, limit - 1e-6, 40), *near]:
            given = np.ceil(GRR(epsilon, d).gap * 2.0**53) / 2.0**53  # of random() < gap
            wanted = d * math.exp(-epsilon) / (1 + (d - 1) * math.exp(-epsilon))
            assert (1 - given) / wanted == pytest.approx(1, abs=1e-9)
        with pytest.raises(ValueError, match=rf"epsilon=.*: must be at most {limit:.4g} for GRR"):
            GRR(limit + 1e-3, d)
    assert isinstance(choose_oracle("adaptive", 15.0, 2), GRR)
    assert isinstance(choose_oracle("adaptive", 16.0, 2), OUE)
    with pytest.raises(ValueError, match=r"epsilon=16\.0: must be at most"):
        PopulationDivision(16.0, "grr").oracle(FULL, 2)
    assert isinstance(BudgetDivision(16.0, "grr").oracle(Units(FULL // 2), 2), GRR)  # its reports have less


@pytest.mark.parametrize(("epsilon", "d"), [(1.0, 2), (5.0, 8), (8.0, 2)])
def test_grrs_aggregate_has_the_law_of_its_reports(epsilon, d):
    oracle, rng, draws = GRR(epsilon, d), np.random.default_rng(2), 4000
    counts = rng.integers(0, 30, d)
    held = np.repeat(np.arange(d), counts)
    ours = np.array([oracle.sample(counts, rng) for _ in range(draws)])
    theirs = np.array([oracle.perturb(held, d, rng).sum(axis=0) for _ in range(draws)])
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / draws) + 1e-12
    wanted = counts * oracle.gap + counts.sum() * oracle.q
    rare = counts.sum() * oracle.q / 10  # where hardly a report differs, a few draws decide
    assert (np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) < 5 * error + rare).all()
    assert (np.abs(ours.mean(axis=0) - wanted) < 5 * error + rare).all()
