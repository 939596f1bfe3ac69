"""Print ``docs/datasets.md``, made from the yamls of the data sets: ``python tools/dataset_pages.py``."""

import inspect
from collections.abc import Iterator
from typing import Any

from mtsp_ldp.datasets.base import formats
from mtsp_ldp.experiments.config import choices, dataset_config

HEAD = """# Data sets

<!-- made by `python tools/dataset_pages.py > docs/datasets.md` from config/dataset/*.yaml; edit those -->

Each is one yaml in `config/dataset`; `snakemake --cores all --config dataset=[NAME]` runs the default
experiment on one, and `snakemake --cores all streams --config dataset=[NAME]` prepares it and says what
LDP can do on it.

**Raw files** are looked for in `data/raw/NAME`, then in `$MTSP_LDP_DATA/NAME`, as the archive or as what
it unpacks to. What is missing is downloaded only with `--config allow_download=true`, and, where there
are terms, with `accept_terms=[NAME]`. Hashes and sizes are checked; where none is published, that of the
first download is kept in `data/raw/checksums.json` and must stay.

**Records** are kept or counted by reason, and the reasons sum to the records read (`rows_by_reason`
beside the stream): `unparsable` (a field is missing or no number or time; an hour that a change of
clocks skips), `out_of_range` (no place on earth, or no cell), `out_of_box`, `before_window`,
`after_window`, `duplicate` (the same user, time and cell again), `under_minimum` (a user with fewer than
`minimum_reports`), `superseded_in_slot` (another record of the user's slot counts), `kept`; and what a
format itself refuses. Slots of whole days are calendar days of the zone; others are time that has
passed.
"""


def entries() -> Iterator[str]:
    """Write a section for every data set with a source."""
    for name in choices("dataset"):
        config = dataset_config(name)
        source = config.get("source")
        if source is None:
            continue
        cls = formats()[config["format"]]
        lines = [f"## {name}: {config['title']}", "", _first(cls), ""]
        if config.get("raw"):
            lines += [f"Made of the raw files of `{config['raw']}`.", ""]
        lines += [f"- <{source['page']}>", f"- licence: {source['licence']}"]
        for key in ("terms", "manual"):
            lines += [f"- {key}: {source[key]}"] if source.get(key) else []
        lines += [f"- {_file(file)}" for file in source.get("files", [])]
        lines += [f"- stream: {_stream(config)}"]
        yield "\n".join(lines) + "\n"


def _first(cls: type) -> str:
    module = inspect.getmodule(cls)
    assert module is not None
    texts = (inspect.getdoc(module) or "").splitlines()[:1] + (inspect.getdoc(cls) or "").split("\n\n")[:1]
    return " ".join(" ".join(texts).replace("``", "`").split())


def _file(file: dict[str, Any]) -> str:
    parts = [f"`{file['name']}`"]
    if file.get("bytes"):
        parts.append(f"{file['bytes']:,} bytes")
    parts.append(f"`{file['hash']}`" if file.get("hash") else "no published hash")
    parts += [f"<{url}>" for url in file.get("urls", [])]
    return ", ".join(parts)


def _stream(config: dict[str, Any]) -> str:
    minutes = config.get("slot_minutes")
    parts = [f"slots of {minutes} minutes" if minutes else "slots of unknown length"]
    if config.get("box"):
        side = config.get("grid", 16)
        parts.append(f"{side} × {side} squares of {config['box']} (west, south, east, north)")
    for key in ("origin", "length", "time_zone", "hold", "within_slot", "minimum_reports"):
        if config.get(key) is not None:
            parts.append(f"{key} {config[key]}")
    return ", ".join(parts)


if __name__ == "__main__":
    print(HEAD, *entries(), sep="\n", end="")
