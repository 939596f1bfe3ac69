"""The tutorial, executed: its blocks as they stand, in a copy of the repository."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path

from clones import ROOT, copy, environment

TUTORIAL = ROOT / "docs/tutorial.md"
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def blocks(text):
    """Fenced blocks: their language and what they hold."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)


def executed(folder):
    """What each block prints that is run; each ``text`` block beside what was printed before it."""
    told, pairs = "", []
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for language, content in blocks(TUTORIAL.read_text(encoding="utf-8")):
        if language == "yaml":
            target = re.match(r"# (\S+)\n", content)[1]
            (folder / target).write_text(content, encoding="utf-8")
        elif language == "text":
            pairs.append((content, told))
        else:
            command = {"python": [sys.executable, "-"], "bash": ["bash", "-e"]}[language]
            done = subprocess.run(
                command,
                input=content,
                cwd=folder,
                env=environment(folder, PATH=path),
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, content + done.stderr[-3000:]
            told = done.stdout
    return pairs


def same(quoted, printed):
    """Whether words agree, and numbers up to noise."""
    # a standard error of a few repetitions says little itself
    quoted, printed = (re.sub(r"± \S+", "±", text) for text in (quoted, printed))
    words = [NUMBER.sub("#", text).split() for text in (quoted, printed)]
    numbers = [
        [float(found.replace(",", "")) for found in NUMBER.findall(text)] for text in (quoted, printed)
    ]
    return words[0] == words[1] and all(
        math.isclose(ours, theirs, rel_tol=0.5) for ours, theirs in zip(*numbers, strict=True)
    )


def test_the_tutorial_runs_as_it_stands_and_prints_what_it_quotes(tmp_path):
    folder = copy(tmp_path / "clone")
    pairs = executed(folder)
    assert len(pairs) == 3
    for quoted, printed in pairs:
        assert same(quoted, printed), f"--- quoted\n{quoted}\n--- printed\n{printed}"
    page = (folder / "reports/town/index.html").read_text(encoding="utf-8")
    assert "My town" in page
    assert "My town" in (folder / "reports/streams/town.html").read_text(encoding="utf-8")
    for figure in ("mse_epsilon", "budget"):
        assert (folder / f"reports/town/figures/town.{figure}.svg").exists()


def test_a_quotation_that_is_wrong_would_be_seen():
    assert same("use LSP at ε = 1, error 1.0e-4", "use LSP at ε = 1, error 1.2e-4")
    assert not same("use LSP at ε = 1, error 1.0e-4", "use LSP at ε = 1, error 1.0e-3")
    assert same("1.0e-4 ± 3e-5 †", "1.1e-4 ± 1e-5 †")
    assert not same("use LSP at ε = 1, error 1.0e-4", "use LPU at ε = 1, error 1.0e-4")
