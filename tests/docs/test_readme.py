"""The README: its table and picture from committed results, its example of a mechanism, its Python."""

import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import headline
from clones import ROOT, copy, environment
from mtsp_ldp import Stream
from mtsp_ldp.evaluation.runs import run_cell
from mtsp_ldp.evaluation.summary import summarize
from mtsp_ldp.streams.facts import StreamFacts

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXPERIMENT = {"lpu": {}, "lsp": {}, "zero": {}, "uniform": {}}


@pytest.fixture(scope="module")
def summary():
    """Of an experiment as the default one, in small."""
    counts = np.full((40, 4), 500)
    counts[:, 0] = 8000
    scores = []
    for name in ("flights", "city"):
        stream = Stream.from_counts(counts, facts=StreamFacts(dataset=name, title=name))
        for mechanism, options in EXPERIMENT.items():
            floor = mechanism in ("zero", "uniform")
            for epsilon in [None] if floor else [0.5, 1.0, 2.0]:
                for window in [None] if floor else [10, 20]:
                    given = {"epsilon": epsilon, "window": window, "repetitions": 3, "seed": 1}
                    scores.append(run_cell(stream, mechanism, options, **given)[0])
    return summarize(pl.concat(scores))


def test_the_readmes_table_is_what_the_committed_results_give():
    results = headline.read(ROOT / headline.RESULTS)
    assert headline.inserted(README, results) == README
    assert f"]({headline.PICTURE})" in README
    assert (ROOT / headline.PICTURE).read_text(encoding="utf-8").startswith("<?xml")
    # all of the default experiment at w = 20: ten mechanisms, three budgets, two floors, two streams
    assert results.height == 2 * (10 * 3 + 2)


def test_table_and_picture_are_made_anew_from_a_small_experiment(summary, tmp_path, capsys):
    summary.write_parquet(tmp_path / "small.parquet")
    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    arguments = ["--summary", str(tmp_path / "small.parquet"), "--into", str(tmp_path)]
    headline.main(arguments)
    told = capsys.readouterr().out.strip()
    made = {
        path: (tmp_path / path).read_bytes() for path in ("README.md", headline.RESULTS, headline.PICTURE)
    }
    headline.main(arguments)
    assert all((tmp_path / path).read_bytes() == content for path, content in made.items())
    text = made["README.md"].decode()
    before, _, rest = README.partition(headline.BEGIN)
    assert text.startswith(before)
    assert text.endswith(rest.partition(headline.END)[2])
    assert " ".join(told.split()) in " ".join(text.split())
    # by hand, from the summary
    cell = summary.filter(
        pl.col("dataset") == "flights",
        pl.col("query") == "frequency",
        pl.col("measure") == "mse",
        pl.col("release") == "raw",
    )
    lsp = cell.filter(mechanism="lsp", epsilon=1.0, window=20).row(0, named=True)
    even = cell.filter(mechanism="uniform")["mean"].item()
    shown = [lsp[name] / even for name in ("mean", "low", "high")]
    row = next(line for line in text.splitlines() if line.startswith("| LSP |"))
    assert [float(number) for number in re.findall(r"[\d.]+", row)[:3]] == pytest.approx(shown, rel=0.06)
    assert row.count("**") == 4  # best on both streams
    assert f"On `flights` LSP has the lowest error ({shown[0]:#.2g}× publishing nothing)" in told


def test_a_summary_that_is_not_there_is_told_in_one_line(tmp_path):
    with pytest.raises(SystemExit, match=r"none\.parquet: no such file; `make` runs"):
        headline.main(["--summary", str(tmp_path / "none.parquet")])


def test_labels_keep_apart_and_in_order_and_stay_where_there_is_room():
    wanted = np.array([0.1, 0.11, 0.12, 0.5, 0.9])
    places = headline._spread(wanted, 0.05)
    assert (np.diff(places) >= 0.05 - 1e-12).all()
    assert places[3:] == pytest.approx(wanted[3:])
    assert places[:3].mean() == pytest.approx(wanted[:3].mean())


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    folder = copy(tmp_path_factory.mktemp("readme") / "clone")
    for language in ("python", "yaml"):
        for block in blocks(language):
            path = re.match(r"# (\S+)\n", block)
            if path:
                (folder / path[1]).write_text(block, encoding="utf-8")
    return folder


def run(clone, *arguments):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=clone,
        env=environment(clone),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_mechanism_of_the_readme_runs_and_keeps_its_budget(clone):
    example = blocks("python")[1]
    assert len(example.splitlines()) <= 26  # its path, and 25 lines
    counts = np.full((40, 4), 500)
    counts[:, 0] = 8000
    Stream.from_counts(counts, facts=StreamFacts(dataset="log")).write(clone / "data/streams/log.parquet")
    given = ["dataset=log", "mechanism=alternating", "window=5", "repetitions=3"]
    for every in (2, 3):
        scores = run(
            clone, "-m", "mtsp_ldp.stages.simulate", *given, f"mechanism.options.every={every}"
        ).strip()
        table = pl.read_csv(scores.encode())
        error = table.filter(
            pl.col("query") == "frequency", pl.col("measure") == "mse", pl.col("release") == "raw"
        )
        assert (error["value"] < 0.02).all()
        share = table.filter(pl.col("query") == "publication")["value"].unique().to_list()
        assert share == [len(range(0, 40, every)) / 40]
    spent = run(
        clone,
        "-c",
        "from mtsp_ldp import Stream, privacy_spend\n"
        "stream = Stream.read('data/streams/log.parquet')\n"
        "for window in (4, 5, 7): print(privacy_spend(stream, 'alternating', epsilon=1.0, window=window))",
    )
    assert [float(line) for line in spent.split()] == [1.0, 1.0, 1.0]


def test_the_python_of_the_readme_runs(clone, stream):
    stream("flights").write(clone / "data/streams/flights.parquet")
    *_, last = blocks("python")[0].strip().splitlines()
    lines = blocks("python")[0].strip().removesuffix(last)
    told = run(clone, "-c", f"{lines}\nprint(release.frequencies.shape)\nprint({last.partition('#')[0]})")
    assert told.split("\n")[0] == "(672, 95)"
    assert float(told.split("\n")[1]) <= 1.0
