"""Files of one's own below config: what is wrong is told in one line, with the file and the key."""

import shutil
import sys

import pytest

from mtsp_ldp.experiments import config
from mtsp_ldp.experiments.config import ConfigError
from mtsp_ldp.experiments.grid import load_experiment
from mtsp_ldp.experiments.parameters import check_config
from mtsp_ldp.experiments.plan import Plan
from mtsp_ldp.stages import recommend

DATASET = """
name: town
title: A town
format: custom
columns: {user: phone, time: when, x: lon, y: lat}
box: [0, 0, 2, 2]
grid: 2
slot_minutes: 60
origin: first
"""
EXPERIMENT = """
name: mine
dataset: [log]
mechanism: [uniform, lpa]
epsilon: [1.0]
window: [10]
repetitions: 1
seed: 1
"""


@pytest.fixture
def write(monkeypatch, tmp_path):
    """Write a file below a copy of config."""
    folder = tmp_path / "config"
    shutil.copytree(config.CONFIG, folder)
    monkeypatch.setattr(config, "CONFIG", folder)
    config.compose_groups.cache_clear()

    def written(name, text):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)

    yield written
    config.compose_groups.cache_clear()


def test_the_examples_are_sound(write):
    write("dataset/town.yaml", DATASET)
    write("experiment/mine.yaml", EXPERIMENT)
    assert config.load_dataset("town").title == "A town"
    assert Plan.of({"experiment": "mine"}).experiment.repetitions == 1
    assert config.compose_config("simulate", ["dataset=town"])["dataset"]["grid"] == 2


