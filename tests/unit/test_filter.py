"""MTSP-F against dense Gaussian algebra, numerical integrals, simulated reports, and its own promises."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import integrate, stats

from mtsp_ldp import Stream, simulate
from mtsp_ldp.mechanisms.mtsp_filter.filter import FLOOR, Filter
from mtsp_ldp.mechanisms.mtsp_filter.models import make_bank
from mtsp_ldp.mechanisms.mtsp_filter.queries import JUMP_CAUTION, OpenWindows, WindowPosterior
from mtsp_ldp.mechanisms.mtsp_filter.regressors import Activity, season
from mtsp_ldp.mechanisms.mtsp_filter.release import MEANS, Shrinkage
from mtsp_ldp.mechanisms.mtsp_filter.report import observe
from mtsp_ldp.mechanisms.mtsp_filter.weights import ModelWeights
from mtsp_ldp.mechanisms.posterior import Windows
from mtsp_ldp.privacy.oracle import GRR, OUE
from mtsp_ldp.privacy.population import answer_from
from mtsp_ldp.releases.events import flags
from mtsp_ldp.releases.windows import Estimate, PeriodQuery


def moving(d=5, length=40, users=20000, seed=3):
    """A stream whose cells drift, and whose activity has a rhythm."""
    rng = np.random.default_rng(seed)
    level = np.exp(np.cumsum(rng.normal(0, 0.1, (length, d)), axis=0) + rng.normal(0, 1, d))
    active = users * (0.6 + 0.3 * np.sin(np.arange(length) / 3))
    counts = np.floor(active[:, None] * level / level.sum(axis=1, keepdims=True)).astype(int)
    return Stream.from_counts(counts, population=users)


def answers_of(stream, epsilon=1.0, window=4, oracle=OUE, seed=0):
    """Answers as population division gives them, of users drawn without replacement."""
    rng = np.random.default_rng(seed)
    found = []
    for counts in stream.counts:
        asked = rng.multivariate_hypergeometric(counts, int(counts.sum()) // window)
        one = oracle(epsilon) if oracle is OUE else oracle(epsilon, stream.d)
        found.append(answer_from(one, one.sample(asked, rng), int(asked.sum()), int(counts.sum())))
    return found


class Dense:
    """One model of one cell as one large Gaussian: every f_t and every report, side by side."""

    def __init__(self, prior, noises, damping, h):
        size, length = len(prior), len(h)
        step = np.eye(size) if damping is None else np.array([[1, damping], [0, damping]])
        start = np.zeros((size, size * (length + 1)))
        start[:, :size] = np.diag(np.sqrt(prior))
        rows, state = [], start
        for t in range(length):
            state = step @ state
            fresh = slice(size * (t + 1), size * (t + 2))
            state[:, fresh] += np.diag(np.sqrt(noises[t]))
            rows.append(h[t] @ state)
        self.factors = np.array(rows)  # f = mean + factors @ independent standard normals
        self.covariance = self.factors @ self.factors.T

    def given(self, mean, reports, variances, weights):
        """Mean and variance of the weighted sum of f_0 … f_t given reports 0 … t."""
        t = len(reports)
        prior = self.covariance[:t, :t]
        gain = weights @ prior @ np.linalg.inv(prior + np.diag(variances))
        return weights @ mean[:t] + gain @ (reports - mean[:t]), weights @ prior @ weights - gain @ (
            prior @ weights
        )


@pytest.fixture(scope="module")
def followed():
    """A filter's run with all that a dense computation needs, and windows that it followed."""
    stream = moving()
    d, length, span = stream.d, stream.length, 6
    weights = np.random.default_rng(8).normal(0, 1, (length - span + 1, span))
    filtered = Filter(d, period=9)
    windows = OpenWindows(filtered.bank, np.arange(d), [weights], length - 1)
    activity, record = Activity(), []
    for t, answer in enumerate(answers_of(stream)):
        scale = np.maximum(filtered.level, FLOOR / d)
        n = int(stream.active[t])
        before = [kind.mean.copy() for kind in filtered.bank]
        filtered.step(t, n, None if t == 7 else answer)  # once nobody answers
        hs = [np.ones(1), activity.at(n), np.array([1.0, 0.0]), season(t, 9)]
        values, variance = np.zeros(d), np.full(d, 1e12)
        if filtered.innovation is not None:
            error, total = filtered.innovation
            predicted = np.concatenate(
                [kind_mean(kind, old, h) for kind, old, h in zip(filtered.bank, before, hs, strict=True)]
            )
            values = (error + predicted)[0]
            variance = (total - np.concatenate([kind.variance for kind in filtered.bank]))[0]
        closed = windows.follow(t, filtered)
        closed = closed[0][2] if closed else None
        record.append((scale, hs, values, variance, closed, filtered.believed, filtered.by_model))
    return d, weights, record


