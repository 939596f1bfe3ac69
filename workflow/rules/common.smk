"""Shared by the rules: file names with wildcards, parameters, resources, and messages for the terminal."""

from mtsp_ldp.experiments import provenance
from mtsp_ldp.experiments.layout import cell_name
from mtsp_ldp.streams.doubts import doubts
from mtsp_ldp.streams.facts import PreparedFacts

NUMBER = r"\d[^_]*"
BATCHED = {key: getattr(experiment, key) for key in experiment.batch}
"""The axes of the grid that one job covers, with their values."""


def cell(epsilon="{epsilon}", window="{window}"):
    """The files of a cell, with wildcards."""
    return files.run("{dataset}", "{mechanism}", epsilon, window)


def batched(path):
    """The files that one job writes: one, or one for each cell of its batch."""
    return expand(path, **BATCHED, allow_missing=True)


def values(key):
    """Epsilon or window of a job: one value, or the list of its batch.

    Snakemake does not rerun a job when a function of its output changes. The values stand in the file names, so
    results made with one batching are found with every other.
    """
    batch = f"[{','.join(map(str, BATCHED.get(key, [])))}]"
    return lambda wildcards, output: batch if key in BATCHED else wildcards[key]


def receipt_of(wildcards):
    """The receipt of the raw files from which a stream is prepared."""
    return plan.receipt(wildcards.dataset)


def stream_of(wildcards):
    """A prepared stream; raise if a window is longer than it."""
    plan.check_windows(wildcards.dataset)
    return layout.stream(wildcards.dataset)


def megabytes(wildcards, input, attempt):
    """Memory of a job: about twice what was measured.

    That is 110 MB for Python, 18 MB per megabyte of stream, and `BYTES` for each timestamp and cell.
    """
    return attempt * int(
        400 + 40 * input.size_mb + plan.megabytes(input.get("facts", []))
    )


def minutes(wildcards, input, attempt):
    """Time limit of a job that takes seconds per megabyte of input."""
    return attempt * int(15 + input.size_mb)


def simulate_minutes(wildcards, input, attempt):
    """Time limit of a simulation: ten times the estimate for its cells, from the stream's length and size."""
    cells = plan.simulated_by(wildcards.dataset, wildcards.mechanism, dict(wildcards))
    return attempt * int(15 + input.size_mb + plan.seconds(cells) / 6)


def say(*lines):
    """Print lines to the terminal, after the name of the experiment."""
    for line in lines:
        print(f"{experiment.name}: {line}", file=sys.stderr)


def estimate(workflow):
    """Say how many cells are to be simulated, and about how long that takes."""
    todo = [
        one
        for job in workflow.dag.needrun_jobs()
        if job.rule.name in ("simulate", "floor")
        for one in plan.simulated_by(
            job.wildcards.dataset, job.wildcards.mechanism, dict(job.wildcards)
        )
    ]
    # on a cluster there are nodes, and no local cores
    settings = workflow.resource_settings
    places = settings.nodes or settings.cores or 1
    return (
        f"{len(todo)} of {len(experiment.cells)} cells are to be simulated; "
        f"that takes about {plan.seconds(todo) / places / 60:.1f} minutes on {places} cores"
    )


def warnings():
    """Doubts about the streams of the experiment that are prepared."""
    facts = {name: Path(layout.facts(name)) for name in experiment.dataset}
    return [
        f"WARNING: {name}: {doubt}"
        for name, path in facts.items()
        if path.exists()
        for doubt in doubts(PreparedFacts.read(path))
    ]


def pages(workflow):
    """Name the pages that were requested."""
    rules = {"publish", "inspect", "study"}
    made = [
        Path(path).resolve()
        for job in workflow.dag.jobs
        if job.rule.name in rules
        for path in job.output
    ]
    return [f"the report is {path}" for path in sorted(made)] or ["done"]