WRONG = {
    "copied": (DATASET.replace("name: town", "name: flights"), "name='flights': must be 'town', as the file"),
    "nameless": (DATASET.replace("name: town\n", ""), "name=None: must be 'town', as the file is called"),
    "list": ("- name: town\n", r"must hold keys and their values, not \["),
    "empty": ("", "keys and their values|name=None"),
    "bracket": (DATASET.replace("2, 2]", "2, 2"), r"config/dataset/town.yaml: line 7: expected ',' or '\]'"),
    "title": (DATASET.replace("title: A town\n", ""), "title: missing"),
    "key": (DATASET + "gird: 3\n", "gird: unknown key; allowed: name, title"),
    "columns": (
        DATASET.replace("{user: phone, time: when, x: lon, y: lat}", "phone"),
        "columns='phone': must be",
    ),
    "one column twice": (
        DATASET.replace("y: lat", "y: lon"),
        "columns=.*: must be different columns of the file",
    ),
    "column of a number": (
        DATASET.replace("y: lat", "y: 3.5"),
        r"columns\.y=3\.5: must be text; a name that .* quotes",
    ),
    "cells": (
        DATASET.replace("x: lon, y: lat", "cell: area") + "cells: north\n",
        "cells='north': must be",
    ),
    "itself": (DATASET + "defaults: [town]\n", r"defaults=\['town'\]: must be a list of other data sets"),
    "group": (DATASET + "defaults: [{dataset: log}]\n", "defaults=.*: must be a list of other data sets"),
    "nothing": (DATASET + "defaults:\n", "defaults=None: must be a list of other data sets"),
    "control": (DATASET.replace("A town", "A \x01town"), "special characters are not allowed"),
    "number": ("5\n", "Invalid loaded object type: int"),
    "interpolation": (DATASET.replace("A town", "${foo}"), "foo"),
    "separator": (DATASET + "separator: ';;'\n", "separator=';;': must be one character"),
    "no separator": (DATASET + "separator: ''\n", "separator='': must be one character"),
    "time": (
        DATASET + "time_format: isso\n",
        "time_format='isso': must be iso, unix, unix_ms, unix_us, slot, or a",
    ),
    "clock": (DATASET + "time_format: '%H:%M'\n", "time_format='%H:%M': must be iso, "),
    "letter": (DATASET + "time_format: '%d %Q'\n", "time_format='%d %Q': must be iso, "),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_data_set_is_told(write, fault):
    text, message = WRONG[fault]
    write("dataset/town.yaml", text)
    with pytest.raises(ConfigError, match=message) as told:
        config.load_dataset("town")
    assert "config/dataset/town.yaml: " in str(told.value)
    assert "\n" not in str(told.value)


def test_bytes_that_are_no_text_are_told(write):
    write("dataset/town.yaml", "")
    (config.CONFIG / "dataset/town.yaml").write_bytes("name: café\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"config/dataset/town\.yaml: .*utf-8"):
        config.load_dataset("town")


def test_a_data_set_takes_the_keys_of_another(write):
    write("dataset/town.yaml", "defaults: [log, _self_]\nname: town\ntitle: A town\n")
    town = config.dataset_config("town")
    assert town == {**config.dataset_config("log"), "name": "town", "title": "A town"}
    assert config.compose_config("simulate", ["dataset=town"])["dataset"] == town


def test_data_sets_that_name_each_other_are_told(write):
    write("dataset/town.yaml", "defaults: [city_2, _self_]\nname: town\n")
    write("dataset/city_2.yaml", "defaults: [town, _self_]\nname: city_2\n")
    with pytest.raises(ConfigError, match=r"config/dataset/city_2\.yaml: defaults=.*, in no circle"):
        config.load_dataset("town")


def test_a_stage_refuses_it_too(write):
    write("dataset/town.yaml", DATASET.replace("name: town", "name: flights"))
    with pytest.raises(ConfigError, match="name='flights': must be 'town', as the file is called"):
        config.compose_config("simulate", ["dataset=town"])
    write("mechanism/mine.yaml", "name: lpa\n")
    with pytest.raises(
        ConfigError, match=r"config/mechanism/mine\.yaml: name='lpa': must be 'mine', as the file"
    ):
        config.compose_config("simulate", ["mechanism=mine"])


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("mechanism.options.phaze=3", "lsp.phaze: unknown key; allowed: phase"),
        ("mechanism.options.phase=early", "lsp.phase.*='early': must be one of random"),
        ("+mechanism.options.phase=-1", "phase=-1: must be one of random, or at least 0"),
        ("dataset.gird=3", "config/dataset/log.yaml: gird: unknown key; allowed: name"),
        ("experiment.repetitions=0", "config/experiment/default.yaml: repetitions=0: must be at least 1"),
        ("mechanism=lbx", "mechanism='lbx': must be one of lba, "),
        ("mechanism.options=5", "mechanism.options=5: must be names and values"),
        ("repetitions=1000000000", "repetitions=1000000000: must be at most 100000"),
        ("step=3", "step: unknown key; allowed: accept_terms, "),
        ("=3", ": unknown key; allowed: accept_terms"),
    ],
)
def test_a_wrong_word_is_told_in_one_line(word, message):
    words = ["dataset=log", "mechanism=lsp"]
    words = [one for one in words if one.partition("=")[0] != word.partition("=")[0]] + [word]
    with pytest.raises(ConfigError, match=message) as told:
        check_config(config.compose_config("simulate", words))
    assert "\n" not in str(told.value)


def test_a_mechanism_needs_no_file_and_may_have_one(write):
    words = ["mechanism=lsp"]
    assert config.compose_config("simulate", words)["mechanism"]["options"] == {"phase": "random"}
    assert config.compose_config("simulate", [*words, "mechanism.options.phase=3"])["mechanism"] == {
        "name": "lsp",
        "options": {"phase": 3},
    }
    write("mechanism/lsp.yaml", "name: lsp\noptions: {phase: 0}\n")
    assert config.compose_config("simulate", words)["mechanism"]["options"] == {"phase": 0}


MECHANISMS = {
    "name: lpa\noption: {minimum_share: 0.1}\n": "option: unknown key; allowed: name, options",
    "name: lpa\noptions: [minimum_share]\n": r"options=\['minimum_share'\]: must be names and values",
    "options: {}\n": "name=None: must be 'lpa', as the file is called",
    "name: lpa\noptions: {minimum_shape: 0.1}\n": "lpa.minimum_shape: unknown key; allowed: minimum_share",
    "name: lpa\noptions: {minimum_share: much}\n": "lpa.minimum_share='much': must be a number",
    "name: lpa\noptions: {minimum_share: 3}\n": "lpa.minimum_share=3: must be at most 0.5",
}


