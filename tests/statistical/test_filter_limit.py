"""How far MTSP-F is from the filter that knows the noise of the walk: ``pytest -s`` prints it."""

import numpy as np
import pytest

from mtsp_ldp import simulate
from mtsp_ldp.datasets.base import configured
from mtsp_ldp.experiments.config import dataset_config
from mtsp_ldp.mechanisms.mtsp_filter import mechanism
from mtsp_ldp.mechanisms.mtsp_filter.models import StateSpace
from mtsp_ldp.mechanisms.mtsp_filter.report import observe

STEP = 0.0025
"""Standard deviation of a step of the walk."""


def knowing(answers, d):
    """Levels of a filter whose only model has the walk's own noise."""
    model = StateSpace(d, np.full((1, 1), 2.25), [[STEP**2]])
    found = []
    for answer in answers:
        mean, variance = model.predict(np.ones(1), np.ones(d))
        seen = observe(answer, mean[0], sums_to_one=True)
        model.update(seen.values - mean, variance + seen.variances)
        found.append(model.mean[0, 0].copy())
    return np.array(found)


@pytest.mark.parametrize(("epsilon", "window"), [(0.5, 20), (1.0, 20), (2.0, 50)])
def test_on_a_walk_it_is_close_to_the_filter_that_knows_its_noise(monkeypatch, epsilon, window):
    ratios = []
    step = mechanism.Filter.step
    for path in range(6):
        stream = configured({**dataset_config("lns"), "path": path}).prepare(None)
        answers = []
        monkeypatch.setattr(
            mechanism.Filter,
            "step",
            lambda self, t, n, answer, answers=answers: (answers.append(answer), step(self, t, n, answer))[1],
        )
        release = simulate(stream, "mtsp_filter", epsilon=epsilon, window=window, seed=path)
        errors = [
            ((levels - stream.frequencies)[50:] ** 2).mean()
            for levels in (release.frequencies, knowing(answers, stream.d))
        ]
        ratios.append(errors[0] / errors[1])
    mean = np.exp(np.log(ratios).mean())
    print(f"MTSP-F / the filter that knows the noise, lns, ε = {epsilon:g}, w = {window}: {mean:.2f}")
    assert mean < 1.25
    # on the simplex nothing is lost, so only luck makes it better
    assert mean > 0.95
