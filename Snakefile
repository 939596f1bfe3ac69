"""Location streams under w-event LDP: from raw data to a report, one job per mechanism, epsilon and window.

    snakemake --cores all                              the default experiment
    snakemake --cores all --config experiment=paper    another of config/experiment
    snakemake --cores all --config epsilon=[1] repetitions=2      with some of its keys replaced

config/README.md explains every key.
"""

import json
import math
import re
import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from mtsp_ldp.experiments import grid
from mtsp_ldp.experiments import catalog
from mtsp_ldp.experiments import composition
from mtsp_ldp.experiments import provenance
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.stages.prepared import made_of
from mtsp_ldp.experiments.workspace import clear_stale_locks, forgive_the_future

min_version("9.19")

overrides = dict(config)
may = {
    key: overrides.pop(key)
    for key in ("allow_download", "accept_terms")
    if key in overrides
}
try:
    permission = Permission.of(grid.typed(may))
    E = grid.load_experiment(str(overrides.pop("experiment", "default")), overrides)
    grid.check_sources(E, Path("data"), permission)
    # what is asked for is not known here, but on the command line
    if not any(word.endswith(("streams", "fetch_all")) for word in sys.argv[1:]):
        grid.check_windows(E, Path("data"))
except ValueError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process:  # and no job of it, whose Snakemake may have died
    alive = clear_stale_locks(Path.cwd())
    forgive_the_future(Path("data"))

# jobs run this very Python, whether or not its environment is activated; permissions are no parameter of a
# rule: to grant them later makes nothing anew
shell.prefix(
    f'PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"; {permission.exports()}'
)


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        everything(),


onstart:
    todo = cells_of(workflow.dag.needrun_jobs())
    # a cluster has nodes, and no cores of its own here
    nodes, cores = (
        workflow.resource_settings.nodes,
        workflow.resource_settings.cores,
    )
    places = nodes or cores or 1
    minutes = E.seconds(todo, places) / 60
    print(
        f"{E.name}: {len(todo)} of {len(E.cells)} cells are to be simulated; "
        f"that takes about {minutes:.1f} minutes on {places} cores",
        file=sys.stderr,
    )


onsuccess:
    pages = {E.name: Path(REPORT) / "index.html"}
    if any(word.endswith("streams") for word in sys.argv[1:]):
        pages = {name: Path(f"reports/streams/{name}.html") for name in E.dataset}
    for name, page in pages.items():
        print(
            f"{name}: the report is {page.resolve()}" if page.exists() else "done",
            file=sys.stderr,
        )


onerror:
    for path, line in ends_of_logs(log):
        print(f"{E.name}: {path} ends with: {line}", file=sys.stderr)
    print(
        f"{E.name}: not all is done. After mending, run the same command again.",
        file=sys.stderr,
    )
