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
    return f"data/raw/{catalog.load_dataset(dataset).raw_name}/receipt.json"


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


def figures_of(dataset):
    """The figures of a stream, in each of their formats."""
    kinds = ("pdf", "svg", "png")
    return expand(
        f"{REPORT}/figures/{dataset}.{{figure}}.{{kind}}", figure=E.figures, kind=kinds
    )


def everything():
    """All results and not the page alone, so that whatever is deleted is made again."""
    runs = [
        f"{RUNS}/{cell.stem}{suffix}"
        for cell in E.cells
        for suffix in (".parquet", ".release.parquet", ".trace.parquet")
    ]
    tables = expand(
        f"{REPORT}/tables/{{dataset}}.{{kind}}",
        dataset=E.dataset,
        kind=["csv", "md", "tex", "html"],
    )
    tables += multiext(
        f"{REPORT}/tables/", "claims.csv", "claims.md", "ranks.csv", "profiles.csv"
    )
    figures = [path for dataset in E.dataset for path in figures_of(dataset)]
    return [f"{REPORT}/index.html", *runs, SUMMARY, RATIOS, *tables, *figures]


def cells_of(jobs):
    """The cells that these jobs simulate."""
    return [
        cell
        for job in jobs
        if job.rule.name in ("simulate", "floor")
        for cell in E.cells_of(job.wildcards.dataset, job.wildcards.mechanism)
        if all(
            str(getattr(cell, key)) == job.wildcards[key]
            for key in ("epsilon", "window")
            if key in job.wildcards.keys()
        )
    ]


def focus_results(wildcards):
    """The runs that figures look into, one per mechanism."""
    return [result(E.focus_cell(wildcards.dataset, name)) for name in E.names]


def ends_of_logs(logs):
    """The logs of the jobs that failed, by what Snakemake's own logs say, and the last line of each."""
    said = "".join(Path(path).read_text(errors="replace") for path in logs)
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
    cell = E.cells_of(wildcards.dataset, wildcards.mechanism)[0]
    cells = 1 if cell.epsilon == grid.ANY else math.prod(map(len, BATCHED.values()))
    return attempt * int(15 + input.size_mb + 10 * cells * E.seconds([cell], 1) / 60)
