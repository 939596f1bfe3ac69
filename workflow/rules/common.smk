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


def receipt_of(dataset):
    """The receipt of the raw files that a stream is made of."""
    return f"data/raw/{grid.load_dataset(dataset).raw_name}/receipt.json"


def raw_receipt(wildcards):
    return receipt_of(wildcards.dataset)


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


def ends_of_logs(said):
    """The logs of the jobs that failed, by what Snakemake said of them, and the last line of each."""
    named = re.findall(r"^ +log: (.+) \(check log file", said, re.M)
    for path in dict.fromkeys(path for paths in named for path in paths.split(", ")):
        if Path(path).is_file():
            lines = Path(path).read_text(errors="replace").split("\n")
            yield path, next(
                (line for line in reversed(lines) if line.strip()), "(it is empty)"
            )


def megabytes(wildcards, input, attempt):
    """Memory of a job: measured 110 MB for Python, and 18 MB for a megabyte of stream; twice that is asked."""
    return attempt * int(400 + 40 * input.size_mb)


def minutes(wildcards, input, attempt):
    """Time limit of a job that takes seconds for a megabyte of input."""
    return attempt * int(15 + input.size_mb)


def simulate_minutes(wildcards, input, attempt):
    """Time limit of a simulation: ten times what its cells take here, by the stream's length and size."""
    cells = E.cells_of(wildcards.dataset, wildcards.mechanism)
    jobs = len(cells) // math.prod(map(len, BATCHED.values())) or 1
    return attempt * int(15 + input.size_mb + 10 * E.seconds(cells, jobs) / 60)
