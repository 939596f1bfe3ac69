"""What a result was made with: digests of the code and config that it depends on, and the commit.

As parameters of the workflow's rules they make it rerun what an edit touches, and nothing else: Snakemake
does not see an edit below ``src``.
"""

import hashlib
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import grimp

from mtsp_ldp.catalog import load_dataset
from mtsp_ldp.composition import ROOT
from mtsp_ldp.experiment import base_of
from mtsp_ldp.files import digest_text
from mtsp_ldp.mechanisms.registry import find

ASSETS = ("*.css", "*.jinja", "*.js", "*.mplstyle")
"""What the package holds beside Python."""


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph("mtsp_ldp", cache_dir=None)


def code_digest(*modules: str) -> str:
    """Digest of the sources of these modules and of all that they import of this package."""
    needed = set(modules)
    for module in modules:
        needed |= _graph().find_upstream_modules(module)
    digest = hashlib.sha256()
    for module in sorted(needed):
        path = ROOT / "src" / Path(*module.split("."))
        source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        digest.update(module.encode() + source.read_bytes())
    if any(module.startswith("mtsp_ldp.report.") for module in needed):
        report = ROOT / "src" / "mtsp_ldp" / "report"
        for asset in sorted(one for kind in ASSETS for one in report.glob(kind)):
            digest.update(asset.name.encode() + asset.read_bytes())
    return digest.hexdigest()[:16]


def stage_digest(stage: str) -> str:
    """Digest of the code of a stage."""
    return code_digest(f"mtsp_ldp.stages.{stage}")


def mechanism_digest(name: str) -> str:
    """Digest of the code that a mechanism's jobs run."""
    return code_digest("mtsp_ldp.stages.simulate", find(base_of(name)).cls.__module__)


def dataset_digest(name: str, stage: str) -> str:
    """Digest of the code that fetches or prepares a data set."""
    return code_digest(f"mtsp_ldp.stages.{stage}", type(load_dataset(name)).__module__)


def commit() -> str:
    """The commit of the sources, "-dirty" where they differ from it; "unknown" outside a checkout.

    A file of one's own that is in no commit makes a difference too.
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
    """Digest of config values."""
    return digest_text(repr(parts))[:16]