@pytest.mark.parametrize("text", MECHANISMS)
def test_wrong_options_are_told(write, text):
    write("mechanism/lpa.yaml", text)
    write("experiment/mine.yaml", EXPERIMENT)
    with pytest.raises(ConfigError, match=MECHANISMS[text]):
        Plan.of({"experiment": "mine"})


EXPERIMENTS = {
    "repetition: 3\n": "repetition: unknown key; allowed: name, dataset, mechanism",
    "variants: {fast: {minimum_share: 0.1}}\n": "vary: must come with variants, and variants with vary",
    "variants: {lpq.fast: {minimum_share: 0.1}}\n": "variants='lpq': must be one of",
    "vary: [lpa]\nvariants: {fast: {minimum_share: 0.1}, lpa.fast: {minimum_share: 0.2}}\n": (
        "variants='lpa.fast': must not be what vary and another variant make too"
    ),
    "variants: {lpa.fast: {minimum: 0.1}}\n": r"lpa\.minimum: unknown",
    "vary: [lpa]\n": "vary: must come with variants, and variants with vary",
    "figures: []\n": r"figures=\[\]: must be a list of at least one",
    "figures: [busiest\n": r"experiment/mine\.yaml: line 10: ",
}


@pytest.mark.parametrize("text", EXPERIMENTS)
def test_a_wrong_experiment_is_told(write, text):
    write("experiment/mine.yaml", EXPERIMENT + text)
    with pytest.raises(ConfigError, match=EXPERIMENTS[text]) as told:
        Plan.of({"experiment": "mine"})
    assert "\n" not in str(told.value)


def test_values_of_the_command_line_are_what_their_keys_are():
    """Snakemake hands the entries of a list over as text."""
    made = load_experiment("smoke", {"epsilon": ["1e-3", "2", 3.5], "window": ["10"], "seed": "7"})
    assert (made.epsilon, made.window, made.seed) == ([1e-3, 2.0, 3.5], [10], 7)
    with pytest.raises(ConfigError, match=r"dataset=\['log', 'log'\]"):
        load_experiment("smoke", {"dataset": ["log", "log"]})


@pytest.mark.parametrize("text", ["12:30", "010", "1_0", "+5", "0x10", "0b1"])
def test_a_number_of_the_command_line_is_one_as_anybody_writes_it(text):
    with pytest.raises(ConfigError, match=r"window\[0\]='.*': must be an integer"):
        load_experiment("smoke", {"window": [text]})


def test_keys_of_an_experiment_are_text():
    with pytest.raises(ConfigError, match=r"\[1\]=1: must be text"):
        load_experiment("smoke", {1: 2})


@pytest.mark.parametrize("output", ["", "."])
def test_a_table_that_cannot_be_written_is_refused_before_the_work(monkeypatch, output):
    monkeypatch.setattr(sys, "argv", ["recommend", f"output='{output}'", "dataset=log", "data=nowhere"])
    with pytest.raises(SystemExit, match=f"recommend: output='{output}': must be the path of a csv file"):
        recommend.main()


def test_a_data_set_with_a_name_of_other_letters_is_told(write):
    write("dataset/ü.yaml", "name: ü\ntitle: U\nformat: counts\n")
    with pytest.raises(ConfigError, match=r"config/dataset/ü\.yaml: 'ü': must be a name of letters"):
        config.read_choice("dataset", "ü")


def test_a_mechanism_may_fail_on_its_options_as_it_likes(write, monkeypatch):
    from mtsp_ldp.mechanisms.absorption import BudgetAbsorption

    def fragile(self, setting, *, minimum_share=0.0):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(BudgetAbsorption, "__init__", fragile)
    write("experiment/mine.yaml", EXPERIMENT)
    with pytest.raises(ConfigError, match=r"lpa: options .*: ZeroDivisionError: by zero"):
        Plan.of({"experiment": "mine"})
