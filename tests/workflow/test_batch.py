"""A job may carry one cell or many: the files are the same."""

import re

import polars as pl
import pytest

from clones import copy, differences, planned, results, run, snakemake
from mtsp_ldp.experiments.config import ConfigError
from mtsp_ldp.experiments.grid import as_command, load_experiment

pytestmark = pytest.mark.xdist_group("batch")
GRID = [
    "dataset=[log]",
    "mechanism=[zero,lpa]",
    "epsilon=[0.5,1.0]",
    "window=[10,20]",
    "repetitions=1",
]
SUMMARY = ["data/summaries/smoke.parquet"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = copy(tmp_path_factory.mktemp("batch") / "alone")
    snakemake(folder, *GRID, targets=SUMMARY)
    return folder


@pytest.mark.parametrize(("batch", "jobs"), [("[epsilon]", 2), ("[window]", 2), ("[epsilon,window]", 1)])
def test_every_batching_gives_the_same_bytes(alone, tmp_path, batch, jobs):
    folder = copy(tmp_path / "batched")
    given = [*GRID, f"batch={batch}"]
    output = snakemake(folder, *given, targets=SUMMARY)
    assert re.search(rf"^simulate +{jobs}$", output, re.M)
    assert differences(results(alone), results(folder)) == []
    assert not list(folder.rglob("*partial*"))


def test_another_batching_finds_what_is_done(alone):
    assert planned(alone, *GRID, "batch=[epsilon,window]", targets=SUMMARY) == {}


def test_each_cell_knows_its_own_values(alone):
    for epsilon, window in ((0.5, 10), (1.0, 20)):
        path = alone / f"data/runs/smoke/log/lpa/epsilon={epsilon}_window={window}.parquet"
        scores = pl.read_parquet(path)
        assert set(scores["epsilon"]) == {epsilon}
        assert set(scores["window"]) == {window}


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (["seed"], r"batch\[0\]='seed': must be one of epsilon, window"),
        (["window", "window"], "batch=.*: must be a list of different entries"),
        ("epsilon", "batch='epsilon': must be a list"),
    ],
)
def test_a_bad_batch_is_refused(batch, words):
    with pytest.raises(ConfigError, match=words):
        load_experiment("smoke", {"batch": batch})


def test_a_stage_by_hand_writes_a_file_a_cell(alone, tmp_path):
    given = ["dataset=log", "mechanism=lpa", "epsilon=[0.5,1.0]", "window=[10,20]", "repetitions=1"]
    done = run(alone, *given, f"output={tmp_path}", module="mtsp_ldp.stages.simulate")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.iterdir())) == 12
    name = "epsilon=0.5_window=20.release.parquet"
    theirs = pl.read_parquet(alone / "data/runs/smoke/log/lpa" / name)
    assert pl.read_parquet(tmp_path / name).equals(theirs)


def test_the_command_that_as_command_names_what_differs():
    assert as_command(load_experiment("smoke")).endswith("--config experiment=smoke")
    changed = load_experiment("smoke", {"epsilon": [1, 2.5], "repetitions": 7, "batch": ["window"]})
    assert as_command(changed).endswith("experiment=smoke 'epsilon=[1.0,2.5]' 'repetitions=7'")
