"""What a mechanism of one's own may get wrong, and what is said of it."""

import numpy as np
import pytest

from mtsp_ldp import Stream, simulate
from mtsp_ldp.mechanisms import session
from mtsp_ldp.mechanisms.base import REGISTRY, Mechanism, Registration, Step, register
from mtsp_ldp.mechanisms.registry import find
from mtsp_ldp.privacy.ledger import PrivacyError
from mtsp_ldp.privacy.survey import Question
from mtsp_ldp.privacy.units import FULL

STREAM = Stream.from_counts(np.random.default_rng(0).integers(500, 900, (20, 4)))
CELLS = Question(np.arange(4))
WINDOW = 5
SHARE = FULL // WINDOW


@pytest.fixture
def run(monkeypatch):
    """Simulate a mechanism that is nothing but a step."""

    def simulated(step, **members):
        entry = Registration("own", type("Own", (Mechanism,), {"step": step, **members}), "population")
        monkeypatch.setattr(session, "find", lambda name: entry if name == "own" else find(name))
        return simulate(STREAM, "own", epsilon=4.0, window=WINDOW)

    return simulated


def ask(survey):
    return survey([CELLS], SHARE)[0].estimates


def test_an_array_that_goes_on_being_written_to_is_copied(run):
    state = np.zeros(4)

    def step(self, t, n, survey):
        state[:] = t  # in place
        ask(survey)
        return Step(published=state, share_2=SHARE)

    assert run(step).frequencies[:, 0].tolist() == list(range(20))


def test_nodes_that_no_report_answered_are_copied_too(run):
    nodes = np.zeros(7, dtype=bool)

    def step(self, t, n, survey):
        nodes[:] = np.arange(7) == t % 7  # in place
        ask(survey)
        return Step(np.zeros(7), np.ones(7), share_2=SHARE, copied=nodes)

    released = run(step, tree=True, initial=lambda self: np.zeros(7))
    assert released.copied[1:].argmax(axis=1).tolist() == [t % 7 for t in range(20)]


WRONG = {
    "nothing": (lambda survey: None, r"own: t=0: step\(\) returned NoneType, expected a Step"),
    "estimates": (lambda survey: ask(survey), r"own: t=0: step\(\) returned ndarray, expected a Step"),
    "shape": (
        lambda survey: Step(published=ask(survey)[:-1], share_2=SHARE),
        r"own: t=0: published values: their shape \(3,\) must be \(4,\)",
    ),
    "silent about its spending": (
        lambda survey: Step(published=ask(survey)),
        r"own: t=0: its Step states 0 of the window as spent; must be 0\.2",
    ),
    "boasting": (
        lambda survey: Step(share_2=SHARE),
        r"own: t=0: its Step states 0\.2 of the window as spent; must be 0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_step_is_named(run, name):
    step, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        run(lambda self, t, n, survey: step(survey))


def test_what_is_no_number_is_refused(run):
    def step(self, t, n, survey):
        if t < 3:
            return Step()
        estimates = ask(survey)
        estimates[1] = np.nan if t == 7 else estimates[1]
        return Step(published=estimates, share_2=SHARE)

    with pytest.raises(ValueError, match="own: t=7: 1 of 4 values or variances are NaN or infinite"):
        run(step)


@pytest.mark.parametrize(
    ("variance", "message"),
    [
        (None, r"own: t=0: published variances: their shape \(\) must be \(7,\)"),
        (np.ones(4), r"own: t=0: published variances: their shape \(4,\) must be \(7,\)"),
        (np.full(7, np.inf), "own: t=0: 7 of 7 values or variances are NaN or infinite"),
    ],
)
def test_a_tree_comes_with_its_variances(run, variance, message):
    def step(self, t, n, survey):
        ask(survey)
        return Step(published=np.ones(7), variance=variance, share_2=SHARE)

    with pytest.raises(ValueError, match=message):
        run(step, initial=lambda self: np.ones(7), tree=True)
    with pytest.raises(ValueError, match=r"own: initial release: its shape \(4,\) must be \(7,\)"):
        run(step, tree=True)


def test_options_may_be_numbers_of_any_kind():
    given = {"minimum_share": np.float64(0.1)}
    simulate(STREAM, "mtsp_population", epsilon=1.0, window=5, **given)
    with pytest.raises(ValueError, match=r"mtsp_population\.minimum_share=True: must be a number"):
        simulate(STREAM, "mtsp_population", epsilon=1.0, window=5, minimum_share=True)
    with pytest.raises(ValueError, match=r"mtsp_population\.consistency=1: must be true or false"):
        simulate(STREAM, "mtsp_population", epsilon=1.0, window=5, consistency=1)


def test_asking_once_too_often_is_refused_in_its_name(run):
    def step(self, t, n, survey):
        ask(survey)
        return Step(published=ask(survey), share_2=2 * SHARE)

    with pytest.raises(PrivacyError, match=r"own: t=2: 0\.2 asked, "):
        run(step)


def test_a_name_stands_once_and_for_one_division():
    with pytest.raises(ValueError, match="register: mine='users': must be one of budget, population"):
        register(mine="users")(type("Mine", (Mechanism,), {}))
    # the same class in another file
    copied = type("BudgetAbsorption", (Mechanism,), {"__module__": "mtsp_ldp.mechanisms.copied"})
    with pytest.raises(ValueError, match="mechanism 'lba' is registered twice"):
        register(lba="budget")(copied)
    assert REGISTRY.known["lba"] == find("lba")
