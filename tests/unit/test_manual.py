"""config/README.md names every key that the code knows, and none that it does not."""

import fnmatch
import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from mtsp_ldp.datasets.base import Dataset, formats
from mtsp_ldp.datasets.ingest.traces import Traces
from mtsp_ldp.datasets.source import PublishedFile, Source
from mtsp_ldp.experiments.grid import SCHEMA
from mtsp_ldp.mechanisms.options import COMMON, check_options
from mtsp_ldp.mechanisms.registry import mechanisms

CONFIG = Path(__file__).resolve().parents[2] / "config"
MANUAL = (CONFIG / "README.md").read_text()
GROUPS = ["dataset", "mechanism", "experiment"]


def names(text):
    return re.findall(r"`([^`]+)`", text)


def tables(section, text=MANUAL):
    """Tables below a heading, each as its head and its rows of cells."""
    body = re.search(rf"^## {re.escape(section)}[^\n]*\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", body, re.M):
        head, _, *rows = [
            [cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()
        ]
        found.append((head, rows))
    return found


def keys(table):
    return [name for row in table[1] for name in names(row[0])]


def filled_down(table):
    """Rows whose empty first cell means the one above."""
    label, found = "", []
    for first, *rest in table[1]:
        label = first or label
        found.append((label, *rest))
    return found


def own(kind):
    return [field.name for field in fields(kind)]


def dataset_keys(text=MANUAL):
    """What the manual says of each format."""
    common, each, traces, _ = tables("dataset/*.yaml", text)
    known = {form: set(keys(common)) - {"format", "defaults"} for form in formats()}
    for label, key, *_ in filled_down(each):
        for form in names(label):
            known[form] |= set(names(key))
    for form in names(re.search(r"^The traces, (.*?) all have", text, re.M | re.S)[1]):
        known[form] |= set(keys(traces))
    return known


def mechanism_options(text=MANUAL):
    """What the manual says of each mechanism."""
    known = {name: set() for name in mechanisms()}
    for label, option, *_ in filled_down(tables("mechanism/*.yaml", text)[0]):
        for name, entry in mechanisms().items():
            listed = any(fnmatch.fnmatch(name, pattern) for pattern in names(label))
            readers = label.startswith("all but the floors")
            histograms = label.startswith("all that release histograms") and not entry.cls.tree
            if listed or (entry.cls.reads_data and (readers or histograms)):
                known[name] |= set(names(option))
    return known


def actual_options(entry):
    options = set(inspect.signature(entry.cls).parameters) - {"setting"}
    for option, values in COMMON.items():
        try:
            check_options(entry, {option: values[0]})
        except ValueError:
            continue
        options.add(option)
    return options


def test_the_grids_keys_are_those_of_the_schema():
    (table,) = tables("experiment/*.yaml")
    assert sorted(keys(table)) == sorted(yaml.safe_load(SCHEMA.read_text())["properties"])


def test_every_figure_and_experiment_is_named():
    figures = yaml.safe_load(SCHEMA.read_text())["properties"]["figures"]["items"]["enum"]
    (row,) = (row for row in tables("experiment/*.yaml")[0][1] if names(row[0]) == ["figures"])
    assert names(row[1]) == figures
    told = re.findall(r"^- `(\w+)`: ", MANUAL, re.M)
    assert sorted(told) == sorted(path.stem for path in (CONFIG / "experiment").glob("*.yaml"))


@pytest.mark.parametrize("form", formats())
def test_a_formats_keys_are_the_fields_of_its_class(form):
    assert dataset_keys()[form] == set(own(formats()[form]))


def test_the_common_tables_are_common():
    common, _, traces, source = tables("dataset/*.yaml")
    assert sorted(keys(common)) == sorted([*own(Dataset), "format", "defaults"])
    assert set(keys(traces)) | set(own(Dataset)) == set(own(Traces))
    assert keys(source) == own(Source) + [f"files.{name}" for name in own(PublishedFile)]


@pytest.mark.parametrize("name", mechanisms())
def test_a_mechanisms_options_are_the_parameters_of_its_class(name):
    assert mechanism_options()[name] == actual_options(mechanisms()[name])


def test_the_values_of_common_options_are_named_the_default_first():
    for _, option, allowed, _ in filled_down(tables("mechanism/*.yaml")[0]):
        for name in names(option):
            if name in COMMON:
                assert tuple(names(allowed)) == COMMON[name]


def test_mechanisms_yamls_hold_a_name_and_options_only():
    for path in (CONFIG / "mechanism").glob("*.yaml"):
        assert set(yaml.safe_load(path.read_text())) == {"name", "options"}


@pytest.mark.parametrize("file", ["config", "recommend"])
def test_a_stages_keys_are_those_of_its_yaml_with_their_defaults(file):
    (table,) = tables(f"{file}.yaml")
    config = yaml.safe_load((CONFIG / f"{file}.yaml").read_text())
    for entry in config.pop("defaults"):
        if isinstance(entry, dict):
            config |= {key: value for key, value in entry.items() if key in GROUPS}
    assert sorted(keys(table)) == sorted(config)
    for key, default, *_ in table[1]:
        value = config[names(key)[0]]
        if "oc.env" not in str(value):  # those are false and none
            assert yaml.safe_load(default.strip("`")) == value


def test_every_key_of_the_yamls_of_data_sets_is_in_the_manual():
    known = set().union(*dataset_keys().values()) | {"format", "defaults"}
    for path in (CONFIG / "dataset").glob("*.yaml"):
        assert set(yaml.safe_load(path.read_text())) <= known, path.name


@pytest.mark.parametrize(
    ("before", "after", "read"),
    [
        ("| | `taxi_minutes` |", "| | `taxy_minutes` |", dataset_keys),
        ("| `within_slot` |", "| `within_hour` |", dataset_keys),
        ("| | `smoothing` [R] |", "| | `smoothness` [R] |", mechanism_options),
        ("| `lbd` `lba` `lpd` `lpa` `mtsp_*` |", "| `lbd` `lba` `lpd` |", mechanism_options),
    ],
)
def test_a_missing_or_stale_name_would_be_seen(before, after, read):
    assert before in MANUAL
    changed = MANUAL.replace(before, after)
    assert read(changed) != read()
