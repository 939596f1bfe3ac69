import numpy as np
import pytest
from scipy import stats

from mtsp_ldp import Stream, privacy_spend, simulate
from mtsp_ldp.foundation.projection import refine
from mtsp_ldp.mechanisms.mtsp.allocation import OptimalAllocation
from mtsp_ldp.mechanisms.mtsp.smoothing import NodeGroups
from mtsp_ldp.mechanisms.options import check_options
from mtsp_ldp.mechanisms.registry import find
from mtsp_ldp.privacy.oracle import GRR, OUE, choose_oracle
from mtsp_ldp.privacy.survey import Answer
from mtsp_ldp.privacy.units import FULL

RNG = np.random.default_rng(2)
STREAM = Stream.from_counts(RNG.integers(0, 400, (30, 6)))
OPTIONS = [
    {"structure": "full"},
    {"structure": "fused"},
    {"threshold": "score"},
    {"threshold_factor": 1.0},
    {"grouping": "none"},
    {"grouping": "predictive"},
    {"grouping_window": 3},
    {"grouping_tolerance": 2.0},
    {"smoothing": "median"},
    {"smoothing": "inverse_variance"},
    {"allocation": "oba_shrunk"},
    {"allocation": "distribution"},
    {"allocation": "absorption"},
    {"minimum_share": 0.05},
    {"consistency": True},
    {"initial": "uniform"},
    {"noise": "exact"},
    {"oracle": "grr"},
    {"oracle": "adaptive"},
]


@pytest.mark.parametrize("option", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["mtsp_budget", "mtsp_population"])
def test_every_option_keeps_the_guarantee(name, option):
    release = simulate(STREAM, name, epsilon=2.0, window=5, **option)
    assert np.isfinite(release.frequencies).all()
    assert privacy_spend(STREAM, name, epsilon=2.0, window=5, **option) <= 2.0


@pytest.mark.parametrize(
    ("name", "option", "message"),
    [
        ("mtsp_budget", {"structure": "deep"}, "structure='deep': must be one of full"),
        ("mtsp_budget", {"grouping_window": 1}, "grouping_window=1"),
        ("mtsp_budget", {"minimum_share": 0.7}, "minimum_share=0.7"),
        ("lpa", {"minimum_share": -1}, "minimum_share=-1"),
        ("lpa", {"structure": "full"}, "lpa.structure"),
        ("lbu", {"oracle": "olh"}, "lbu.oracle='olh': must be one of oue"),
        ("zero", {"noise": "exact"}, "zero.noise"),
        ("lsp", {"phase": 5}, "phase=5"),
    ],
)
def test_a_bad_option_is_refused(name, option, message):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        simulate(STREAM, name, epsilon=1.0, window=5, **option)


def test_a_minimum_share_refuses_scraps():
    small = simulate(STREAM, "lbd", epsilon=5.0, window=10).trace["share_2"].to_numpy()
    large = simulate(STREAM, "lbd", epsilon=5.0, window=10, minimum_share=0.1).trace["share_2"].to_numpy()
    assert (small[small > 0] < 0.1).any()
    assert (large[large > 0] >= 0.1 - 1e-9).all()


