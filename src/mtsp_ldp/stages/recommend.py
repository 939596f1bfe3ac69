"""recommend: the mechanism to use on a prepared stream, at which ε and w, or none."""

import sys
from pathlib import Path
from typing import Any

import polars as pl
from tabulate import tabulate
from tqdm import tqdm

from mtsp_ldp.evaluation.expectation import usual_windows
from mtsp_ldp.evaluation.recommendation import Advice, advise
from mtsp_ldp.experiments.config import mechanism_options
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.report.advice import sentence
from mtsp_ldp.report.style import ordered, style_of
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stages.inputs import load_prepared_stream


@stage
def main(config: Config) -> None:
    """Print expected errors on ``dataset`` and one sentence; write the table to ``output`` if it is given."""
    name = config["dataset"]["name"]
    _check_output(config["output"])
    stream = load_prepared_stream(config)
    advice = advise(
        stream,
        _several(config["epsilon"]),
        usual_windows(stream) if config["window"] is None else _several(config["window"]),
        mechanism_options,
        repetitions=config["repetitions"],
        seed=config["seed"],
        progress=lambda runs: tqdm(runs, desc="simulating", disable=not sys.stderr.isatty()),
    )
    title = stream.facts.title or name
    each = f", each for {stream.replicate} reporters" if stream.replicate > 1 else ""
    print(f"{title}: {stream.length:,} timestamps, {stream.d:,} cells, {stream.users:,} users{each}.")
    print(_about(advice, config["repetitions"], config["seed"]))
    for part in advice.table.partition_by("release", "window", maintain_order=True):
        print("", tabulate(*_rows(part)), sep="\n")
    print("", sentence(advice, lambda mechanism: style_of(mechanism).label), sep="\n")
    if config["output"] is not None:
        table = advice.table.with_columns(first=advice.first, last=advice.last, dataset=pl.lit(name))
        with atomic_write(config["output"]) as partial:
            table.select("dataset", pl.exclude("dataset")).write_csv(partial)


def _check_output(output: str | None) -> None:
    """Raise ValueError for what cannot be written, before the work begins."""
    if output is not None and (not output or Path(output).is_dir()):
        raise ValueError(f"output={output!r}: must be the path of a csv file")


def _several(value: Any) -> list[Any]:
    """Turn one value or a list of them into a list."""
    return list(value) if isinstance(value, list) else [value]


def _about(advice: Advice, repetitions: int, seed: int) -> str:
    where = "all timestamps" if advice.whole else f"timestamps {advice.first} to {advice.last} (the middle)"
    return (
        f"Expected MSE of released frequencies, as they are (raw) and projected, {where}.\n"
        f"Without ±: a closed form; with ±: {repetitions} simulated repetitions (seed {seed}) and\n"
        "their standard error.\n"
        "* least, and beats publishing nothing; = not told apart from it; † loses to that; ? undecided."
    )


def _rows(part: pl.DataFrame) -> tuple[list[list[str]], list[str]]:
    """Make the rows and heads of one window's table."""
    epsilons = part["epsilon"].unique(maintain_order=True).to_list()
    at = {(row["mechanism"], row["epsilon"]): row for row in part.to_dicts()}
    names = ordered(part["mechanism"].unique().to_list())
    release, window = part.select("release", "window").row(0)
    rows = [[style_of(name).label, *(_shown(at[name, epsilon]) for epsilon in epsilons)] for name in names]
    return rows, [f"{release}, w = {window}", *(f"ε = {epsilon:g}" for epsilon in epsilons)]


def _shown(row: dict[str, Any]) -> str:
    spread = "" if row["standard_error"] is None else f" ± {row['standard_error']:.0e}"
    known = "" if row["wins"] or row["method"] == "floor" else " ?"
    marks = {"chosen": " *", "tied": " =", "loses": " †"}
    mark = next((sign for flag, sign in marks.items() if row[flag]), known)
    return f"{row['mse']:.2e}{spread}{mark}"


if __name__ == "__main__":
    main()