def kind_mean(kind, old, h):
    """The prediction h · F x of every model of a kind."""
    moved = old.copy()
    kind.move(moved)
    return np.einsum("s,skd->kd", h, moved)


def dense_models(d, record):
    """Every model of the bank as a `Dense`, cell by cell, in the bank's order."""
    for number, kind in enumerate(make_bank(d, seasonal=True)):
        prior, noise, damping = kind.covariance, kind._noise[..., 0], kind.damping
        for model in range(kind.mean.shape[1]):
            phi = None if damping is None else float(damping[model, 0])
            for cell in range(d):
                noises = [noise[:, model] * step[0][cell] for step in record]
                h = [step[1][number] for step in record]
                own = np.diag(prior[:, :, model, cell])
                yield cell, Dense(own, noises, phi, h), np.array([one[0] / d for one in h])


@pytest.mark.parametrize("t", [0, 5, 12, 39])
def test_the_filter_and_its_windows_are_the_posterior_of_one_large_gaussian(followed, t):
    d, weights, record = followed
    span = weights.shape[1]
    reports = np.array([step[2] for step in record])[: t + 1]
    variances = np.array([step[3] for step in record])[: t + 1]
    level, window = [], []
    for cell, model, mean in dense_models(d, record):
        last = np.zeros(t + 1)
        last[-1] = 1
        level.append(model.given(mean, reports[:, cell], variances[:, cell], last))
        if t >= span - 1:
            last[-span:] = weights[t - span + 1]
            window.append(model.given(mean, reports[:, cell], variances[:, cell], last))
    means, spreads = np.array(level).T.reshape(2, -1, d)
    assert record[t][6][0] == pytest.approx(means, rel=1e-6, abs=1e-9)
    assert record[t][6][1] == pytest.approx(spreads, rel=1e-5, abs=1e-12)
    if t >= span - 1:
        believed, closed = record[t][5], record[t][4]
        means, spreads = np.array(window).T.reshape(2, -1, d)
        centre = (believed * means).sum(axis=0)
        assert closed.mean == pytest.approx(centre, rel=1e-5, abs=1e-9)
        spread = (believed * (spreads + (means - centre) ** 2)).sum(axis=0)
        assert closed.variance == pytest.approx(spread, rel=1e-4, abs=1e-12)
    else:
        assert record[t][4] is None


@pytest.mark.parametrize("oracle", [OUE, GRR])
def test_a_report_has_the_variance_that_it_is_given(oracle):
    counts = np.array([[700, 200, 100]] * 4000)
    shares = counts[0] / 1000
    seen = [
        observe(one, shares, sums_to_one=True)
        for one in answers_of(Stream.from_counts(counts), oracle=oracle)
    ]
    gaps = np.array([one.values for one in seen]) - shares
    ratio = (gaps**2).mean(axis=0) / seen[0].variances
    assert np.abs(ratio - 1).max() < 4 * np.sqrt(2 / 4000)  # of a chi-square over 4,000 reports
    assert np.abs(gaps.mean(axis=0)).max() < 4 * np.sqrt(seen[0].variances.max() / 4000)
    assert np.array([one.values.sum() for one in seen]) == pytest.approx(1)


