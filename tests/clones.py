"""Copies of the repository for tests to run in, and what a run left there."""

import os
import shutil
import subprocess
import sys
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


def snakemake(folder, *arguments, cores=2, targets=()):
    """Run the smoke experiment to its end; what Snakemake said."""
    done = run(folder, *targets, "--cores", str(cores), "--config", "experiment=smoke", *arguments)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr + done.stdout


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
