"""Large streams, each in its own process whose peak memory is measured: nothing above 2 GB.

``python -m bench.large <file or "exchangeable"> <mechanism>`` is such a process.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.measure import Finding, python, watched
from mtsp_ldp import Stream, simulate
from mtsp_ldp.experiments.studies import drifting
from mtsp_ldp.foundation.files import digest_file
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.streams.rows import PANEL, ROW_GROUP

USERS, LENGTH, CELLS, SHARE = 1_000_000, 1000, 1024, 0.1
EXCHANGEABLE = 10_000_000
STEPS_A_PART = 50
LIMIT = 2000.0


def make_panel(path: Path, users: int, length: int, cells: int) -> None:
    """Write a panel as prepare would, part by part; a tenth of its users is active at each timestamp."""
    rng = np.random.default_rng(0)
    home = rng.integers(0, cells, users, dtype=np.uint16)
    active: list[int] = []
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for first in range(0, length, STEPS_A_PART):
            steps = range(first, min(first + STEPS_A_PART, length))
            who = [np.flatnonzero(rng.random(users) < SHARE).astype(np.uint32) for _ in steps]
            active += [part.size for part in who]
            t = np.repeat(np.arange(steps.start, steps.stop, dtype=np.int32), active[first:])
            user = np.concatenate(who)
            away = rng.integers(0, cells, user.size, dtype=np.uint16)
            cell = np.where(rng.random(user.size) < 0.3, away, home[user])
            part = pl.DataFrame({"t": t, "user": user, "cell": cell}, schema=PANEL)
            part.write_parquet(Path(folder) / f"{first:06d}.parquet", compression="zstd")
        parts = pl.scan_parquet(sorted(Path(folder).glob("*.parquet")))
        parts.sink_parquet(path, compression="zstd", row_group_size=ROW_GROUP)
    facts = {"dataset": "large", "users": users, "T": length, "d": cells, "kind": "panel", "active": active}
    path.with_suffix(".json").write_text(json.dumps({**facts, "sha256": digest_file(path)}))


def run(*, toy: bool = False) -> list[Finding]:
    """Measure seconds and peak memory of a panel of 10^8 rows, and of 10^7 exchangeable users."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        panel = Path(folder) / "large.parquet"
        make_panel(panel, USERS // 1000 if toy else USERS, 20 if toy else LENGTH, CELLS)
        size = json.loads(panel.with_suffix(".json").read_text())
        rows = f"a panel of {sum(size['active']):,} rows"
        for name in ("lpa", "mtsp_population"):
            found += _process(f"{name}, {rows}", [str(panel), name])
    names = [name for name, entry in mechanisms().items() if entry.cls.reads_data]
    for name in names[:1] if toy else names:
        what = f"{name}, {EXCHANGEABLE:,} exchangeable users, d = {CELLS:,}, T = {20 if toy else LENGTH:,}"
        found += _process(what, ["exchangeable", name, *(["toy"] if toy else [])])
    return found


def _process(what: str, arguments: list[str]) -> list[Finding]:
    seen = watched(python("-m", "bench.large", *arguments), Path(__file__).parents[1])
    return [
        Finding(what, "seconds, reading included", seen.seconds, "s"),
        Finding(what, "peak memory", seen.own_peak, "MB", LIMIT),
    ]


def main(source: str, mechanism: str, toy: str = "") -> None:
    """Simulate once; the process is measured from outside."""
    if source == "exchangeable":
        stream = drifting(EXCHANGEABLE, 20 if toy else LENGTH, CELLS)
    else:
        stream = Stream.read(source)
    simulate(stream, mechanism, epsilon=1.0, window=20)


if __name__ == "__main__":
    main(*sys.argv[1:])