def test_the_sum_is_used_once_and_only_where_it_is_known():
    counts = np.array([[700, 200, 100]])
    (unary,) = answers_of(Stream.from_counts(counts))
    (one_hot,) = answers_of(Stream.from_counts(counts), oracle=GRR)
    shares = counts[0] / 1000
    free = observe(unary, shares, sums_to_one=False)
    assert np.array_equal(free.values, unary.estimates)
    assert (observe(unary, shares, sums_to_one=True).variances < free.variances).all()
    for known in (True, False):
        assert np.array_equal(observe(one_hot, shares, sums_to_one=known).values, one_hot.estimates)


def test_weights_are_likelihoods_times_a_prior_that_cells_share():
    rng = np.random.default_rng(2)
    error, total = rng.normal(0, 1, (3, 50)), np.array([0.3, 1.0, 4.0])[:, None] + np.zeros(50)
    weights = ModelWeights(3, 50)
    joint = weights.learn(error, total)
    likelihood = stats.norm.pdf(error, scale=np.sqrt(total))
    wanted = likelihood * weights.shared[:, None]
    assert joint == pytest.approx(wanted / wanted.sum(axis=0))
    own = likelihood / likelihood.sum(axis=0)
    assert weights.own == pytest.approx(0.998 * own + 0.002 / 3)
    for _ in range(200):
        weights.learn(rng.normal(0, 1, (3, 50)), total)
    assert np.median(weights.joint[1]) > 0.99  # the model whose variance is right
    weights.learn(np.full((3, 50), 1e3), total)  # no likelihood underflows to a weight of nothing
    assert np.isfinite(weights.joint).all()


def test_shrinkage_is_the_posterior_mean_under_the_mixture():
    d = 32
    shrinkage = Shrinkage(d)
    level = np.concatenate([np.full(24, 0.002), np.full(8, 0.12)])
    variance = np.linspace(1e-6, 4e-4, d)
    for _ in range(30):
        shrinkage.learn(level, variance)
    assert shrinkage.mixture.sum() == pytest.approx(1)
    mean, spread = shrinkage.shrink(level, variance)
    scales = MEANS / d
    for cell in (0, 10, 23, 31):

        def density(f, cell=cell):
            prior = (shrinkage.mixture / scales * np.exp(-f / scales)).sum()
            return prior * stats.norm.pdf(level[cell], f, np.sqrt(variance[cell]))

        edge = level[cell] + 12 * np.sqrt(variance[cell])
        points = [max(level[cell], 0.0)]
        moments = [
            integrate.quad(lambda f, k=k: f**k * density(f), 0, edge, points=points, limit=400)[0]
            for k in range(3)
        ]
        centre = moments[1] / moments[0]
        factor = 1.5 if centre > 1 / d else 1.0
        assert mean[cell] == pytest.approx(centre, rel=1e-6)
        assert spread[cell] == pytest.approx(factor * (moments[2] / moments[0] - centre**2), rel=1e-4)


def test_few_cells_are_not_shrunk():
    level, variance = np.array([0.9, 0.1]), np.array([1e-4, 1e-4])
    for mean, spread in (Shrinkage(2).learn(level, variance), Shrinkage(2).shrink(level, variance)):
        assert (mean == level).all()
        assert (spread == variance).all()


def test_a_window_of_one_timestamp_is_the_release_and_all_windows_are_on_the_simplex():
    stream = moving(d=20)
    release = simulate(stream, "mtsp_filter", epsilon=1.0, window=4)
    (one,) = release.posterior.moments([Windows(np.ones((stream.length, 1)))])
    assert np.array_equal(one.mean, release.frequencies)
    assert one.variance == pytest.approx(release.variances[release.which])
    every = np.arange(20)
    (sums,) = release.answer([PeriodQuery(every, every, 5)])
    users = np.lib.stride_tricks.sliding_window_view(release.active, 5).sum(axis=1)
    assert sums.values.sum(axis=1) == pytest.approx(users)
    assert (sums.values >= 0).all()
    assert (sums.variances > 0).all()
    whole = release.range_counts([0], [19], 5)
    assert whole[:, 0] == pytest.approx(users)


