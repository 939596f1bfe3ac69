"""The tables of config/README.md and the JSON schema of experiments, made from the models of the config.

    python tools/manual.py

A key's type, limits and default are its field's; its text is that of the class's docstring. Between the marks
of a table nothing is written by hand.
"""

import inspect
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import griffe
import yaml
from pydantic import BaseModel

from mtsp_ldp.datasets.base import Dataset, formats
from mtsp_ldp.datasets.ingest.traces import Traces
from mtsp_ldp.datasets.source import PublishedFile, Source
from mtsp_ldp.experiments.grid import Experiment
from mtsp_ldp.mechanisms.base import Setting
from mtsp_ldp.mechanisms.options import COMMON, options_model
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.privacy.division import Division
from mtsp_ldp.privacy.stream_population import StreamPopulation

ROOT = Path(__file__).resolve().parents[1]
MANUAL = ROOT / "config" / "README.md"
SCHEMA = ROOT / "workflow" / "schemas" / "experiment.schema.json"
MARK = "<!-- made by python tools/manual.py: {} -->"
END = "<!-- end of what it made -->"
_PLAIN = {"integer": "integer", "number": "number", "string": "text", "boolean": "`false`, `true`"}


def descriptions(cls: type) -> dict[str, str]:
    """Read the descriptions of attributes and parameters in the docstrings of a class and its bases."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = base.__dict__.get("__doc__")
        if not text or not base.__module__.startswith("mtsp_ldp"):
            continue
        for section in griffe.Docstring(inspect.cleandoc(text)).parse("numpy", warnings=False):
            if section.kind.value in ("attributes", "parameters"):
                for item in section.value:
                    meaning = " ".join(item.description.replace("``", "`").split())
                    found |= dict.fromkeys(str(item.name).split(", "), meaning)
    return found


def allowed(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Say in words which values a JSON schema allows."""
    if "$ref" in schema:
        return allowed(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return ", ".join(allowed(one, definitions) for one in schema["anyOf"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    json_type = schema.get("type")
    if json_type == "null":
        return "`null`"
    if json_type == "array":
        return f"list of {allowed(schema.get('items', {}), definitions) or 'values'}"
    if json_type == "object" and "properties" in schema:
        return " ".join(f"`{key}`" for key in schema["properties"])
    if json_type == "object":
        return "names and values"
    low, high = schema.get("minimum"), schema.get("maximum")
    word = _PLAIN.get(str(json_type), "")
    if low is not None and high is not None:
        return f"{word} {low:g} to {high:g}"
    if low is not None:
        return f"{word}, at least {low:g}"
    if "exclusiveMinimum" in schema:
        return f"{word} above {schema['exclusiveMinimum']:g}"
    return word


def rows(model: type[BaseModel], texts: Mapping[str, str], keys: Iterable[str]) -> list[list[str]]:
    """Write key, allowed values with the default, and meaning of fields of a model."""
    schema = model.model_json_schema()
    found = []
    for key in keys:
        one = schema["properties"][key]
        values = allowed(one, schema.get("$defs", {}))
        if "default" in one and _default(one["default"]) != values.partition(",")[0]:
            values += f"; default {_default(one['default'])}"
        found.append([f"`{key}`", values, texts.get(key, "")])
    return found


def _default(value: Any) -> str:
    return f"`{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}`"


def table(head: list[str], lines: Iterable[list[str]]) -> str:
    """Write a Markdown table."""
    body = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in body)


def experiment_table() -> str:
    """Tabulate the keys of an experiment."""
    lines = rows(Experiment, descriptions(Experiment), Experiment.model_fields)
    return table(["key", "allowed", "meaning"], lines)


def common_table() -> str:
    """Tabulate the keys of every data set."""
    lines = rows(Dataset, descriptions(Dataset), Dataset.model_fields)
    lines += [
        ["`format`", "one of the formats below", "Format of the raw files: the class that reads them."],
        ["`defaults`", "list of data sets", "Data sets whose keys this one takes, before its own."],
    ]
    return table(["key", "allowed", "meaning"], lines)


def formats_table() -> str:
    """Tabulate the keys of each format beside the common ones."""
    by_class: dict[type[Dataset], list[str]] = {}
    for name, cls in formats().items():
        by_class.setdefault(cls, []).append(f"`{name}`")
    lines = []
    for cls, names in by_class.items():
        common = (Traces if issubclass(cls, Traces) else Dataset).model_fields
        own = rows(cls, descriptions(cls), [key for key in cls.model_fields if key not in common])
        lines += [[" ".join(names) if not place else "", *row] for place, row in enumerate(own)]
    return table(["format", "key", "allowed", "meaning"], lines)


def traces_table() -> str:
    """Tabulate the keys of every format of traces."""
    own = [key for key in Traces.model_fields if key not in Dataset.model_fields]
    return table(["key", "allowed", "meaning"], rows(Traces, descriptions(Traces), own))


def source_table() -> str:
    """Tabulate the keys of ``source``."""
    lines = rows(Source, descriptions(Source), [key for key in Source.model_fields if key != "files"])
    files = rows(PublishedFile, descriptions(PublishedFile), PublishedFile.model_fields)
    lines += [["`files`", "list of the next four", "Published files."]]
    lines += [[f"`files.{key.strip('`')}`", values, text] for key, values, text in files]
    return table(["key of `source`", "allowed", "meaning"], lines)


def options_table() -> str:
    """Tabulate the options of each mechanism, then those of all that read data."""
    by_class: dict[type, list[str]] = {}
    for name, known in mechanisms().items():
        by_class.setdefault(known.cls, []).append(name)
    lines = []
    for cls, names in by_class.items():
        model = options_model(mechanisms()[names[0]])
        own = [key for key in model.model_fields if key not in COMMON]
        label = " ".join(f"`{name}`" for name in names)
        found = rows(model, descriptions(cls), own)
        lines += [[label if not place else "", *row] for place, row in enumerate(found)]
    texts = descriptions(Setting) | {
        "oracle": descriptions(Division)["oracle_kind"],
        "presence": descriptions(StreamPopulation)["presence"],
    }
    model = options_model(mechanisms()["lpu"])
    for place, row in enumerate(rows(model, texts, COMMON)):
        last = row[0] == "`presence`"
        label = "all of them that release histograms" if last else "" if place else "all that read data"
        lines.append([label, *row])
    return table(["mechanism", "option", "allowed", "meaning"], lines)


TABLES = {
    "experiment": experiment_table,
    "dataset": common_table,
    "formats": formats_table,
    "traces": traces_table,
    "source": source_table,
    "mechanism": options_table,
}


def inserted(text: str) -> str:
    """Put every table into the manual, between its marks."""
    for name, make in TABLES.items():
        begin = MARK.format(name)
        if begin not in text:
            raise ValueError(f"{MANUAL}: the marks of {name} are missing")
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n\n{make()}\n\n{END}{rest.partition(END)[2]}"
    return text


def schema() -> str:
    """Write the JSON schema of experiments, for editors."""
    found, texts = Experiment.model_json_schema(), descriptions(Experiment)
    for key, one in found["properties"].items():
        one["description"] = texts[key]
    found["title"], found["description"] = "Experiment", "config/experiment/*.yaml"
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def stage_keys(name: str) -> dict[str, Any]:
    """Read the keys of a stage's yaml with their defaults."""
    keys: dict[str, Any] = yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))
    return keys


if __name__ == "__main__":
    MANUAL.write_text(inserted(MANUAL.read_text(encoding="utf-8")), encoding="utf-8")
    SCHEMA.write_text(schema(), encoding="utf-8")
