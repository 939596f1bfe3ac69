"""The workflow as its users run it, in a copy of the repository."""

import json
import shutil
import textwrap

import polars as pl
import pytest

from clones import ROOT, copy, planned, results, run, snakemake

pytestmark = pytest.mark.xdist_group("workflow")  # one finished run serves them all


@pytest.fixture(scope="module")
def finished(reference, tmp_path_factory):
    """A finished clone of this module's own, to edit."""
    folder, output = reference
    own = tmp_path_factory.mktemp("own") / "a clone's folder"
    shutil.copytree(folder, own)
    return own, output.replace(str(folder), str(own))


def test_it_says_what_it_will_do_and_where_the_page_is(finished):
    folder, output = finished
    assert "smoke: 24 of 24 cells are to be simulated; that takes about " in output
    assert f"the report is {folder}/reports/smoke/index.html" in output


def test_all_files_are_there_and_no_other(finished):
    folder, _ = finished
    names = set(results(folder))
    stem = "data/runs/smoke/flights/lpa/epsilon=1.0_window=20"
    assert {f"{stem}{suffix}" for suffix in (".parquet", ".release.parquet", ".trace.parquet")} <= names
    assert "data/runs/smoke/flights/zero/epsilon=any_window=any.parquet" in names
    assert {"reports/smoke/index.html", "reports/smoke/tables/log.tex"} <= names
    assert not [path for path in folder.rglob("*") if "partial" in path.name]
    assert not (folder / "outputs").exists()
    scores = pl.read_parquet(folder / f"{stem}.parquet")
    assert scores.columns == [
        "dataset", "mechanism", "epsilon", "window", "repetition", "release", "query", "measure", "value",
    ]  # fmt: skip
    assert set(scores["release"]) == {"raw", "projected"}
    metadata = pl.read_parquet_metadata(folder / f"{stem}.parquet")
    assert {"config_digest", "code_digest", "stream_digest", "replicate", "numpy"} <= set(metadata)
    assert metadata["replicate"] == "150"
    for suffix in (".release.parquet", ".trace.parquet"):
        metadata = pl.read_parquet_metadata(folder / f"{stem}{suffix}")
        named = set(metadata) - {"ARROW:schema"}
        assert named == {"python", "numpy", "polars", "presence", "projection", "private"}
        assert metadata["private"] == "no: a simulated release is reproducible from its seed"


def test_one_core_and_two_give_the_same_bytes(finished, tmp_path):
    folder, _ = finished
    other = copy(tmp_path / "other")
    snakemake(other, cores=1)
    ours, theirs = results(folder), results(other)
    assert ours.keys() == theirs.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


def test_nothing_is_left_to_do_and_touching_reruns_nothing(finished):
    folder, _ = finished
    for path in folder.rglob("*.py"):
        path.touch()
    for path in folder.rglob("*.yaml"):
        path.touch()
    assert planned(folder) == {}


def planned_with(folder, source, text):
    """Jobs that Snakemake would run if a file of the clone said this."""
    before = source.read_text()
    source.write_text(text)
    try:
        return planned(folder)
    finally:
        source.write_text(before)


@pytest.mark.parametrize(
    ("module", "cells"),
    # MTSP-LDP may be told to allocate as absorption does, and MTSP-F to ask as LSP does
    [
        ("sample", ["lsp", "mtsp_filter"]),
        ("mtsp/mechanism", ["mtsp_population"]),
        ("absorption", ["lpa", "mtsp_population"]),
    ],
)
def test_an_edited_mechanism_reruns_its_own_jobs_only(finished, module, cells):
    folder, _ = finished
    source = folder / f"src/mtsp_ldp/mechanisms/{module}.py"
    jobs = planned_with(folder, source, source.read_text() + "\n# edited\n")
    assert jobs.pop("simulate") == 4 * len(cells)
    assert "prepare" not in jobs
    assert "fetch" not in jobs