def test_answers_do_not_depend_on_what_else_is_asked():
    stream = moving(d=20)
    release = simulate(stream, "mtsp_filter", epsilon=1.0, window=4)
    three, nine = (np.array([cell]) for cell in (3, 9))
    asked = [
        PeriodQuery(three, three, 4),
        PeriodQuery(three, three, 3, change=True),
        PeriodQuery(three, nine, 3, change=True, relative=True),
    ]
    alone = [release.answer([one])[0] for one in asked]
    for one, other in zip(alone, release.answer(asked), strict=True):
        assert np.array_equal(one.values, other.values)
        assert one.variances == pytest.approx(other.variances, rel=1e-12)


def test_the_posterior_is_what_open_windows_followed_with_caution_for_differences():
    stream, answers = moving(), answers_of(moving())
    posterior = WindowPosterior(
        lambda: (Filter(5, 0), Shrinkage(5)), lambda values: values, answers, stream.active.tolist()
    )
    weights = np.lib.stride_tricks.sliding_window_view(stream.active.astype(float), 4) * [-1, -1, 1, 1]
    (known,) = posterior.moments([Windows(weights, np.array([2, 4]))])
    filtered = Filter(5, 0)
    windows, found = OpenWindows(filtered.bank, np.array([2, 4]), [weights], stream.length - 1), []
    for t, (n, answer) in enumerate(zip(stream.active.tolist(), answers, strict=True)):
        filtered.step(t, n, answer)
        found += [moments for *_, moments in windows.follow(t, filtered)]
    assert np.array_equal(known.mean, [one.mean for one in found])
    assert known.variance == pytest.approx(JUMP_CAUTION * np.array([one.variance for one in found]))


def test_a_delayed_release_is_the_posterior_given_later_reports():
    stream = moving(d=20)
    now, later = (
        simulate(stream, "mtsp_filter", epsilon=1.0, window=4, lag=lag, repetition=3) for lag in (0, 2)
    )
    wait = np.tile([1.0, 0.0, 0.0], (stream.length - 2, 1))
    (waited,) = now.posterior.moments([Windows(wait)])
    assert later.frequencies[:-2] == pytest.approx(waited.mean, abs=1e-12)
    assert np.array_equal(later.frequencies[-1], now.frequencies[-1])
    errors = [((one.frequencies - stream.frequencies) ** 2).mean() for one in (later, now)]
    assert errors[0] < errors[1]
    cell = np.array([7])
    (sums,) = later.answer([PeriodQuery(cell, cell, 2)])
    n = stream.active.astype(float)
    weights = np.lib.stride_tricks.sliding_window_view(n, 2) / np.convolve(n, [1, 1], "valid")[:, None]
    longer = np.hstack([weights[:-2], np.zeros((stream.length - 3, 2))])
    (waited,) = now.posterior.moments([Windows(longer)])
    assert sums.values[:-2, 0] == pytest.approx(waited.mean[:, 7] * np.convolve(n, [1, 1], "valid")[:-2])


def test_the_clock_is_that_of_the_stream_where_timestamps_are_left_out():
    answers = answers_of(moving(length=12))
    gaps, whole, late = (Filter(5, period=7) for _ in range(3))
    for t, answer in enumerate(answers):
        if t not in (3, 4, 9):
            gaps.step(t, 20000, answer)
        whole.step(t, 20000, None if t in (3, 4, 9) else answer)
    assert np.array_equal(gaps.level, whole.level)
    assert np.array_equal(gaps.variance, whole.variance)
    late.step(2**31 - 1, 20000, answers[0])  # at once, however long nobody asked
    assert np.isfinite(late.level).all()


