"""Measured errors against what theory says, on every stream; and the bias that arcs avoid."""

import math

import numpy as np
import pytest

from mtsp_ldp import simulate
from mtsp_ldp.foundation.seeds import Generators
from mtsp_ldp.privacy.division import PopulationDivision
from mtsp_ldp.privacy.oracle import OUE
from mtsp_ldp.privacy.population import Reporters
from mtsp_ldp.privacy.stream_population import Panel
from mtsp_ldp.privacy.survey import Question
from mtsp_ldp.privacy.units import FULL

REPETITIONS, WINDOW, EPSILON = 24, 20, 1.0
STREAMS = ["flights", "city", "lns", "sin", "log"]


def measured(stream, name, **options):
    errors = []
    for repetition in range(REPETITIONS):
        release = simulate(
            stream,
            name,
            epsilon=EPSILON,
            window=WINDOW,
            repetition=repetition,
            replicate=stream.replicate,
            **options,
        )
        errors.append(((release.frequencies - stream.frequencies) ** 2).mean())
    return np.mean(errors), np.std(errors, ddof=1) / math.sqrt(REPETITIONS)


def noise(epsilon, n, frequencies):
    """Exact variance of an OUE estimate from everybody, averaged over t and cells."""
    unit = OUE(epsilon).variance(1)
    return (unit / n + frequencies.mean(axis=1) / n).mean()


@pytest.mark.parametrize("name", STREAMS)
def test_lbu(stream, name):
    data = stream(name)
    n, f = data.active * data.replicate, data.frequencies
    mean, error = measured(data, "lbu")
    assert abs(mean - noise(EPSILON / WINDOW, n, f)) < 4 * error


@pytest.mark.parametrize("name", STREAMS)
def test_lpu(stream, name):
    data = stream(name)
    n, f = data.active * data.replicate, data.frequencies
    m = n / WINDOW
    sampling = ((f * (1 - f)).mean(axis=1) / m * (n - m) / (n - 1)).mean()
    mean, error = measured(data, "lpu")
    assert abs(mean - noise(EPSILON, m, f) - sampling) < 4 * error


@pytest.mark.parametrize("name", STREAMS)
def test_lsp(stream, name):
    data = stream(name)
    last = np.arange(data.length) // WINDOW * WINDOW
    n, f = data.active[last] * data.replicate, data.frequencies[last]
    moved = ((data.frequencies - f) ** 2).mean()
    mean, error = measured(data, "lsp", phase=0)
    assert abs(mean - noise(EPSILON, n, f) - moved) < 4 * error


class Eligible(Panel):
    """Draws from the active users who did not report in the last w - 1 steps: private, but biased."""

    def _present(self, t, ranges):
        wanted = round(self.active(t) * sum(end - start for start, end in ranges) / self._reporters)
        eligible = np.flatnonzero((self._cell[self._owner] >= 0) & (self._seen._last <= t - WINDOW))
        who = self._coins.choice(eligible, min(wanted, eligible.size), replace=False)
        cells = self._cell[self._owner[who]]
        return Reporters(ranges, np.bincount(cells, minlength=self.d), who.size, who)


def overshoot(kind, data, cell, t):
    """Mean error of the estimate of one cell's frequency at t, in standard errors."""
    errors = []
    for seed in range(120):
        random = Generators(*(np.random.default_rng([seed, part]) for part in range(3)))
        population = kind(data, division=PopulationDivision(20.0), window=WINDOW, random=random)
        for when in range(t - 2 * WINDOW, t + 1):
            answers = population.survey(when, [Question(np.arange(data.d))], FULL // WINDOW)
        errors.append(answers[0].estimates[cell] - data.frequencies[t, cell])
    return np.mean(errors) / (np.std(errors, ddof=1) / math.sqrt(len(errors)))


def test_drawing_from_eligible_active_users_is_biased_where_arcs_are_not(stream):
    data = stream("city")
    crowd = data.facts.events[0]
    assert abs(overshoot(Panel, data, crowd.cell, crowd.start)) < 4
    assert overshoot(Eligible, data, crowd.cell, crowd.start) > 6
