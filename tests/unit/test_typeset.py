"""Tables as Markdown, HTML and LaTeX carry the same marks; LaTeX compiles; the page's data fits."""

import base64
import json
import shutil
import subprocess

import numpy as np
import polars as pl
import pytest

from mtsp_ldp import Stream
from mtsp_ldp.evaluation.runs import Run, RunFiles, read_run, write_run
from mtsp_ldp.evaluation.summary import frequency_errors, summarize
from mtsp_ldp.mechanisms.base import Mechanism, Registration
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.releases.release import Release
from mtsp_ldp.report import style
from mtsp_ldp.report.page import as_json
from mtsp_ldp.report.payload import View, _packed, payload
from mtsp_ldp.report.style import style_of
from mtsp_ldp.report.tables import Block, blocks
from mtsp_ldp.report.typeset import as_html, as_latex, as_markdown
from mtsp_ldp.streams.facts import Cell, StreamFacts

ERRORS = {"lsp": [1.0, 1.2], "lpa": [1.15, 1.25], "lbu": [9.0, 9.1], "uniform": [5.0], "zero": [6.0]}


@pytest.fixture(scope="module")
def summary():
    rows = [
        {
            "dataset": "s",
            "mechanism": name,
            "epsilon": None if len(values) == 1 else 1.0,
            "window": None if len(values) == 1 else 10,
            "repetition": repetition,
            "release": release,
            "query": "frequency",
            "measure": "mse",
            "value": value,
        }
        for name, values in ERRORS.items()
        for repetition, value in enumerate(values)
        for release in ("raw", "projected")
    ]
    return summarize(pl.DataFrame(rows))


@pytest.fixture(scope="module")
def parts(summary):
    return blocks(frequency_errors(summary, "s"))


def test_marks_are_best_within_its_interval_and_losing(parts):
    mse = parts[0]
    marks = {row.label: row.marks[0] for row in mse.rows}
    # LSP's mean is 1.1 with an interval up to 2.4: LPA's 1.2 lies in it
    assert marks["LSP"] == {"best"}
    assert marks["LPA"] == {"close"}
    assert marks["LBU"] == {"loses"}
    assert marks["floor: uniform"] == set()
    assert [row.floor for row in mse.rows] == [False, False, False, True, True]


def test_markdown_shows_the_marks(parts):
    text = as_markdown(parts, "A stream")
    assert "**1.1e+00**" in text
    assert "<u>1.2e+00</u>" in text
    assert "9.1e+00†" in text


def test_html_shows_the_marks_without_identifiers_or_styles(parts):
    text = as_html([*parts, Block("nothing", [], [])])
    assert 'class="data row0 col0 loses"' in text
    assert "best" in text
    assert "close" in text
    assert ' id="' not in text
    assert "<style" not in text
    assert "<p>nothing.</p>" in text
    assert as_html(parts) == as_html(parts)


def test_latex_is_booktabs_with_the_floors_apart(parts):
    text = as_latex(parts[:1], "A stream")
    lines = text.splitlines()
    assert r"\bfseries 1.1e+00" in text
    assert "9.1e+00$^\\dagger$" in text
    floor = next(number for number, line in enumerate(lines) if line.startswith("floor: uniform"))
    assert lines[floor - 1] == r"\midrule"
    assert all(sign not in text for sign in "ε†Δ≤")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(parts, tmp_path):
    (tmp_path / "tables.tex").write_text(as_latex(parts, "A stream, 50 % of it"))
    document = r"\documentclass{article}\usepackage{booktabs}\begin{document}\input{tables}\end{document}"
    (tmp_path / "document.tex").write_text(document)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "document.pdf").stat().st_size > 1000