def test_where_nobody_is_asked_the_prediction_is_released():
    counts = moving(d=20, length=20).counts.copy()
    counts[8:11] = 0
    counts[0] = 0
    release = simulate(Stream.from_counts(counts, population=20000), "mtsp_filter", epsilon=1.0, window=4)
    assert release.frequencies[0] == pytest.approx(np.full(20, 0.05))
    assert release.trace["published"].all()
    assert (release.trace["share_2"].to_numpy() > 0).tolist() == (counts.sum(axis=1) > 0).tolist()
    assert release.variances[9:12].mean() > release.variances[8].mean()
    (sums,) = release.answer([PeriodQuery(np.arange(20), np.arange(20), 3)])
    assert (sums.values[8] == 0).all()  # nobody is there in the whole period
    (changes,) = release.answer([PeriodQuery(np.array([3]), np.array([3]), 3, change=True, relative=True)])
    assert np.isnan(changes.values[:, 0]).tolist() == [t in (5, 8) for t in range(15)]


def test_shares_of_all_users_need_not_sum_to_one():
    release = simulate(moving(d=20), "mtsp_filter", epsilon=2.0, window=4, presence="private")
    sums = release.frequencies.sum(axis=1)
    assert (sums <= 1 + 1e-9).all()
    assert sums.mean() == pytest.approx(0.6, abs=0.1)
    assert release.projected() is release


def test_it_asks_what_lpu_asks_and_errs_less():
    stream, asked = moving(d=20, length=60, users=100000), {}
    for name in ("lpu", "mtsp_filter"):
        seen = asked.setdefault(name, [])
        release = simulate(
            stream,
            name,
            epsilon=1.0,
            window=10,
            witness=lambda t, who, epsilon, seen=seen: seen.append((t, len(who), epsilon)),
        )
        assert release.trace["share_2"].to_numpy() == pytest.approx(0.1)
        asked[name] = seen, ((release.projected().frequencies - stream.frequencies) ** 2).mean()
    sizes = [np.array([number for _, number, _ in seen]) for seen, _ in asked.values()]
    assert np.abs(sizes[0] - sizes[1]).max() < 6 * np.sqrt(sizes[0].mean())  # phases are drawn by mechanism
    assert {epsilon for seen, _ in asked.values() for *_, epsilon in seen} == {1.0}
    assert 3 * asked["mtsp_filter"][1] < asked["lpu"][1]


def test_its_period_is_that_of_the_stream_unless_it_is_told():
    stream = moving(length=30)
    daily = Stream.from_counts(stream.counts, 20000, facts=type(stream.facts)(slot_minutes=120))
    other = Stream.from_counts(stream.counts, 20000, facts=type(stream.facts)(slot_minutes=120, period=0))
    assert (daily.period, other.period, stream.period) == (12, 0, 0)
    runs = [
        simulate(one, "mtsp_filter", epsilon=1.0, window=4, **options).frequencies
        for one, options in ((daily, {}), (stream, {"period": 12}), (other, {}), (stream, {}))
    ]
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[2], runs[3])
    assert not np.array_equal(runs[0], runs[2])


@pytest.mark.parametrize(("minutes", "period"), [(30, 48), (60, 24), (7, 0), (1440, 0), (None, 0)])
def test_a_day_is_the_period_where_slots_make_one_up(minutes, period):
    facts = type(moving().facts)(slot_minutes=minutes)
    assert facts.timestamps_a_period == period