@pytest.mark.parametrize(("asset", "rule"), [("page.js", "publish"), ("report.mplstyle", "plot")])
def test_an_edited_asset_of_the_report_reruns_what_it_is_part_of(finished, asset, rule):
    folder, _ = finished
    source = folder / f"src/mtsp_ldp/report/{asset}"
    jobs = planned_with(folder, source, source.read_text() + "\n")
    assert jobs[rule] >= 1
    assert "simulate" not in jobs


def test_an_edited_option_reruns_what_it_touches_only(finished):
    folder, _ = finished
    source = folder / "config/mechanism/lsp.yaml"
    source.parent.mkdir()
    source.write_text("name: lsp\noptions: {}\n")
    assert planned(folder) == {}
    jobs = planned_with(folder, source, "name: lsp\noptions: {phase: 0}\n")
    shutil.rmtree(source.parent)
    assert jobs["simulate"] == 4
    assert "prepare" not in jobs


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("epsilon=[0]", ["epsilon[0]", "0", "above 0"]),
        ("epsilon=[-1.0]", ["epsilon[0]", "-1", "above 0"]),
        ("epsilon=[.nan]", ["epsilon[0]=nan", "finite"]),
        ("epsilon=[]", ["epsilon=[]", "at least one"]),
        ("epsilon=['x']", ["epsilon[0]", "'x'", "number"]),
        ("window=[0]", ["window[0]=0", "at least 1"]),
        ("window=[1.5]", ["window[0]=1.5", "integer"]),
        ("window=[801]", ["window=801", "1..672"]),
        ("repetitions=0", ["repetitions", "0", "at least 1"]),
        ("mechanism=[lbx]", ["mechanism='lbx'", "lbu"]),
        ("dataset=[atlantis]", ["dataset", "'atlantis'", "flights"]),
        ("repetition=3", ["repetition: unknown key", "repetitions"]),
        ("experiment=smok", ["experiment='smok'", "smoke"]),
    ],
)
def test_bad_config_is_refused_in_one_line_before_any_job(finished, override, words):
    folder, _ = finished
    config = [override] if override.startswith("experiment=") else ["experiment=smoke", override]
    done = run(folder, "--dry-run", "--cores", "1", "--config", *config)
    assert done.returncode != 0
    output = done.stdout + done.stderr
    line = next(line for line in output.splitlines() if words[0] in line)
    assert all(word in line for word in words), line
    assert "Traceback" not in output
    assert "Job stats" not in output


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("epsilon=0", "simulate: epsilon=0"),
        ("window=900", "simulate: window=900: must be in 1..800"),
        ("+mechanism.options.phaze=3", "simulate: lsp.phaze: unknown key; allowed: phase"),
        ("repetitions=0", "simulate: repetitions=0"),
        ("+dataset.replicate=2", "log.parquet: prepared from another config of log than it has now"),
    ],
)
def test_a_stage_refuses_bad_values_in_one_line(finished, override, words):
    folder, _ = finished
    done = run(folder, "dataset=log", "mechanism=lsp", override, module="mtsp_ldp.stages.simulate")
    assert done.returncode != 0
    assert words in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_stage_says_what_it_is_told(finished):
    folder, _ = finished
    shown = run(folder, "--help", "dataset=log", module="mtsp_ldp.stages.simulate").stdout
    assert "mtsp_ldp.stages.simulate key=value" in shown
    assert '"name": "log"' in shown
    refused = run(folder, "--cfg", module="mtsp_ldp.stages.simulate")
    assert refused.returncode != 0
    assert refused.stderr == "simulate: --cfg: unknown option; allowed: key=value, --help\n"


