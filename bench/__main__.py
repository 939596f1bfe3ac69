"""``python -m bench <part> …``: measure parts, write ``<part>.parquet`` and ``index.md`` to reports/bench."""

import argparse
from collections.abc import Callable
from pathlib import Path

from bench import growth, large, loops, oue, preparing, workflow
from bench.measure import Finding, machine
from bench.page import write_page, write_part

PARTS: dict[str, Callable[..., list[Finding]]] = {
    "oue": oue.run,
    "loops": loops.run,
    "growth": growth.run,
    "workflow": workflow.run,
    "large": large.run,
    "prepare": preparing.run,
}
TITLES = {
    "oue": "OUE against peers, ε = 1, d = 128",
    "loops": "a mechanism's loop against its bare numpy draws, d = 128, T = 1,000, n = 100,000, w = 20",
    "growth": "slopes of log seconds over log size",
    "workflow": "Snakemake and the start of processes",
    "large": "large streams, a process each",
    "prepare": "a data set of 112 million rows",
}


def main() -> None:
    """Measure the parts that are asked for, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help=", ".join(PARTS))
    parser.add_argument("--toy", action="store_true", help="tiny sizes: only tells whether it runs")
    parser.add_argument(
        "--experiments", nargs="+", default=workflow.EXPERIMENTS, help="experiments of the part workflow"
    )
    parser.add_argument("--out", type=Path, default=Path("reports/bench"))
    given = parser.parse_args()
    for part in given.parts or PARTS:
        print(f"{part}: {TITLES[part]}", flush=True)
        facts = machine()
        more = {"experiments": given.experiments} if part == "workflow" else {}
        table = write_part(given.out, part, TITLES[part], PARTS[part](toy=given.toy, **more), facts)
        for row in table.iter_rows(named=True):
            print(f"  {row['what']}: {row['quantity']} {row['value']:.4g} {row['unit']}", flush=True)
    print(f"The page is {write_page(given.out, list(PARTS)).resolve()}")


if __name__ == "__main__":
    main()