def test_the_bank_is_the_one_that_was_chosen():
    """Its constants, written out: whoever changes one chooses anew, on made streams."""
    d = 50
    bank = make_bank(d, seasonal=True)
    assert [kind.mean.shape[1] for kind in bank] == [12, 6, 12, 6]
    assert [kind.mean.shape[1] for kind in make_bank(d, seasonal=False)] == [12, 6, 12]
    levels, activity, trends, seasons = bank
    assert levels._noise[0, :, 0] == pytest.approx([10 ** (-7.5 + k / 2) for k in range(11)] + [0.5])
    first = 9 / d**2
    assert all(kind.covariance[0, 0] == pytest.approx(first) for kind in bank)
    assert all(kind.mean[0] == pytest.approx(1 / d) for kind in bank)
    for kind, weights in ((activity, [1, 1]), (seasons, [1, 1, 1 / 4, 1 / 4])):
        assert kind._noise[0, :, 0] == pytest.approx([1e-6, 1e-5, 1e-4] * 2)
        for place, weight in enumerate(weights, start=1):
            assert kind._noise[place, :, 0] == pytest.approx([0] * 3 + [1e-6 * weight] * 3)
            own = kind.covariance[place, place, :, 0] * d**2
            assert own == pytest.approx([0.1 * weight] * 3 + [weight] * 3)
    assert trends.damping[:, 0] == pytest.approx([0.9] * 6 + [0.98] * 6)
    assert trends._noise[0] == pytest.approx(0)
    assert trends._noise[1, :, 0] == pytest.approx([10.0**k for k in range(-10, -4)] * 2)
    assert trends.covariance[1, 1] == pytest.approx(1e-8)


def test_activity_looks_back_four_timestamps_and_forgets_after_two_hundred():
    activity, seen, mean = Activity(), [], 0.0
    rng = np.random.default_rng(4)
    for t, n in enumerate([0, 1, *rng.integers(50, 5000, 300).tolist()]):
        now = np.log(max(n, 1))
        seen.append(now)
        mean = np.mean(seen) if t < 200 else mean + (now - mean) / 200
        assert activity.at(n) == pytest.approx([1, now - mean, now - seen[max(t - 4, 0)]])


def test_a_season_is_two_harmonics_of_its_period():
    assert season(0, 24) == pytest.approx([1, 1, 0, 1, 0])
    assert season(6, 24) == pytest.approx([1, 0, 1, -1, 0])
    assert season(27, 24) == pytest.approx([1, np.sqrt(0.5), np.sqrt(0.5), 0, 1])


def test_events_without_variances_are_changes_that_reach_the_threshold():
    change = Estimate(np.array([[0.9, 5.0], [1.0, np.nan], [1.1, 3.0]]))
    assert flags(change, [1.0, 4.0]).tolist() == [[False, True], [True, False], [True, False]]


def test_events_with_variances_are_flagged_where_expected_f1_is_largest():
    rng = np.random.default_rng(5)
    true = rng.normal(0, 1, (4000, 1))
    seen = true + rng.normal(0, 1, (4000, 1))  # the belief: half of it, with half the variance
    belief = Estimate(seen / 2, np.full((4000, 1), 0.5))
    flagged, happens = flags(belief, 1.64)[1000:], (true >= 1.64)[1000:]  # once chances tell what is common

    def f1(guess):
        return 2 * (guess & happens).sum() / (guess.sum() + happens.sum())

    best = max(f1((belief.values >= bar)[1000:]) for bar in np.linspace(-1, 3, 200))
    assert f1(flagged) > 0.95 * best
    assert f1((belief.values >= 1.64)[1000:]) < 0.7 * best
    gone = Estimate(np.where(np.arange(4000)[:, None] % 7 == 0, np.nan, belief.values), belief.variances)
    assert not flags(gone, 1.64)[::7].any()
    assert not flags(belief, 1e9).any()
    unlikely = belief.values < -0.5  # from the first window on
    assert not flags(belief, 1.64)[unlikely].any()
    later = flags(Estimate(belief.values[:2000], belief.variances[:2000]), 1.64)
    assert np.array_equal(later, flags(belief, 1.64)[:2000])  # nothing looks ahead


