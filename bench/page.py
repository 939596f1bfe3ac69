"""Findings as parquet files and one page."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from bench.measure import Finding
from mtsp_ldp.foundation.files import atomic_write

SCHEMA = {
    "part": pl.String,
    "what": pl.String,
    "quantity": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "goal": pl.Float64,
    "at_least": pl.Boolean,
    "met": pl.Boolean,
}


def write_part(
    folder: Path, part: str, title: str, findings: Sequence[Finding], facts: dict[str, str]
) -> pl.DataFrame:
    """Write ``<part>.parquet`` with the machine's facts in its metadata."""
    rows = [(part, f.what, f.quantity, float(f.value), f.unit, f.goal, f.at_least, f.met) for f in findings]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    with atomic_write(folder / f"{part}.parquet") as partial:
        table.write_parquet(partial, metadata={"machine": json.dumps(facts), "title": title})
    return table


def write_page(folder: Path, parts: Sequence[str]) -> Path:
    """Write ``index.md`` from the parts that were measured, now or before."""
    lines = ["# Speed and memory", "", "Made by `python -m bench`; docs/performance.md says how to read it."]
    for part in parts:
        path = folder / f"{part}.parquet"
        if not path.exists():
            continue
        metadata = pl.read_parquet_metadata(path)
        facts = json.loads(metadata["machine"])
        lines += ["", f"## {part}: {metadata['title']}", ""]
        lines += ["; ".join(f"{name} {value}" for name, value in facts.items()), ""]
        lines += ["| what | quantity | value | goal | met |", "|---|---|---|---|---|"]
        lines += [_line(row) for row in pl.read_parquet(path).to_dicts()]
    page = folder / "index.md"
    with atomic_write(page) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page


def number(value: float) -> str:
    """Write three significant digits, with a comma between thousands."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _line(row: dict[str, object]) -> str:
    goal = "" if row["goal"] is None else f"{'≥' if row['at_least'] else '≤'} {number(row['goal'])}"  # type: ignore[arg-type]
    met = {None: "", True: "yes", False: "**no**"}[row["met"]]  # type: ignore[index]
    return f"| {row['what']} | {row['quantity']} | {number(row['value'])} {row['unit']} | {goal} | {met} |"  # type: ignore[arg-type]
