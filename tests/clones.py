"""Copies of the repository for tests to run in, and what a run left there."""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = {".parquet", ".json", ".csv", ".md", ".tex", ".svg", ".pdf", ".html"}


def copy(target):
    """What a user clones, without a history."""
    wanted = [
        "Snakefile",
        "workflow",
        "config",
        "src",
        "profiles",
        "examples",
        "environment.yml",
        "pyproject.toml",
    ]
    target.mkdir()
    for name in wanted:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target / name)
    return target


def environment(folder, **others):
    """This environment, with the copy's sources before the installed ones; None takes a variable away."""
    given = {**os.environ, "PYTHONPATH": str(folder / "src"), **others}
    return {name: value for name, value in given.items() if value is not None}


def command(*arguments, module="snakemake"):
    return [sys.executable, "-m", module, *arguments]


def run(folder, *arguments, module="snakemake", **others):
    return subprocess.run(
        command(*arguments, module=module),
        cwd=folder,
        env=environment(folder, **others),
        capture_output=True,
        text=True,
        check=False,
    )


def snakemake(folder, *config, cores=2, targets=()):
    """Run the smoke experiment to its end; what Snakemake said."""
    done = run(folder, *targets, "--cores", str(cores), "--config", "experiment=smoke", *config)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr + done.stdout


def once_for_all(tmp_path_factory, worker_id, name, make):
    """A folder that serves all of xdist's workers, and what making it said: the first that comes makes it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent  # each worker has a folder of its own there
    folder, said = shared / name, shared / f"{name}.out"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            said.write_text(make(folder))
    return folder, said.read_text()


class Background:
    """A program that goes on while the test does, and whose lines can be awaited."""

    def __init__(self, *command, **given):
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **given,
        )
        self.lines = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self.lines.append(None)  # it closed its output
            self._news.notify_all()

    def await_lines(self, words, count=1, timeout=120):
        """Wait until so many lines hold the words; False if the program ended before."""

        def there():
            return sum(words in line for line in self.lines if line) >= count

        with self._news:
            met = self._news.wait_for(lambda: there() or None in self.lines, timeout)
            assert met, f"no {count} lines with {words!r} in {timeout} s: {self.lines[-20:]}"
            return there()

    def kill(self):
        """Kill −9 the program with all that it started, until nothing of it is left."""
        while found := list(session(self.process.pid)):
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.finish()

    def finish(self, timeout=300):
        """Wait for its end; its exit code and all that it said."""
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        self.process.stdout.close()
        return code, "\n".join(line for line in self.lines if line is not None)


def session(leader):
    """The living processes that a leader of a session started, and itself."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, sid = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile
        if int(sid) == leader and state != "Z":
            yield int(entry.name)


def results(folder):
    """The bytes of everything that the workflow made."""
    places = [folder / "data", folder / "reports"]
    files = [path for place in places for path in place.rglob("*") if path.suffix in KINDS]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def differences(ours, theirs):
    """Names of the files that only one has, or that differ."""
    return sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))


def planned(folder, *arguments, targets=()):
    """How many jobs of each rule a dry run would start."""
    given = [*targets, "--dry-run", "--cores", "2", "--config", "experiment=smoke", *arguments]
    done = run(folder, *given)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines() + done.stderr.splitlines()]
    return {
        line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit() and line[0] != "total"
    }