def test_the_sum_over_all_cells_is_known_and_ranges_are_the_surer_for_it():
    stream = moving(d=20)
    release = simulate(stream, "mtsp_filter", epsilon=1.0, window=4)
    lo, hi = np.array([0, 0, 3]), np.array([19, 9, 3])
    present = np.convolve(stream.active, np.ones(3), "valid")
    (counted,) = release.answer([PeriodQuery(lo, hi, 3)])
    assert counted.values[:, 0] == pytest.approx(present)
    assert counted.variances[:, 0] == pytest.approx(0, abs=1e-6)
    each = release.answer([PeriodQuery(np.arange(20), np.arange(20), 3)])[0].variances
    half, whole = each[:, :10].sum(axis=1), each.sum(axis=1)
    assert counted.variances[:, 1] == pytest.approx(half * (1 - half / whole))
    assert counted.variances[:, 2] == pytest.approx(each[:, 3])
    (change,) = release.answer([PeriodQuery(lo, hi, 3, change=True)])
    assert change.values[:, 0] == pytest.approx(present[3:] - present[:-3], abs=1e-5)
    assert (change.variances[:, 0] == 0).all()
    assert (change.variances[:, 1:] > 0).all()
    (share,) = release.answer([PeriodQuery(lo, hi, 3, change=True, relative=True)])
    assert share.values[:, 0] == pytest.approx(0, abs=1e-11)


def test_intervals_are_broadcast_and_none_is_no_error():
    for name in ("mtsp_filter", "lpu"):
        release = simulate(moving(d=6), name, epsilon=1.0, window=4)
        assert release.changes(0, [1, 2], 3).shape == (35, 2)
        assert release.range_counts([0, 1], 5, 2).shape == (39, 2)
        assert release.changes([], [], 3).shape == (35, 0)
        with pytest.raises(ValueError, match=r"\[0, 99\]: must be an interval of cells in 0\.\.5"):
            release.range_frequencies(0, [3, 99])


def test_a_question_about_every_timestamp_filters_once(monkeypatch):
    release, steps = simulate(moving(), "mtsp_filter", epsilon=1.0, window=4), []
    step = Filter.step
    monkeypatch.setattr(Filter, "step", lambda self, *given: (steps.append(given[0]), step(self, *given))[1])
    counts = [[release.count(cell, t, 3) for cell in range(5)] for t in range(2, 40)]
    assert counts == release.range_counts(np.arange(5), np.arange(5), 3).tolist()
    assert len(steps) == 40
    for delta in range(2, 20):  # what was asked long ago is filtered again, and the same
        release.count(0, 39, delta)
    assert release.range_counts(np.arange(5), np.arange(5), 3).tolist() == counts
    assert len(steps) == 40 * 19


def test_what_cannot_happen_is_never_flagged():
    release = simulate(moving(d=20, length=30), "mtsp_filter", epsilon=1.0, window=4)
    every = np.arange(20)
    (change,) = release.answer([PeriodQuery(every, every, 3, change=True)])
    assert not flags(change, 1e9).any()
    assert not any(release.event(3, t, 3, 1e9) for t in (5, 6, 29))
    assert flags(change, -1e9).all()
    nobody = Estimate(np.zeros((4, 1)), np.zeros((4, 1)))  # both periods are empty: it is known
    assert not flags(nobody, 1.0).any()
    assert flags(nobody, 0.0).all()


def test_bytes_do_not_depend_on_the_vector_units_of_the_processor():
    code = (
        "import hashlib, numpy as np\n"
        "from mtsp_ldp import Stream, simulate\n"
        "counts = np.random.default_rng(1).integers(0, 900, (30, 20))\n"
        "release = simulate(Stream.from_counts(counts), 'mtsp_filter', epsilon=1.0, window=4)\n"
        "changes = release.changes(np.arange(20), np.arange(20), 3)\n"
        "exp = np.exp(np.linspace(-30, 0, 10**5))\n"
        "print(hashlib.sha256(exp.tobytes()).hexdigest())\n"
        "print(hashlib.sha256(release.versions.tobytes() + changes.tobytes()).hexdigest())"
    )
    slow = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
    runs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],  # of features that this numpy does not know
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": features},
        ).stdout
        for features in ("", slow)
    ]
    numpys, ours = (set(lines) for lines in zip(*(run.split() for run in runs), strict=True))
    if len(numpys) == 1:
        pytest.skip("this processor has no vector units that numpy can do without")
    assert len(ours) == 1
