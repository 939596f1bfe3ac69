"""Files of one's own below config: what is wrong is told in one line, with the file and the key."""

import shutil

import pytest

from mtsp_ldp.experiments import catalog, composition
from mtsp_ldp.experiments import grid as experiment
from mtsp_ldp.experiments.composition import ConfigError

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
    shutil.copytree(composition.CONFIG, folder)
    monkeypatch.setattr(composition, "CONFIG", folder)
    catalog.dataset_config.cache_clear()

    def written(name, text):
        (folder / name).write_text(text)

    yield written
    catalog.dataset_config.cache_clear()


def test_the_examples_are_sound(write):
    write("dataset/town.yaml", DATASET)
    write("experiment/mine.yaml", EXPERIMENT)
    assert catalog.load_dataset("town").title == "A town"
    assert experiment.load_experiment("mine").repetitions == 1
    assert composition.composed("simulate", ["dataset=town"])["dataset"]["grid"] == 2


WRONG = {
    "copied": (DATASET.replace("name: town", "name: flights"), "name: 'flights': 'town', as the file is"),
    "nameless": (DATASET.replace("name: town\n", ""), "name: None: 'town', as the file is called"),
    "list": ("- name: town\n", r"keys and their values, not \["),
    "empty": ("", "keys and their values|name: None"),
    "bracket": (DATASET.replace("2, 2]", "2, 2"), r"config/dataset/town.yaml: line 7: expected ',' or '\]'"),
    "title": (DATASET.replace("title: A town\n", ""), "title: missing; custom needs it"),
    "key": (DATASET + "gird: 3\n", "gird: no such key; custom has "),
    "columns": (DATASET.replace("{user: phone, time: when, x: lon, y: lat}", "phone"), "columns='phone': "),
    "one column twice": (
        DATASET.replace("y: lat", "y: lon"),
        "a name of its own for each column",
    ),
    "column of a number": (DATASET.replace("y: lat", "y: 3"), "a name of its own for each column"),
    "cells": (
        DATASET.replace("x: lon, y: lat", "cell: area") + "cells: north\n",
        "cells='north': a list of names",
    ),
    "itself": (DATASET + "defaults: [town]\n", r"defaults: \['town'\]: a list of other data sets"),
    "group": (DATASET + "defaults: [{dataset: log}]\n", "defaults: .*: a list of other data sets"),
    "nothing": (DATASET + "defaults:\n", "defaults: None: a list of other data sets"),
    "control": (DATASET.replace("A town", "A \x01town"), "special characters are not allowed"),
    "number": ("5\n", "Invalid loaded object type: int"),
    "interpolation": (DATASET.replace("A town", "${foo}"), "foo"),
    "separator": (DATASET + "separator: ';;'\n", "separator=';;': one character"),
    "no separator": (DATASET + "separator: ''\n", "separator='': one character"),
    "time": (DATASET + "time_format: isso\n", "time_format='isso': iso, unix, unix_ms, or a strftime form"),
    "clock": (DATASET + "time_format: '%H:%M'\n", "time_format='%H:%M': iso, "),
    "letter": (DATASET + "time_format: '%d %Q'\n", "time_format='%d %Q': iso, "),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_data_set_is_told(write, fault):
    text, message = WRONG[fault]
    write("dataset/town.yaml", text)
    with pytest.raises(ConfigError, match=message) as told:
        catalog.load_dataset("town")
    assert "config/dataset/town.yaml: " in str(told.value)
    assert "\n" not in str(told.value)


def test_bytes_that_are_no_text_are_told(write):
    write("dataset/town.yaml", "")
    (composition.CONFIG / "dataset/town.yaml").write_bytes("name: café\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"config/dataset/town\.yaml: .*utf-8"):
        catalog.load_dataset("town")


def test_a_data_set_takes_the_keys_of_another(write):
    write("dataset/town.yaml", "defaults: [log, _self_]\nname: town\ntitle: A town\n")
    town = catalog.dataset_config("town")
    assert town == {**catalog.dataset_config("log"), "name": "town", "title": "A town"}
    assert composition.composed("simulate", ["dataset=town"])["dataset"] == town


def test_a_stage_refuses_it_too(write):
    write("dataset/town.yaml", DATASET.replace("name: town", "name: flights"))
    with pytest.raises(ConfigError, match="name: 'flights': 'town', as the file is called"):
        composition.composed("simulate", ["dataset=town"])
    write("mechanism/mine.yaml", "name: lpa\n")
    with pytest.raises(ConfigError, match=r"config/mechanism/mine\.yaml: name: 'lpa': 'mine', as the file"):
        composition.composed("simulate", ["mechanism=mine"])


MECHANISMS = {
    "name: lpa\noption: {minimum_share: 0.1}\n": "option: no such key; it has name, options",
    "name: lpa\noptions: [minimum_share]\n": r"options: \['minimum_share'\]: names and values",
    "options: {}\n": "name: None: 'lpa', as the file is called",
    "name: lpa\noptions: {minimum_shape: 0.1}\n": "lpa.minimum_shape: unknown option; allowed: minimum_share",
    "name: lpa\noptions: {minimum_share: much}\n": "lpa.minimum_share='much': must be float, as its default",
    "name: lpa\noptions: {minimum_share: 3}\n": "minimum_share=3: 0 to 0.5 of the window",
}


@pytest.mark.parametrize("text", MECHANISMS)
def test_wrong_options_are_told(write, text):
    write("mechanism/lpa.yaml", text)
    write("experiment/mine.yaml", EXPERIMENT)
    with pytest.raises(ConfigError, match=MECHANISMS[text]):
        experiment.load_experiment("mine")


EXPERIMENTS = {
    "repetition: 3\n": r"'repetition' was unexpected.*allowed: name, dataset, mechanism",
    "variants: {fast: {minimum_share: 0.1}}\n": "vary: it needs variants, and variants need vary",
    "vary: [lpa]\n": "vary: it needs variants, and variants need vary",
    "figures: []\n": r"figures: \[\] .*allowed: a list of at least one",
    "figures: [busiest\n": r"experiment/mine\.yaml: line 10: ",
}


@pytest.mark.parametrize("text", EXPERIMENTS)
def test_a_wrong_experiment_is_told(write, text):
    write("experiment/mine.yaml", EXPERIMENT + text)
    with pytest.raises(ConfigError, match=EXPERIMENTS[text]) as told:
        experiment.load_experiment("mine")
    assert "\n" not in str(told.value)


def test_a_mechanism_may_fail_on_its_options_as_it_likes(write, monkeypatch):
    from mtsp_ldp.mechanisms.absorption import BudgetAbsorption

    def fragile(self, setting, *, minimum_share=0.0):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(BudgetAbsorption, "__init__", fragile)
    write("experiment/mine.yaml", EXPERIMENT)
    with pytest.raises(ConfigError, match=r"lpa: options .*: ZeroDivisionError: by zero"):
        experiment.load_experiment("mine")
