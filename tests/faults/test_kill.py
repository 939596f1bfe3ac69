"""Runs that are killed, terminated or interrupted: the plain command completes them."""

import os
import random
import signal
import subprocess

import pytest


def reach(background, moment):
    """Wait until so many jobs have started, and a part of a second more."""
    jobs, seconds = moment
    if background.await_lines("jobid:", count=jobs):
        try:
            background.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            return True
    return False


def moments(count, jobs, seed):
    """Seeded moments, spread over a run of so many jobs."""
    rng = random.Random(seed)
    return [(1 + int((k + rng.random()) * jobs / count), rng.random()) for k in range(count)]


def disturb(trial, moment):
    background = trial.start()
    assert reach(background, moment), background.finish()
    background.kill()
    code, _ = background.finish()
    assert code == -signal.SIGKILL
    trial.completes()


@pytest.mark.parametrize("moment", moments(3, 16, seed=1), ids=str)
def test_killed_with_its_jobs(trial, moment):
    disturb(trial, moment)


@pytest.mark.slow
@pytest.mark.parametrize("moment", moments(20, 58, seed=2), ids=str)
def test_the_whole_of_smoke_killed_with_its_jobs(whole, moment):
    disturb(whole, moment)


@pytest.mark.slow
def test_killed_while_its_jobs_live_on(trial):
    background = trial.start()
    assert reach(background, (5, 0.2))
    background.process.kill()
    background.process.wait()
    trial.completes()


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="interrupted"),
        pytest.param(signal.SIGTERM, id="terminated", marks=pytest.mark.slow),
    ],
)
def test_asked_to_stop(trial, number):
    background = trial.start()
    assert reach(background, (6, 0.1))
    os.killpg(background.process.pid, number)  # as a terminal does
    code, said = background.finish()
    assert code != 0
    assert "Traceback" not in said
    trial.completes()
