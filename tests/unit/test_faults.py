"""Known faults of public implementations, built into copies, and the checks that catch each of them."""

import numpy as np
import pytest

from mtsp_ldp import Stream, simulate
from mtsp_ldp.audits.odometer import WindowOdometer
from mtsp_ldp.foundation.seeds import Generators, generators
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.mechanisms.session import Session
from mtsp_ldp.privacy.division import BudgetDivision, PopulationDivision
from mtsp_ldp.privacy.ledger import PrivacyError, WindowLedger
from mtsp_ldp.privacy.stream_population import Panel
from mtsp_ldp.privacy.survey import Question
from mtsp_ldp.privacy.units import FULL

USERS, LENGTH, WINDOW, EPSILON = 60, 40, 5, 1.0
RNG = np.random.default_rng(8)
T, USER = np.nonzero(RNG.random((LENGTH, USERS)) < 0.8)
STREAM = Stream.from_panel(T, USER, RNG.integers(0, 6, T.size), 6)


def spend(name, *, kind=Panel, division=None, window=WINDOW):
    """Replay a mechanism over a faulty population; the largest epsilon of any user in a true window."""
    spent = WindowOdometer(USERS, WINDOW)
    coins, noise = np.random.default_rng(1), np.random.default_rng(2)
    session = Session(name, STREAM.d, epsilon=EPSILON, window=window, coins=coins)
    division = division or session.division
    random = Generators(coins, noise, np.random.default_rng(3))
    population = kind(STREAM, division=division, window=window, random=random, witness=spent)
    for t in range(LENGTH):
        session.step(t, population)
    return spent.largest


@pytest.mark.parametrize("name", [n for n, e in mechanisms().items() if e.cls.reads_data])
def test_the_sound_population_passes(name):
    assert spend(name) <= EPSILON


@pytest.mark.parametrize("name", ["lpu", "lsp"])
def test_recycling_one_step_early_spends_twice(name):
    assert spend(name, window=WINDOW - 1) == pytest.approx(2 * EPSILON)


@pytest.mark.parametrize("name", ["lbu", "lbd", "lba", "mtsp_budget"])
def test_a_window_shifted_by_one_overspends(name):
    assert spend(name, window=WINDOW - 1) > EPSILON * 1.05


class Generous(BudgetDivision):
    def report_epsilon(self, share):
        return 1.05 * super().report_epsilon(share)


class GenerousArcs(PopulationDivision):
    def report_epsilon(self, share):
        return 1.05 * super().report_epsilon(share)


@pytest.mark.parametrize(("name", "division"), [("lbu", Generous), ("lpa", GenerousArcs)])
def test_five_per_cent_too_much_is_seen(name, division):
    assert spend(name, division=division(EPSILON)) == pytest.approx(1.05 * EPSILON)


class EveryLevel(Panel):
    """Each user answers every level of the tree with the whole budget."""

    def survey(self, t, questions, share):
        answers = super().survey(t, questions, share)
        if answers is not None:
            for _ in questions[1:]:
                ranks = np.flatnonzero(self._cell[self._owner] >= 0)
                self._witness(t, ranks, self._division.report_epsilon(share))
        return answers


def test_adding_up_the_budgets_of_levels_is_seen():
    assert spend("mtsp_budget", kind=EveryLevel) > 1.5 * EPSILON


class Forgetful(Panel):
    """Its pointer does not move on: the same users are asked again and again."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._circle.advance = lambda share: None


def test_an_arc_that_is_asked_again_is_refused_by_the_independent_ledger():
    with pytest.raises(PrivacyError, match="already reported"):
        spend("lpu", kind=Forgetful)


def test_a_float_residue_is_never_published():
    for k in (3, 6, 7, 9, 10):
        ledger = WindowLedger(WINDOW)
        left = 0.5
        for _ in range(k):
            ledger.debit(0, int(FULL / (2 * k)))
            left -= 1 / (2 * k)
        assert left != 0
        with pytest.raises(PrivacyError):
            ledger.debit(0, int(left * FULL))


def test_hostile_requests_spend_nothing_more():
    random = Generators(*map(np.random.default_rng, range(3)))
    spent = WindowOdometer(USERS, WINDOW)
    population = Panel(
        STREAM,
        division=PopulationDivision(EPSILON),
        window=WINDOW,
        random=random,
        witness=spent,
    )
    cells = Question(np.arange(6))
    hostile = np.random.default_rng(3)
    for t in range(LENGTH):
        for _ in range(6):
            share = int(hostile.choice([FULL, FULL // 2, FULL // 3, FULL + 1, 1 << 30]))
            try:
                population.survey(t, [cells], share)
            except PrivacyError:
                continue
    assert spent.largest == EPSILON


@pytest.mark.parametrize("name", [n for n, e in mechanisms().items() if e.cls.reads_data])
def test_a_mechanism_replays_from_its_transcript_with_no_population(name, monkeypatch):
    transcript, original = [], Panel.survey

    def recorded(self, t, questions, share):
        answers = original(self, t, questions, share)
        transcript.append((t, [q.labels.tobytes() for q in questions], share, answers))
        return answers

    monkeypatch.setattr(Panel, "survey", recorded)
    release = simulate(STREAM, name, epsilon=EPSILON, window=WINDOW, seed=5)
    coins, *_ = generators(5, STREAM.key, name, EPSILON, WINDOW, 0)
    session = Session(name, STREAM.d, epsilon=EPSILON, window=WINDOW, coins=coins)
    replay = Replay(transcript)
    versions = [session.release]
    for t in range(LENGTH):
        if session.step(t, replay).published is not None:
            versions.append(session.release)
    assert next(replay.script, None) is None
    assert np.array(versions).tobytes() == release.versions.tobytes()


class Replay:
    """Answers as they were given, and no population in the process."""

    spent = 0

    def __init__(self, transcript):
        self.script = iter(transcript)

    def active(self, t):
        return int(STREAM.active[t])

    def survey(self, t, questions, share):
        when, labels, amount, answers = next(self.script)
        assert (when, amount) == (t, share)
        assert [question.labels.tobytes() for question in questions] == labels
        self.spent += answers.spent
        return answers
