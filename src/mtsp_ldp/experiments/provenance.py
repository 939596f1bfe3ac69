"""Provenance: digests of the code and config that a result depends on, and the commit.

As parameters of the workflow's rules they make it rerun what an edit touches, and nothing else: Snakemake
does not see an edit below ``src``.
"""

import ast
import hashlib
import subprocess
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mtsp_ldp.datasets.base import Dataset
from mtsp_ldp.experiments.config import ROOT
from mtsp_ldp.foundation.files import digest_text
from mtsp_ldp.mechanisms.registry import base_of, find

PACKAGE = Path(__file__).resolve().parents[1]
ASSETS = ("*.css", "*.jinja", "*.js", "*.mplstyle")
"""Patterns of the files in the package that are not Python."""


def _source(module: str) -> Path | None:
    """Find the file of a module of this package; None for any other module."""
    top, *rest = module.split(".")
    path = PACKAGE.joinpath(*rest)
    for file in (path / "__init__.py", path.with_suffix(".py")):
        if top == PACKAGE.name and file.is_file():
            return file
    return None


@cache
def _imported(module: str) -> frozenset[str]:
    """List the modules of this package that a module imports, by its text: a broken one breaks no other."""
    source = _source(module)
    assert source is not None
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(name for name in names if _source(name) is not None)


def code_digest(*modules: str) -> str:
    """Digest the sources of these modules and of all that they import of this package.

    A module of another package counts with its distribution's version and all of that package's sources.
    """
    needed, todo, digest = set(), list(modules), hashlib.sha256()
    while todo:
        module = todo.pop()
        if module not in needed:
            needed.add(module)
            todo += _imported(module) if _source(module) else []
    for module in sorted(needed):
        source = _source(module)
        digest.update(module.encode() + (source.read_bytes() if source else _foreign(module)))
    if any(module.startswith("mtsp_ldp.report.") for module in needed):
        for asset in sorted(one for pattern in ASSETS for one in (PACKAGE / "report").glob(pattern)):
            digest.update(asset.name.encode() + asset.read_bytes())
    return digest.hexdigest()[:16]


def _foreign(module: str) -> bytes:
    """Join the version of a module's distribution and the sources of its package."""
    top = module.partition(".")[0]
    spec = find_spec(top)
    assert spec is not None
    places = [Path(place) for place in spec.submodule_search_locations or ()]
    files = sorted(file for place in places for file in place.rglob("*.py"))
    if not files and spec.origin:
        files = [Path(spec.origin)]
    versions = [f"{name} {version(name)}" for name in sorted(packages_distributions().get(top, []))]
    return b"\0".join([*(one.encode() for one in versions), *(file.read_bytes() for file in files)])


def stage_digest(stage: str) -> str:
    """Digest the code of a stage."""
    return code_digest(f"mtsp_ldp.stages.{stage}")


def mechanism_digest(name: str) -> str:
    """Digest the code that a mechanism's jobs run."""
    return code_digest("mtsp_ldp.stages.simulate", find(base_of(name)).cls.__module__)


def dataset_digest(dataset: Dataset, stage: str) -> str:
    """Digest the code that fetches or prepares a data set."""
    return code_digest(f"mtsp_ldp.stages.{stage}", type(dataset).__module__)


def commit() -> str:
    """Name the commit of the sources: "-dirty" where they differ from it, "unknown" outside a checkout.

    A new file that is in no commit makes a difference too.
    """
    try:
        described = _git("describe", "--always", "--dirty", "--abbrev=12")
        new = _git("ls-files", "--others", "--exclude-standard", "src", "config", "workflow")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{described.removesuffix('-dirty')}-dirty" if new else described


def _git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def config_digest(*parts: Any) -> str:
    """Digest config values."""
    return digest_text(repr(parts))[:16]
