"""A job may carry one cell or many: the files are the same."""

import re

import polars as pl
import pytest

from clones import copy, differences, planned, results, run, snakemake
from mtsp_ldp.experiments.composition import ConfigError
from mtsp_ldp.experiments.grid import load_experiment, regenerate

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
        (["seed"], r"batch\[0\]: 'seed'.*allowed: epsilon, window"),
        (["window", "window"], "batch: .*non-unique elements.*allowed: a list"),
        ("epsilon", "batch: 'epsilon' is not of type 'array'"),
    ],
)
def test_a_bad_batch_is_refused(batch, words):
    with pytest.raises(ConfigError, match=words):
        load_experiment("smoke", {"batch": batch})


def test_one_output_for_many_cells_is_refused(alone, tmp_path):
    given = ["dataset=log", "mechanism=lsp", "epsilon=[0.5,1]", "window=[10,20]", "repetitions=1"]
    stage = "mtsp_ldp.stages.simulate"
    done = run(alone, *given, f"output='{tmp_path}/epsilon={{epsilon}}'", module=stage)
    assert done.returncode != 0
    assert "simulate: output=" in done.stderr
    assert "{window}" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_command_that_regenerates_names_what_differs():
    assert regenerate(load_experiment("smoke")).endswith("--config experiment=smoke")
    changed = load_experiment("smoke", {"epsilon": [1, 2.5], "repetitions": 7, "batch": ["window"]})
    assert regenerate(changed).endswith("experiment=smoke 'epsilon=[1.0,2.5]' 'repetitions=7'")
