"""What the rules share: names with wildcards, parameters, resources, and words for the terminal."""

from mtsp_ldp.experiments import provenance
from mtsp_ldp.experiments.layout import cell_name

NUMBER = r"\d[^_]*"
BATCHED = {key: getattr(experiment, key) for key in experiment.batch}
"""What one job runs through."""


def cell(epsilon="{epsilon}", window="{window}"):
    """The files of a cell, with wildcards."""
    return files.run("{dataset}", "{mechanism}", epsilon, window)


def batched(path):
    """The files that one job writes: one, or one for each cell of its batch."""
    return expand(path, **BATCHED, allow_missing=True)


def values(key):
    """Epsilon or window of a job: its own, or a list of the batch.

    Snakemake reruns no job for a function of the output, and these stand in the files' names: so another batch
    finds what is done.
    """
    batch = f"[{','.join(map(str, BATCHED.get(key, [])))}]"
    return lambda wildcards, output: batch if key in BATCHED else wildcards[key]


def receipt_of(wildcards):
    """The receipt of the raw files that a stream is made of."""
    return plan.receipt(wildcards.dataset)


def stream_of(wildcards):
    """A prepared stream, if every window fits it."""
    plan.check_windows(wildcards.dataset)
    return layout.stream(wildcards.dataset)


def megabytes(wildcards, input, attempt):
    """Memory of a job: measured 110 MB for Python, and 18 MB for a megabyte of stream; twice that is asked."""
    return attempt * int(400 + 40 * input.size_mb)


def minutes(wildcards, input, attempt):
    """Time limit of a job that takes seconds for a megabyte of input."""
    return attempt * int(15 + input.size_mb)


def simulate_minutes(wildcards, input, attempt):
    """Time limit of a simulation: ten times what its cells take here, by the stream's length and size."""
    cells = plan.simulated_by(wildcards.dataset, wildcards.mechanism, dict(wildcards))
    return attempt * int(15 + input.size_mb + plan.seconds(cells) / 6)


def say(*lines):
    """Tell the user something on the terminal."""
    for line in lines:
        print(f"{experiment.name}: {line}", file=sys.stderr)


def estimate(workflow):
    """How many cells are to be simulated, and how long that takes about."""
    todo = [
        one
        for job in workflow.dag.needrun_jobs()
        if job.rule.name in ("simulate", "floor")
        for one in plan.simulated_by(
            job.wildcards.dataset, job.wildcards.mechanism, dict(job.wildcards)
        )
    ]
    # a cluster has nodes, and no cores of its own here
    settings = workflow.resource_settings
    places = settings.nodes or settings.cores or 1
    return (
        f"{len(todo)} of {len(experiment.cells)} cells are to be simulated; "
        f"that takes about {plan.seconds(todo) / places / 60:.1f} minutes on {places} cores"
    )


def pages(workflow):
    """The pages that were asked for and are there."""
    rules = {"publish", "inspect", "study"}
    made = [
        Path(path).resolve()
        for job in workflow.dag.jobs
        if job.rule.name in rules
        for path in job.output
    ]
    return [f"the report is {path}" for path in sorted(made)] or ["done"]