def test_shrunken_allocation_publishes_only_above_the_noise_of_what_is_left():
    """Planned with half of the window, but only a quarter is left, whose noise is above the dissimilarity."""

    def variance(share):
        return 0.2 if share >= FULL // 2 else 2.0

    chosen = {}
    for shrunk in (True, False):
        allocation = OptimalAllocation(4, shrunk=shrunk)
        allocation.choose(0, 0.0, 0.0, variance)
        allocation.record(0, FULL // 4)
        chosen[shrunk] = allocation.choose(1, 1.0, 0.0, variance)
    assert chosen == {True: (1, 0), False: (1, FULL // 4)}


@pytest.mark.parametrize("name", ["mtsp_budget", "mtsp_population"])
def test_consistency_changes_what_is_released_and_no_decision(name):
    rng = np.random.default_rng(3)
    data = Stream.from_counts(rng.integers(0, 4000, (60, 9)))
    raw, consistent = (
        simulate(data, name, epsilon=2.0, window=8, consistency=value) for value in (False, True)
    )
    assert raw.trace.equals(consistent.trace)
    assert raw.trace["published"].sum() > 5
    assert not np.allclose(raw.versions[1:], consistent.versions[1:])
    refined = refine(raw.tree, raw.versions[1:], raw.variances[1:], raw.copied[1:])
    np.testing.assert_allclose(consistent.versions[1:], refined, atol=1e-12)


def test_shrunken_allocation_is_silent_on_noise():
    shrunk, plain = (OptimalAllocation(10, shrunk=shrunk) for shrunk in (True, False))
    published = {shrunk: 0, plain: 0}
    for t, gap in enumerate(RNG.normal(0, 1.0, 500)):
        for rule in published:
            _, share = rule.choose(t, gap, 1.0, lambda share: 0.2)
            published[rule] += share > 0
            if share:
                rule.record(t, share)
    assert published[shrunk] < published[plain] / 10


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_grr_has_its_law(epsilon):
    counts, rng, draws = np.array([40, 10, 0, 25]), np.random.default_rng(1), 4000
    oracle = GRR(epsilon, 4)
    assert np.log(oracle.p / oracle.q) == pytest.approx(epsilon)
    cells = np.repeat(np.arange(4), counts)
    aggregate = np.array([oracle.sample(counts, rng) for _ in range(draws)])
    per_user = np.array([oracle.perturb(cells, 4, rng).sum(axis=0) for _ in range(draws)])
    assert (aggregate.sum(axis=1) == 75).all()
    for cell in range(4):
        assert stats.ks_2samp(aggregate[:, cell], per_user[:, cell]).pvalue > 1e-4
    estimates = oracle.estimate(aggregate, 75)
    spread = estimates.std(axis=0) / np.sqrt(draws)
    assert (np.abs(estimates.mean(axis=0) - counts / 75) < 4 * spread).all()
    assert estimates[:, 2].var() == pytest.approx(oracle.variance(75), rel=0.1)


def test_the_adaptive_oracle_takes_the_better():
    assert isinstance(choose_oracle("adaptive", 1.0, 10), GRR)
    assert isinstance(choose_oracle("adaptive", 1.0, 11), OUE)
    assert isinstance(choose_oracle("oue", 1.0, 2), OUE)
    assert GRR(1.0, 10).variance(1) < OUE(1.0).variance(1) < GRR(1.0, 11).variance(1)


def test_the_exact_noise_is_unbiased():
    counts, n, m, rng = np.array([600, 300, 100]), 1000, 200, np.random.default_rng(4)
    oracle, found, estimates = OUE(1.0), [], []
    for _ in range(4000):
        part = rng.multivariate_hypergeometric(counts, m)
        ones = oracle.sample(part, rng)
        estimate = oracle.estimate(ones, m)
        answer = Answer(estimate, m, oracle.variance(m), n, oracle, ones)
        found.append(answer.exact_variances())
        estimates.append(estimate)
    np.testing.assert_allclose(np.mean(found, axis=0), np.var(estimates, axis=0), rtol=0.1)


def release(signal, noise, seeds, grouping, **options):
    """Group starts after the first value, ``(T - 1, seeds)``, for seeds copies of a signal."""
    groups = NodeGroups(seeds, grouping, **options)
    rng, starts = np.random.default_rng(9), []
    for value in signal:
        groups.add(value + rng.normal(0, noise, seeds), np.full(seeds, noise**2))
        starts.append(groups.age == 1)
    return np.array(starts)[1:]


@pytest.mark.parametrize(("before", "variance", "predictive"), [(10, 0.89, 0.96), (50, 0.04, 0.97)])
def test_power_against_a_jump_of_five_sigma(before, variance, predictive):
    signal = np.r_[np.zeros(before), 5.0]
    for grouping, wanted in (("variance", variance), ("predictive", predictive)):
        starts = release(signal, 1.0, 4000, grouping)
        assert starts[-1].mean() == pytest.approx(wanted, abs=0.04)


def test_a_window_keeps_the_variance_test_awake():
    signal = np.r_[np.zeros(50), 5.0]
    assert release(signal, 1.0, 2000, "variance", window=10)[-1].mean() > 0.8


def test_smoothing_over_a_window():
    for smoothing, wanted in (("mean", 3.0), ("median", 3.0), ("inverse_variance", 3.0)):
        groups = NodeGroups(1, "variance", smoothing, tolerance=1e9, window=3)
        for value in (100.0, 2.0, 3.0, 4.0):
            released, variance, _ = groups.add(np.array([value]), np.array([1.0]))
        assert released[0] == pytest.approx(wanted)
        assert variance[0] == pytest.approx({"median": np.pi / 6}.get(smoothing, 1 / 3))


def test_a_value_that_fits_no_part_of_a_union_is_named_once():
    with pytest.raises(ValueError, match=r"^lsp\.phase=True: must be one of random, or an integer$"):
        check_options(find("lsp"), {"phase": True})
