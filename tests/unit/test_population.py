"""The door: what it refuses, and that nobody ever spends more than epsilon in a window."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from mtsp_ldp import Stream, privacy_spend, simulate
from mtsp_ldp.audits.odometer import WindowOdometer
from mtsp_ldp.foundation.seeds import Generators, generators
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.privacy.dealing import deal
from mtsp_ldp.privacy.division import BudgetDivision, PopulationDivision
from mtsp_ldp.privacy.ledger import PrivacyError
from mtsp_ldp.privacy.population import group_sizes
from mtsp_ldp.privacy.stream_population import populate
from mtsp_ldp.privacy.survey import Question
from mtsp_ldp.privacy.units import FULL


@st.composite
def panels(draw):
    """Users who come and go, cells that may stay empty, timestamps without anybody."""
    users, length, d = draw(st.integers(1, 30)), draw(st.integers(1, 25)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    there = rng.random((length, users)) < draw(st.sampled_from([0.2, 0.7, 1.0]))
    there &= (rng.random(length) < draw(st.sampled_from([0.6, 1.0])))[:, None]
    there[0, 0] = True
    t, user = np.nonzero(there)
    return Stream.from_panel(t, user, rng.integers(0, d, t.size), d, length=length)


@st.composite
def streams(draw):
    panel = draw(panels())
    if draw(st.booleans()):
        return panel
    return Stream.from_counts(panel.counts, int(panel.active.max()) + draw(st.integers(0, 5)))


@settings(max_examples=60, deadline=None)
@given(streams(), st.data())
def test_no_user_spends_more_than_epsilon_in_any_window(stream, data):
    name = data.draw(st.sampled_from(sorted(mechanisms())))
    epsilon = data.draw(st.sampled_from([1e-3, 0.3, 1.0, 2.7]))
    window = data.draw(st.integers(1, stream.length))
    seed = data.draw(st.integers(0, 100))
    cls = mechanisms()[name].cls
    hides = cls.reads_data and not cls.tree and data.draw(st.booleans())
    options = {"presence": "private"} if hides else {}
    spent = privacy_spend(stream, name, epsilon=epsilon, window=window, seed=seed, **options)
    assert 0 <= spent <= epsilon
    release = simulate(stream, name, epsilon=epsilon, window=window, seed=seed, **options)
    shares = release.trace["share_1"].to_numpy() + release.trace["share_2"].to_numpy()
    assert np.convolve(shares, np.ones(window)).max() <= 1 + 1e-12
    assert np.isfinite(release.versions).all()
    assert release.frequencies.shape == (stream.length, stream.d)
    assert np.isfinite(release.projected().frequencies).all()


def door(stream, division=None, window=4, **kwargs):
    rng = np.random.default_rng(0)
    division = division or BudgetDivision(1.0)
    return populate(stream, division=division, window=window, random=Generators(rng, rng, rng), **kwargs)


COUNTS = Stream.from_counts(np.full((6, 3), 10))
CELLS = EACH = Question(np.arange(3))


@pytest.mark.parametrize("share", [0, -1, 0.5, float("nan"), FULL + 1])
@pytest.mark.parametrize("division", [BudgetDivision(1.0), PopulationDivision(1.0)])
def test_refuses_a_share_before_anything_is_spent(share, division):
    population = door(COUNTS, division)
    with pytest.raises(PrivacyError):
        population.survey(0, [CELLS], share)
    assert population.survey(0, [CELLS], FULL)


@pytest.mark.parametrize("labels", [[0, 1], [0, 0, 2], [-1, 0, 1], [0.0, 1.0, 2.0], []])
def test_refuses_groups_that_are_no_partition(labels):
    population = door(COUNTS)
    with pytest.raises(ValueError, match=r"labels|questions"):
        population.survey(0, [Question(labels)], FULL)
    with pytest.raises(ValueError, match="questions"):
        population.survey(0, [], FULL)
    assert population.survey(0, [CELLS], FULL)


def test_a_question_of_a_mechanisms_own_kind_sees_no_counts():
    seen = []

    class Curious(Question):
        def count(self, counts):
            seen.append(counts)
            return super().count(counts)

    population = door(COUNTS)
    with pytest.raises(ValueError, match="each a Question over all 3 cells"):
        population.survey(0, [CELLS, Curious([0, 0, 1])], FULL)

    class Changing(list):
        asked = 0

        def __iter__(self):
            self.asked += 1
            return iter([CELLS] if self.asked == 1 else [Curious([0, 0, 1])])

    assert population.survey(0, Changing(), FULL // 4)
    assert seen == []
    assert population.spent == FULL // 4


def test_a_share_of_a_mechanisms_own_kind_is_refused():
    class Small(int):
        def __gt__(self, other):
            return False

    population = door(COUNTS)
    for share in (Small(FULL), True, 1.0, np.int64(5)):
        with pytest.raises(PrivacyError, match="must be a positive integer"):
            population.survey(0, [CELLS], share)
    assert population.spent == 0


def test_what_was_asked_and_the_truth_cannot_be_edited():
    with pytest.raises(ValueError, match="read-only"):
        CELLS.labels[0] = 1
    for name, value in {"groups": 1, "cells": 1, "labels": np.zeros(3, int), "count": len}.items():
        with pytest.raises(AttributeError, match="a question cannot be changed"):
            setattr(CELLS, name, value)
    assert pickle.loads(pickle.dumps(CELLS)).labels.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        door(COUNTS)._counts[0, 0] = 1


def test_refusing_leaves_the_state_usable():
    population = door(COUNTS, PopulationDivision(1.0))
    half = FULL // 2
    population.survey(0, [CELLS], half)
    with pytest.raises(PrivacyError):
        population.survey(1, [CELLS], half + 1)
    assert population.survey(1, [CELLS], half)
    with pytest.raises(PrivacyError):
        population.survey(3, [CELLS], 1)
    assert population.survey(4, [CELLS], half)


def test_fewer_reporters_than_questions_spend_nothing():
    population = door(Stream.from_counts([[1, 0, 0]] * 3))
    assert population.survey(0, [CELLS, CELLS], FULL).spent == 0
    assert population.survey(0, [CELLS], FULL)


def test_arcs_of_a_window_partition_the_users():
    users, window = 37, 5
    t, user = np.divmod(np.arange(users * 20), users)
    stream = Stream.from_panel(t, user, np.zeros(t.size, int), 1)
    asked = []
    population = door(
        stream, PopulationDivision(1.0), window, witness=lambda t, who, epsilon: asked.append(who)
    )
    for t in range(20):
        population.survey(t, [Question([0])], FULL // window)
    for start in range(15):
        together = np.concatenate(asked[start : start + window])
        assert np.unique(together).size == together.size
    assert np.unique(np.concatenate(asked[:6])).size == users


def test_groups_are_equal_and_multivariate_hypergeometric():
    rng, counts = np.random.default_rng(1), np.array([6, 3, 1])
    drawn = np.array([deal([EACH] * 3, counts, 0, group_sizes(10, 3, rng), rng) for _ in range(20000)])
    assert set(np.unique(drawn.sum(axis=2))) == {3, 4}
    assert (drawn.sum(axis=1) == counts).all()
    np.testing.assert_allclose(drawn.mean(axis=(0, 1)), counts / 3, atol=0.01)
    # variance of a group's count of cell 0, mixed over sizes 3, 3, 4 of 10
    sizes = np.array([3, 3, 4])
    within = sizes * 0.6 * 0.4 * (10 - sizes) / 9
    wanted = within.mean() + (0.6 * sizes).var()
    assert drawn[:, 0, 0].var() == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("groups", [2, 3])
def test_a_split_has_the_hypergeometric_law(groups):
    rng, counts, draws = np.random.default_rng(6), np.array([5, 4, 3]), 20000
    first = np.array(
        [deal([EACH] * groups, counts, 0, group_sizes(12, groups, rng), rng)[0] for _ in range(draws)]
    )
    size = 12 // groups
    for cell, own in enumerate(counts):
        law = stats.hypergeom(12, own, size).pmf(np.arange(own + 1)) * draws
        seen = np.bincount(first[:, cell], minlength=own + 1)
        assert stats.chisquare(seen[law > 0], law[law > 0]).pvalue > 1e-4


LEVELS = [Question(np.arange(8) >> shift) for shift in (2, 1, 0)]
PRUNED = [
    Question([0, 0, 0, 0, 1, 1, 2, 2]),
    Question([0, 0, 0, 0, 1, 2, 3, 3]),
    Question([0, 0, 0, 0, 1, 1, 1, 1]),
]
CROSSED = [Question([0, 0, 1, 1]), Question([0, 1, 1, 0]), Question([0, 1, 2, 3])]


@pytest.mark.parametrize(
    ("questions", "counts"),
    [
        (LEVELS, [5, 0, 3, 2, 9, 1, 1, 7]),
        (PRUNED, [5, 0, 3, 2, 9, 1, 1, 7]),
        (CROSSED, [5, 2, 4, 3]),
        ([LEVELS[2]] * 2, [5, 0, 3, 2, 9, 1, 1, 7]),
    ],
)
def test_dealing_level_by_level_has_the_law_of_dealing_user_by_user(questions, counts):
    """Each group's users per node are hypergeometric, and together they are all users."""
    people, draws, absent = np.random.default_rng(3), 6000, 4
    total = sum(counts) + absent
    sizes = group_sizes(total, len(questions), np.random.default_rng(1)).tolist()
    counts = np.array(counts)
    dealt = [deal(questions, counts, absent, sizes, people) for _ in range(draws)]
    for place, (question, size) in enumerate(zip(questions, sizes, strict=True)):
        drawn = np.array([one[place] for one in dealt])
        assert (drawn.sum(axis=1) <= size).all()
        for group, own in enumerate(question.count(counts)):
            law = stats.hypergeom(total, own, size).pmf(np.arange(own + 1)) * draws
            seen = np.bincount(drawn[:, group], minlength=own + 1)
            common = law >= 5
            observed = np.append(seen[common], seen[~common].sum())
            expected = np.append(law[common], law[~common].sum())
            if expected[-1] < 5:
                observed, expected = observed[:-1], expected[:-1] * observed[:-1].sum() / expected[:-1].sum()
            if observed.size > 1:
                assert stats.chisquare(observed, expected).pvalue > 1e-5
    # and two groups are dependent as they are without replacement
    first, second = (np.array([question.count(counts)[0] for question in questions])[k] for k in (0, 1))
    pairs = np.array([(one[0][0], one[1][0]) for one in dealt])
    same = np.isin(np.flatnonzero(questions[0].labels == 0), np.flatnonzero(questions[1].labels == 0))
    shared = counts[np.flatnonzero(questions[0].labels == 0)[same]].sum()
    wanted = sizes[0] * sizes[1] / total / (total - 1) * (first * second / total - shared)
    spread = pairs.std(axis=0).prod() / np.sqrt(draws)
    assert abs(np.cov(pairs.T)[0, 1] - wanted) < 5 * spread


