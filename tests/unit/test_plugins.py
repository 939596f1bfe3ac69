"""Mechanisms and formats that live in other packages, and modules that are broken."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from clones import ROOT, copy

MODULE = '''
"""Constant: half for ever."""
import numpy as np
from mtsp_ldp.mechanisms.base import Mechanism, Step, register

@register(half="budget")
class Half(Mechanism):
    """Release a constant.

    Parameters
    ----------
    value
        The constant.
    """

    reads_data = False

    def __init__(self, setting, *, value: float = 0.5):
        super().__init__(setting)
        self._value = value

    def initial(self):
        return np.full(self.setting.d, self._value)

    def step(self, t, n, survey):
        return Step()
'''
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "tiny-ldp"
version = "1.0"
[project.entry-points."mtsp_ldp.mechanisms"]
half = "tiny_ldp.half"
[tool.setuptools]
packages = ["tiny_ldp"]
"""


RUN = """
import numpy as np
from mtsp_ldp import Stream, simulate
from mtsp_ldp.mechanisms.registry import floors
stream = Stream.from_counts(np.full((3, 4), 5))
print(simulate(stream, "half", epsilon=1.0, window=2, value=0.25).frequencies.sum())
print(*floors())
"""


def install(source, target, version="1.0"):
    """Install a package that brings a mechanism."""
    package = source / "tiny_ldp"
    package.mkdir(parents=True, exist_ok=True)
    (source / "pyproject.toml").write_text(PROJECT.replace("1.0", version))
    (package / "__init__.py").touch()
    (package / "half.py").write_text(MODULE)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run(
        [*pip, "--upgrade", "--target", target, source], check=True, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    install(folder / "source", folder / "site")
    return folder


def python(code, *places, cwd=ROOT, module=False):
    command = [sys.executable, "-m" if module else "-c", *code]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, text=True, check=False)


def test_a_mechanism_of_another_package_runs_and_has_options(installed):
    words = ["mtsp_ldp.stages.simulate", "--help", "mechanism=half", "mechanism.options.value=0.25"]
    done = python(words, ROOT / "src", installed / "site", module=True)
    assert done.returncode == 0, done.stderr
    assert '"value": 0.25' in done.stdout
    told = python([RUN], ROOT / "src", installed / "site")
    assert told.stdout.split() == ["3.0", "half", "uniform", "zero"], told.stderr


def digest(*places):
    code = "from mtsp_ldp.experiments.provenance import mechanism_digest; print(mechanism_digest('half'))"
    done = python([code], *places)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_its_digest_is_its_version_and_its_sources(installed, tmp_path):
    first = digest(ROOT / "src", installed / "site")
    assert digest(ROOT / "src", installed / "site") == first
    install(tmp_path / "source", tmp_path / "newer", "1.1")
    assert digest(ROOT / "src", tmp_path / "newer") != first
    install(tmp_path / "source", tmp_path / "edited")
    assert digest(ROOT / "src", tmp_path / "edited") == first
    with (tmp_path / "edited/tiny_ldp/half.py").open("a") as file:
        file.write("# edited\n")
    assert digest(ROOT / "src", tmp_path / "edited") != first


def test_a_broken_module_is_named_and_left_out(tmp_path):
    folder = copy(tmp_path / "clone")
    (folder / "src/mtsp_ldp/mechanisms/broken.py").write_text('"""Broken."""\n\ndef step(:\n')
    run = ["snakemake", "-n", "--cores", "1", "--config", "experiment=smoke"]
    done = python(run, folder / "src", cwd=folder, module=True)
    assert done.returncode == 0, done.stderr
    line = r"^mtsp_ldp\.mechanisms\.broken is left out \(SyntaxError: line 3: "
    assert re.search(line, done.stderr, re.M), done.stderr[-2000:]
    unknown = python([*run, "mechanism=[broken]"], folder / "src", cwd=folder, module=True)
    assert unknown.returncode != 0
    assert "mechanism='broken': must be one of lba, " in unknown.stdout + unknown.stderr
    assert "mechanisms.broken is left out" in unknown.stdout + unknown.stderr


def test_two_mechanisms_of_one_name_are_told(installed, tmp_path):
    package = tmp_path / "other"
    for path in (installed / "site").rglob("*"):
        place = package / str(path.relative_to(installed / "site")).replace("tiny", "other")
        if path.is_file() and "__pycache__" not in path.parts:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes().replace(b"tiny", b"other"))
    code = "from mtsp_ldp.mechanisms.base import REGISTRY; print(*REGISTRY.warnings())"
    done = python([code], ROOT / "src", installed / "site", package)
    assert "mechanism 'half' is registered twice: by " in done.stdout, done.stderr
    assert Path(package / "other_ldp").exists()
