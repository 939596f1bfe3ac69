"""A small grid for the faults that need no more, and its undisturbed results."""

import shutil

import pytest

from clones import Background, command, copy, differences, environment, once_for_all, results, run, snakemake

SMALL = [
    "experiment=smoke",
    "dataset=[log]",
    "mechanism=[zero,lpa]",
    "repetitions=1",
    "figures=[budget,busiest]",
]


class Trial:
    """A clone that meets a fault, and what it should hold in the end."""

    def __init__(self, folder, config, undisturbed):
        self.folder, self.config, self.undisturbed = folder, config, undisturbed
        self.started = []

    def end(self):
        """Leave nothing running, whatever the test found."""
        for background in self.started:
            background.kill()

    def arguments(self, *flags):
        return [*flags, "--cores", "2", "--config", *self.config]

    def run(self, *flags, **variables):
        """The plain command, to its end: exit code and what was said."""
        done = run(self.folder, *self.arguments(*flags), **variables)
        return done.returncode, done.stdout + done.stderr

    def start(self, **variables):
        """The plain command, in the background."""
        given = environment(self.folder, **variables)
        self.started.append(Background(*command(*self.arguments()), cwd=self.folder, env=given))
        return self.started[-1]

    def completes(self):
        """Whether the plain command now gives all that an undisturbed run gives, and no debris."""
        code, said = self.run()
        assert code == 0, said[-3000:]
        self.is_whole()

    def is_whole(self):
        assert differences(results(self.folder), self.undisturbed) == []
        places = [self.folder / "data", self.folder / "reports"]
        assert [path for place in places for path in place.rglob("*partial*")] == []


def small(folder):
    return snakemake(copy(folder), *SMALL)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory, worker_id):
    """A clone in which the small grid is done; look at it only."""
    folder, _ = once_for_all(tmp_path_factory, worker_id, "a small clöne", small)
    return folder


@pytest.fixture
def trial(undisturbed, tmp_path):
    """A fresh clone, to run the small grid in."""
    one = Trial(copy(tmp_path / "clone"), SMALL, results(undisturbed))
    yield one
    one.end()


@pytest.fixture
def done(undisturbed, tmp_path):
    """A clone of one's own in which the small grid is done."""
    folder = tmp_path / "done"
    shutil.copytree(undisturbed, folder)
    return Trial(folder, SMALL, results(undisturbed))


@pytest.fixture
def whole(reference, tmp_path):
    """A fresh clone, to run the whole of smoke in."""
    one = Trial(copy(tmp_path / "whole"), ["experiment=smoke"], results(reference[0]))
    yield one
    one.end()