@pytest.mark.parametrize("division", [BudgetDivision(30.0, "grr"), PopulationDivision(30.0, "grr")])
def test_a_question_that_grr_refuses_spends_nothing(division):
    stream = Stream.from_panel(np.zeros(8, dtype=int), np.arange(8), np.arange(8), 8)
    population = populate(stream, division=division, window=1, random=generators("grr"))
    with pytest.raises(ValueError, match=r"epsilon=.*: must be at most"):
        population.survey(0, [Question(np.arange(8))], FULL)
    assert population.spent == 0


@pytest.mark.parametrize("kind", ["panel", "counts"])
@pytest.mark.parametrize("division", [BudgetDivision(1.0), PopulationDivision(1.0)])
def test_public_coins_do_not_depend_on_cells(kind, division):
    """Neighbouring streams, the same surveys: the same phases, arcs, group sizes and numbers of reporters."""
    rng = np.random.default_rng(4)
    t, user = np.nonzero(rng.random((12, 60)) < 0.7)
    cell = rng.integers(0, 8, t.size)
    other = np.where(user == 17, 7 - cell, cell)
    seen = []
    for cells in (cell, other):
        stream = Stream.from_panel(t, user, cells, 8)
        stream = stream if kind == "panel" else Stream.from_counts(stream.counts, 60)
        random = generators("coins", 5)
        population = populate(stream, division=division, window=4, random=random)
        answers = [population.survey(t, LEVELS, FULL // 4) for t in range(12)]
        sizes = [[answer.reporters for answer in one] for one in answers]
        seen.append((sizes, random.coins.bit_generator.state))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("kind", ["panel", "counts"])
def test_public_coins_do_not_depend_on_who_is_present_where_that_is_private(kind):
    seen = []
    for active in (2700, 3):
        t, user = np.divmod(np.arange(12 * active), active)
        t, user = np.append(t, np.full(3001, 12)), np.append(user, np.arange(3001))  # at last everybody
        stream = Stream.from_panel(t, user, user % 8, 8)
        stream = stream if kind == "panel" else Stream.from_counts(stream.counts, 3001)
        random = generators("coins", 5)
        division = PopulationDivision(1.0)
        population = populate(stream, division=division, window=4, random=random, presence="private")
        answers = [population.survey(t, LEVELS, FULL // 4) for t in range(12)]
        sizes = [[answer.reporters for answer in one] for one in answers]
        seen.append((sizes, random.coins.bit_generator.state))
    assert seen[0] == seen[1]


def test_an_arc_of_exchangeable_users_has_the_hypergeometric_law():
    counts, draws = [[6, 2, 4]], 8000
    seen = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        stream, random = Stream.from_counts(counts, 20), Generators(rng, rng, rng)
        population = populate(stream, division=PopulationDivision(1.0), window=1, random=random)
        population._turn(0)
        seen.append(population._present(0, [(0, 10)]).counts)
    for cell, own in enumerate(counts[0]):
        law = stats.hypergeom(20, own, 10).pmf(np.arange(own + 1)) * draws
        tally = np.bincount(np.array(seen)[:, cell], minlength=own + 1)
        common = law >= 5
        assert (
            stats.chisquare(tally[common], law[common] * tally[common].sum() / law[common].sum()).pvalue
            > 1e-4
        )


@settings(max_examples=150, deadline=None)
@given(panels(), st.data())
def test_a_hostile_mechanism_gets_nothing_more(stream, data):
    """Asks twice, for everything, a hair too much, about other cells, out of order; users come and go."""
    division = data.draw(st.sampled_from([BudgetDivision(1.0), PopulationDivision(1.0)]))
    window = data.draw(st.integers(1, 6))
    asked, spent = [], WindowOdometer(stream.users, window)

    def witness(t, who, epsilon):
        asked.append(t)
        spent(t, who, epsilon)

    population = door(stream, division, window, witness=witness)
    moves = st.tuples(
        st.integers(0, stream.length - 1),
        st.sampled_from([FULL, FULL // 2, FULL // 3, FULL + 1, int(FULL * (1 + 1e-12)), 1, 0, -5, 0.5]),
        st.sampled_from([stream.d, stream.d, stream.d, stream.d + 1]),
        st.integers(1, 3),
    )
    for t, share, cells, questions in data.draw(st.lists(moves, max_size=40)):
        before = len(asked)
        try:
            answers = population.survey(t, [Question(np.arange(cells))] * questions, share)
        except (PrivacyError, ValueError):
            answers = ()
        # no report exists without an answer: what is refused is refused before
        assert (len(asked) > before) == bool(answers)
    assert spent.largest <= 1.0


def test_replicates_are_independent_reporters():
    stream = Stream.from_panel([0, 0], [7, 9], [0, 1], 2)
    population = door(stream, PopulationDivision(1.0), replicate=500)
    assert population.active(0) == 1000
    answers = population.survey(0, [Question([0, 1])], FULL // 10)
    assert answers[0].reporters == 100


def test_more_reporters_than_can_be_drawn_from_are_refused():
    with pytest.raises(ValueError, match="reporters="):
        door(Stream.from_counts([[1]], population=10**9))


@pytest.mark.parametrize("name", sorted(mechanisms()))
@pytest.mark.parametrize("d", [1, 2, 5])
def test_small_streams_work(name, d):
    for counts in ([[3] * d], [[1] + [0] * (d - 1)], [[5] * d, [0] * d, [4] * d]):
        stream = Stream.from_counts(counts)
        release = simulate(stream, name, epsilon=1.0, window=1)
        assert release.frequencies.shape == (len(counts), d)
        assert np.isfinite(release.frequencies).all()


def test_time_cannot_be_turned_back_through_an_empty_timestamp():
    counts = np.full((30, 3), 10)
    counts[20] = 0
    for division in (BudgetDivision(1.0), PopulationDivision(1.0)):
        population = door(Stream.from_counts(counts), division, window=10)
        assert population.survey(4, [CELLS], FULL)
        assert population.survey(20, [CELLS], FULL).spent == 0
        with pytest.raises(PrivacyError, match="already at t=20"):
            population.survey(5, [CELLS], FULL)


@pytest.mark.parametrize("share", [FULL, FULL // 3])
@pytest.mark.parametrize("division", [BudgetDivision(6.0), PopulationDivision(3.0)])
@pytest.mark.parametrize("kind", ["panel", "counts"])
def test_absent_users_report_too_where_presence_is_private(kind, division, share):
    """All who are asked answer one of the questions, so who answers tells nobody who is there."""
    counts = np.array([[30, 12, 6, 2]])
    if kind == "panel":
        stream = Stream.from_panel(
            np.zeros(50, int), np.arange(50), np.arange(4).repeat(counts[0]), 4, users=200
        )
    else:
        stream = Stream.from_counts(counts, 200)
    coarse, fine = Question([0, 0, 1, 1]), Question(np.arange(4))
    found = {0: [], 1: []}
    for seed in range(600):
        random = Generators(*(np.random.default_rng([seed, part]) for part in range(3)))
        population = populate(stream, division=division, window=1, random=random, presence="private")
        answers = population.survey(0, [coarse, fine], share)
        asked = 200 if division.arc(share) is None else -(-200 * share // FULL)
        assert population.active(0) == 200
        assert sum(answer.reporters for answer in answers) == asked
        for place, answer in enumerate(answers):
            found[place].append(answer.estimates)
    for place, truth in enumerate([np.array([42, 8]), counts[0]]):
        estimates = np.array(found[place])
        error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
        assert (np.abs(estimates.mean(axis=0) - truth / 200) < 4.5 * error).all()
