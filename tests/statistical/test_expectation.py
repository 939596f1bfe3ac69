"""Expected errors against simulated ones, on every kind of stream."""

import math

import numpy as np
import pytest

from mtsp_ldp import Stream, simulate
from mtsp_ldp.evaluation.expectation import CLOSED_FORMS, Expectation

REPETITIONS = 30


@pytest.mark.parametrize("mechanism", CLOSED_FORMS)
@pytest.mark.parametrize(
    ("name", "epsilon", "window"), [("flights", 1.0, 20), ("city", 0.5, 10), ("log", 2.0, 7)]
)
def test_a_closed_form_is_the_mean_of_simulations(stream, mechanism, name, epsilon, window):
    data = stream(name)
    errors = [
        (
            (
                simulate(
                    data,
                    mechanism,
                    epsilon=epsilon,
                    window=window,
                    repetition=repetition,
                    replicate=data.replicate,
                ).frequencies
                - data.frequencies
            )
            ** 2
        ).mean()
        for repetition in range(REPETITIONS)
    ]
    error = np.std(errors, ddof=1) / math.sqrt(REPETITIONS)
    assert abs(np.mean(errors) - Expectation(data).error(mechanism, epsilon, window)) < 4 * error


def test_the_floors_are_what_the_floors_get(stream):
    data = stream("flights")
    for name, floor in Expectation(data).floors.items():
        release = simulate(data, name, epsilon=1.0, window=20)
        assert floor == pytest.approx(((release.frequencies - data.frequencies) ** 2).mean())


def test_the_least_epsilon_is_where_a_mechanism_meets_the_floor():
    counts = np.full((40, 4), 100)
    counts[:, 0] = 700
    expected = Expectation(Stream.from_counts(counts))
    for mechanism in CLOSED_FORMS:
        least = expected.least_epsilon(mechanism, 10)
        assert expected.error(mechanism, least, 10) == pytest.approx(expected.floor, rel=1e-6)
        assert expected.error(mechanism, least / 2, 10) > expected.floor
    # all in the same place for ever: 1/d is right, nothing beats it
    assert Expectation(Stream.from_counts(np.full((40, 4), 100))).least_epsilon("lpu", 10) is None


def test_empty_timestamps_are_left_out():
    counts = np.array([[3, 1], [0, 0], [3, 1]])
    expected = Expectation(Stream.from_counts(counts))
    assert expected.active.tolist() == [4, 4]
    assert expected.error("lbu", 1.0, 10) > expected.floors["zero"]


@pytest.mark.parametrize("window", [20, 150])
def test_sampling_is_expected_over_all_its_phases(window):
    """A stream that jumps once: what LSP errs depends on how long after the jump its phase is."""
    counts = np.full((200, 4), 5000)
    counts[60:, 0] = 25000
    data = Stream.from_counts(counts)

    def error(phase):  # each phase with random numbers of its own, or one draw would be in all of them
        release = simulate(data, "lsp", epsilon=2.0, window=window, phase=phase, repetition=phase)
        return ((release.frequencies - data.frequencies) ** 2).mean()

    errors = [error(phase) for phase in range(window)]
    assert np.max(errors) > 1.5 * np.min(errors)
    assert Expectation(data).error("lsp", 2.0, window) == pytest.approx(np.mean(errors), rel=0.02)


def test_an_arc_that_is_no_whole_number_of_users_is_reckoned_with():
    """59.98 of 2,999 users are asked: 60 nearly always, never 59 alone."""
    data = Stream.from_counts(np.full((100, 4), 700), 2999)
    errors = [
        (
            (simulate(data, "lpu", epsilon=0.5, window=50, repetition=r).frequencies - data.frequencies) ** 2
        ).mean()
        for r in range(200)
    ]
    assert Expectation(data).error("lpu", 0.5, 50) == pytest.approx(np.mean(errors), rel=0.01)


@pytest.mark.parametrize("mechanism", CLOSED_FORMS)
@pytest.mark.parametrize("quiet", [15, 100, 400])
def test_few_reporters_are_reckoned_with(mechanism, quiet):
    """With 15 active of 2,000 a share of 1/20 often meets nobody, and one reporter is much noise."""
    rng = np.random.default_rng(1)
    rows = []
    for t in range(80):
        n = 400 if t % 4 == 0 else quiet
        who = rng.choice(2000, n, replace=False)
        rows.append(np.column_stack([np.full(n, t), who, rng.random(n) < (0.9 if t % 8 < 4 else 0.2)]))
    t, user, cell = np.concatenate(rows).astype(np.int64).T
    data = Stream.from_panel(t, user, cell, 2, users=2000)
    errors = [
        (
            (simulate(data, mechanism, epsilon=5.0, window=20, repetition=r).frequencies - data.frequencies)
            ** 2
        ).mean()
        for r in range(80)
    ]
    error = np.std(errors, ddof=1) / math.sqrt(len(errors))
    assert abs(np.mean(errors) - Expectation(data).error(mechanism, 5.0, 20)) < 4 * error
