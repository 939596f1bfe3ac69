"""Paths of an experiment's files, and what some inputs and parameters are made of."""

REPORT = f"reports/{E.name}"
RUNS = f"data/runs/{E.name}"
CELL = "{dataset}/{mechanism}/epsilon={epsilon}_window={window}"
FLOOR = CELL.replace("{epsilon}", grid.ANY).replace("{window}", grid.ANY)
BATCHED = {key: getattr(E, key) for key in E.batch}  # what one job runs through
JOB = expand(CELL, **{key: "all" for key in BATCHED}, allow_missing=True)[0]
SUMMARY = f"data/summaries/{E.name}.parquet"
RATIOS = f"data/summaries/{E.name}.ratios.parquet"
NUMBER = r"\d[^_]*"


def result(cell):
    return f"{RUNS}/{cell.stem}.parquet"


def raw_receipt(wildcards):
    """The receipt of the raw files that a stream is made of."""
    name = grid.load_dataset(wildcards.dataset).raw_name
    return f"data/raw/{name}/receipt.json"


def files(suffix):
    """The files of this suffix that one job writes: one, or one for each cell of its batch."""
    return expand(f"{RUNS}/{CELL}{suffix}", **BATCHED, allow_missing=True)


def stem_of(dataset, mechanism):
    """What a job's process is told to write, with epsilon and window for it to fill in."""
    cell = CELL.replace("{dataset}", dataset).replace("{mechanism}", mechanism)
    return f"{RUNS}/{cell}"


def values(key):
    """What a job is told of epsilon or window: its own, or a list of the batch.

    Snakemake reruns no job for a function of the output, and what is said here stands in the files' names: so
    another batch finds what is done.
    """
    batch = f"[{','.join(map(str, BATCHED.get(key, [])))}]"
    return lambda wildcards, output: batch if key in BATCHED else wildcards[key]


def focus_results(wildcards):
    """The runs that figures look into, one per mechanism."""
    return [result(E.focus_cell(wildcards.dataset, name)) for name in E.names]