def test_mechanisms_of_ones_own_look_different(monkeypatch):
    own = {f"own_{number}": Registration(f"own_{number}", Mechanism, "budget") for number in range(9)}
    own["own_9"] = Registration("own_9", Mechanism, "population")
    monkeypatch.setattr(style, "mechanisms", lambda: {**mechanisms(), **own})
    looks = [style_of(name) for name in [*mechanisms(), *own]]
    assert len({(one.colour, one.marker, one.dash) for one in looks}) == len(looks)
    assert [style_of(name).dash for name in ("own_0", "own_9", "lbu", "lpu")] == ["--", "-", "--", "-"]


@pytest.mark.parametrize("counted", [None, 1000])
def test_a_run_is_read_as_shares_of_those_who_are_there(tmp_path, counted):
    """With private presence n_t is unknown, and what is released are shares of all."""
    stream = Stream.from_counts(np.array([[30, 10], [5, 45]]), 500, facts=StreamFacts(replicate=2))
    active = np.full(2, counted) if counted else stream.active * 2
    released = stream.counts * 2 / active[:, None]
    trace = pl.DataFrame({"t": [0, 1], "active": active})
    release = Release(released, np.arange(2), active, trace, of_all_users=counted is not None)
    files = RunFiles(str(tmp_path / "run"))
    write_run(files, pl.DataFrame({"value": [0.0]}), release, {})
    run = read_run(files, stream)
    np.testing.assert_allclose(run.frequencies, [[0.75, 0.25], [0.1, 0.9]])


def view(steps, d, mechanisms=("lsp",)):
    rng = np.random.default_rng(1)
    stream = Stream.from_counts(rng.integers(0, 50, (steps, d)))
    trace = pl.DataFrame(
        {
            "t": np.arange(steps),
            "share_1": np.full(steps, 0.025),
            "share_2": np.full(steps, 0.025),
            "published": np.ones(steps, bool),
        }
    )
    facts = StreamFacts(title="S", cells=tuple(Cell(str(cell)) for cell in range(d)))
    return View(stream, facts, {name: Run(trace, rng.normal(size=(steps, d))) for name in mechanisms})


def test_packed_numbers_are_right_to_a_part_of_the_largest():
    values = np.random.default_rng(1).normal(size=(7, 5))
    packed = _packed(values)
    again = np.frombuffer(base64.b64decode(packed["bytes"]), dtype="<i2") * packed["scale"]
    assert np.abs(again.reshape(7, 5) - values).max() < np.abs(values).max() / 60000
    assert _packed(np.zeros((2, 2)))["scale"] == 1.0


def test_the_window_of_a_budget_is_summed_exactly(summary):
    none = pl.DataFrame(schema={"mechanism": pl.String, "factor": pl.Float64, "share": pl.Float64})
    data = payload(summary, {"s": view(60, 3)}, (1.0, 20), none)
    sums = np.frombuffer(base64.b64decode(data["streams"]["s"]["budgets"]["lsp"]["parts"][2]), dtype="<f4")
    assert sums == pytest.approx(np.minimum(np.arange(1, 61), 20) * 0.05)
    assert data["streams"]["s"]["budgets"]["lsp"]["most"] == pytest.approx(1.0)
    assert data["streams"]["s"]["budgets"]["lsp"]["published"] == 60
    assert data["measures"] == [{"title": "MSE of frequencies", "log": True}]
    assert data["results"][-1][2:4] == [None, None]
    assert json.loads(as_json(data)) == data


def test_a_large_stream_is_shown_every_so_often(summary):
    none = pl.DataFrame(schema={"mechanism": pl.String, "factor": pl.Float64, "share": pl.Float64})
    data = payload(summary, {"s": view(900, 1024, ("lsp", "lpa"))}, (1.0, 20), none)
    assert data["streams"]["s"]["stride"] == 2
    assert len(data["streams"]["s"]["active"]) == 450
    assert len(json.dumps(data)) < 5_500_000


def test_data_cannot_close_its_script():
    assert "</script>" not in as_json({"title": "</script><script>alert(1)</script>"})
