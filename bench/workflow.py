"""Cost of Snakemake and of starting processes, against the same work in one process."""

import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.measure import Finding, Watched, in_turns, python, watched
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.evaluation.runs import RunFiles, run_cell, write_run
from mtsp_ldp.evaluation.summary import read_scores, summarize, variant_ratios
from mtsp_ldp.experiments.config import ROOT
from mtsp_ldp.experiments.grid import Experiment, GridCell, load_experiment
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.experiments.plan import Plan
from mtsp_ldp.streams.stream import Stream

CORES = 2
EXPERIMENTS = ("smoke", "default")
LIMIT = 2000.0
BATCH = "batch=[epsilon,window]"
PAPER_MINUTES = 15.0


def run(*, toy: bool = False, experiments: Sequence[str] = EXPERIMENTS) -> list[Finding]:
    """Measure overhead, memory and time of whole experiments, each starting with an empty folder."""
    found = _start(2 if toy else 7)
    for name in experiments:
        # what one job a cell costs is seen on the small ones; of paper it would be 1,300 jobs more
        for config in [[BATCH]] if name == "paper" else [[], [BATCH]]:
            found += _experiment(name, config)
    return found


def _start(repeats: int) -> list[Finding]:
    seconds = in_turns(
        {
            "python": lambda: watched(python("-c", "pass")),
            "a job": lambda: watched(python("-c", "import mtsp_ldp.stages.simulate")),
        },
        repeats,
        time.perf_counter,
    )
    return [Finding(f"start of {name}", "seconds", value, "s") for name, value in seconds.items()]


def _experiment(name: str, config: list[str]) -> list[Finding]:
    experiment = load_experiment(name)
    what = " ".join([name, *config])
    with tempfile.TemporaryDirectory() as folder:
        base = python("-m", "snakemake", "--cores", str(CORES), "--directory", folder)
        base += ["--snakefile", str(ROOT / "Snakefile")]
        options = ["--config", f"experiment={name}", *config]
        streams = [f"data/streams/{dataset}.parquet" for dataset in experiment.dataset]
        prepared = watched([*base, *streams, *options], interval=0.25)
        simulated = watched([*base, f"data/summaries/{name}.parquet", *options], interval=0.25)
        published = watched([*base, *options], interval=0.25)
        dry = watched([*base, "-n", *options])
        single = watched([*base, "-n", "--config", f"experiment={name}"])  # done too, whatever the batch was
        work, effort = _in_one_process(experiment, Path(folder) / "data")
    whole = prepared.seconds + simulated.seconds + published.seconds
    jobs, ideal = _jobs(simulated), work / CORES
    over = (simulated.seconds - ideal) / jobs
    beside = (simulated.processor - effort) / jobs
    share, long = 1 - ideal / simulated.seconds, name == "paper"
    peaks = (prepared, simulated, published)
    return [
        Finding(what, "wall time on 2 cores", whole / 60, "min", PAPER_MINUTES if long else None),
        Finding(f"{what}, {jobs} jobs", "overhead a job", over, "s", None if config else 0.4),
        Finding(f"{what}, {jobs} jobs", "processor time beside a job's work", beside, "s"),
        Finding(what, "overhead of simulating", share, "of its wall time", 0.1 if config and long else None),
        Finding(what, "peak memory of Snakemake", max(run.own_peak for run in peaks), "MB", LIMIT),
        Finding(what, "peak memory of a job", max(run.others_peak for run in peaks), "MB", LIMIT),
        Finding(what, "dry run when all is done", dry.seconds, "s", 6.0 if long else None),
        Finding(what, "the same without a batch", single.seconds, "s", 6.0 if long else None),
    ]


def _jobs(seen: Watched) -> int:
    """Read the number of jobs that Snakemake said it would run."""
    totals = re.findall(r"^total\s+(\d+)$", seen.output, re.M)
    return int(totals[0])


def _in_one_process(experiment: Experiment, data: Path) -> tuple[float, float]:
    """Run all cells and the summary without other processes; return wall and processor seconds."""
    start, spent = time.perf_counter(), time.process_time()
    plan = Plan(experiment, Permission(), Layout(str(data)))
    files = Layout(str(data / "again")).experiment(experiment.name)
    for dataset in experiment.dataset:
        stream = Stream.read(plan.layout.stream(dataset))
        for cell in experiment.cells_of(dataset):
            _simulate(plan, cell, stream, cell.files(files))
    scores = read_scores(cell.files(files).scores for cell in experiment.cells)
    summarize(scores)
    variant_ratios(scores)
    return time.perf_counter() - start, time.process_time() - spent


def _simulate(plan: Plan, cell: GridCell, stream: Stream, files: RunFiles) -> None:
    mechanism = plan.mechanisms[cell.mechanism]
    scores, release = run_cell(
        stream,
        mechanism["name"],
        mechanism["options"],
        epsilon=cell.epsilon,
        window=cell.window,
        repetitions=1 if cell.epsilon is None else plan.experiment.repetitions,
        seed=plan.experiment.seed,
        label=cell.mechanism,
    )
    write_run(files, scores, release, {})
