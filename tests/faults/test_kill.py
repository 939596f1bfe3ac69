"""Runs that are killed, terminated or interrupted: the plain command goes on, and the results are the same."""

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest


def session(leader):
    """The processes that this run started, and itself."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader:
            found.append(int(entry.name))
    return found


def kill_all(background):
    """Kill −9 a run with all that it started, until nothing of it is left."""
    while found := [pid for pid in session(background.process.pid) if not ended(pid)]:
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        background.process.poll()


def ended(pid):
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


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
    kill_all(background)
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


def test_killed_while_its_jobs_live_on(trial):
    background = trial.start()
    assert reach(background, (5, 0.2))
    background.process.kill()
    background.process.wait()
    trial.completes()
    kill_all(background)
    background.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["terminated", "interrupted"])
def test_asked_to_stop(trial, number):
    background = trial.start()
    assert reach(background, (6, 0.1))
    os.killpg(background.process.pid, number)  # as a terminal does
    code, said = background.finish()
    assert code != 0
    assert "Traceback" not in said
    trial.completes()
