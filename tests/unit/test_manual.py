"""config/README.md: its tables are made from the models of the config, and name every key that there is."""

import json
import re

import pytest
import yaml

import manual
from mtsp_ldp.datasets.base import formats
from mtsp_ldp.experiments.config import GROUPS
from mtsp_ldp.experiments.grid import FIGURES, Experiment
from mtsp_ldp.mechanisms.options import COMMON, options_model
from mtsp_ldp.mechanisms.registry import mechanisms

TEXT = manual.MANUAL.read_text(encoding="utf-8")
CONFIG = manual.ROOT / "config"


def test_the_tables_are_up_to_date():
    assert manual.inserted(TEXT) == TEXT
    stale = TEXT.replace("| `smoothing` |", "| `smoothness` |")
    assert stale != TEXT
    assert manual.inserted(stale) == TEXT
    with pytest.raises(ValueError, match="the marks of traces are missing"):
        manual.inserted(TEXT.replace("manual.py: traces -->", "manual.py -->"))


def test_the_schema_is_up_to_date():
    assert manual.SCHEMA.read_text(encoding="utf-8") == manual.schema()
    found = json.loads(manual.schema())["properties"]
    assert found["figures"]["items"]["enum"] == list(FIGURES)
    assert found.keys() == Experiment.model_fields.keys()


@pytest.mark.parametrize("cls", [Experiment, *dict.fromkeys(formats().values())])
def test_every_key_is_described(cls):
    texts = manual.descriptions(cls)
    assert [key for key in cls.model_fields if not texts.get(key)] == []


@pytest.mark.parametrize("name", mechanisms())
def test_every_option_is_described(name):
    options = options_model(mechanisms()[name]).model_fields.keys() - COMMON.keys()
    assert options <= manual.descriptions(mechanisms()[name].cls).keys()


def test_every_experiment_is_named():
    told = re.findall(r"^- `(\w+)`: ", TEXT, re.M)
    assert sorted(told) == sorted(path.stem for path in (CONFIG / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("file", ["config", "recommend"])
def test_a_stages_keys_are_those_of_its_yaml_with_their_defaults(file):
    body = re.search(rf"^## {file}\.yaml[^\n]*\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)[1]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|", body, re.M)
    config = manual.stage_keys(file)
    for entry in config.pop("defaults"):
        if isinstance(entry, dict):
            config |= {key: value for key, value in entry.items() if key in GROUPS}
    assert sorted(key for key, _ in rows) == sorted(config)
    for key, default in rows:
        assert yaml.safe_load(default.strip("`")) == config[key]
