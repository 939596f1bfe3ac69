"""Paths of an experiment's files, and what some inputs and parameters are made of."""

REPORT = f"reports/{E.name}"
RUNS = f"data/runs/{E.name}"
CELL = "{dataset}/{mechanism}/epsilon={epsilon}_window={window}"
SUMMARY = f"data/summaries/{E.name}.parquet"
RATIOS = f"data/summaries/{E.name}.ratios.parquet"


def result(cell):
    return f"{RUNS}/{cell.stem}.parquet"


def raw_receipt(wildcards):
    """The receipt of the raw files that a stream is made of."""
    name = grid.load_dataset(wildcards.dataset).raw_name
    return f"data/raw/{name}/receipt.json"


def null_if_any(value):
    return "null" if value == grid.ANY else value


def focus_results(wildcards):
    """The runs that figures look into, one per mechanism."""
    return [result(E.focus_cell(wildcards.dataset, name)) for name in E.names]