def test_a_corrupted_stream_is_refused_by_name(finished, tmp_path):
    folder, _ = finished
    streams = tmp_path / "streams"
    shutil.copytree(folder / "data/streams", streams)
    whole = (streams / "log.parquet").read_bytes()
    (streams / "log.parquet").write_bytes(whole[: len(whole) // 2])
    done = run(folder, "dataset=log", f"data={tmp_path}", module="mtsp_ldp.stages.simulate")
    assert done.returncode != 0
    assert "log.parquet: not a whole parquet file" in done.stderr


def test_a_stream_is_looked_into_on_a_page_and_on_the_terminal(finished):
    folder, _ = finished
    snakemake(folder, "--", "reports/streams/log.html")
    page = (folder / "reports/streams/log.html").read_text()
    assert "hopeless below ε = " in page
    assert "http" not in page.replace("http://www.w3.org", "")
    told = (folder / "logs/smoke/inspect/log.log").read_text()
    assert "expected MSE" in told
    assert "w = 20: at ε = 1 one frequency has a standard deviation of 0.019 under LPU" in told


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dataset=[tdrive]"], ["tdrive: 06.zip", "missing", "allow_download=true accept_terms=[tdrive]"]),
        (["dataset=[tdrive]", "allow_download=true"], ["tdrive", "terms are research use only"]),
        (["allow_download=3"], ["allow_download=3", "true or false"]),
    ],
)
def test_missing_raw_data_is_told_before_any_job(finished, arguments, words):
    folder, _ = finished
    done = run(folder, "--dry-run", "--cores", "1", "--config", "experiment=smoke", *arguments)
    assert done.returncode != 0
    output = done.stdout + done.stderr
    line = next(line for line in output.splitlines() if words[0] in line)
    assert all(word in line for word in words), line
    assert "Job stats" not in output


def test_data_of_ones_own_goes_from_a_csv_to_a_page(finished):
    """The example of config/README.md, with made rows."""
    folder, _ = finished
    manual = (ROOT / "config/README.md").read_text()
    example = manual.partition("`config/dataset/mine.yaml`:\n\n")[2].partition("\n\nThen")[0]
    (folder / "config/dataset/mine.yaml").write_text(textwrap.dedent(example))
    raw = folder / "data/raw/mine"
    raw.mkdir(parents=True)
    rows = [
        f"{phone},2024-05-01T{hour:02}:10:00,{16.21 + 0.0001 * (phone % 4000)},{48.11 + 0.001 * hour}"
        for phone in range(400)
        for hour in range(12)
    ]
    (raw / "phones.csv").write_text("phone,when,lon,lat\n" + "\n".join(rows) + "\n")
    try:
        snakemake(folder, "dataset=[mine]", "mechanism=[uniform,lpu]", "window=[4]", "figures=[mse_epsilon]")
        assert "My city" in (folder / "reports/smoke/index.html").read_text()
        facts = json.loads((folder / "data/streams/mine.json").read_text())
        assert (facts["T"], facts["users"], facts["rows_by_reason"]) == (23, 400, {"kept": 4800})
        # what is added to a file of one's own is noticed, and nothing else
        mine = ("dataset=[mine]", "mechanism=[uniform,lpu]", "window=[4]", "figures=[mse_epsilon]")
        assert planned(folder, *mine) == {}
        with (raw / "phones.csv").open("a") as more:
            more.write("another,2024-05-01T03:10:00,16.3,48.2\n")
        assert planned(folder, *mine)["prepare"] == 1
        # now that T is known, a longer window is refused before any job, but for targets without one
        longer = ["--config", "experiment=smoke", "dataset=[mine]", "window=[4,24]"]
        done = run(folder, "--dry-run", "--cores", "1", *longer)
        assert done.returncode != 0
        refused = "smoke: window=24: the prepared mine has 23 timestamps; --config 'window=[4]' fits"
        assert refused in done.stdout + done.stderr
        done = run(folder, "--dry-run", "--cores", "1", "streams", *longer)
        assert done.returncode == 0, done.stderr
    finally:
        (folder / "config/dataset/mine.yaml").unlink()
        snakemake(folder)
