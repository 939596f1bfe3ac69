"""Location streams under w-event LDP: from raw data to a report, one job per mechanism, epsilon and window.

snakemake --cores all                                       the default experiment
snakemake --cores all --config experiment=paper             another of config/experiment
snakemake --cores all --config epsilon=[1] repetitions=2    the default with some keys replaced (config/README.md)
"""

import shlex
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.utils import min_version

from mtsp_ldp.experiments.plan import Plan, last_lines
from mtsp_ldp.experiments.workspace import clear_stale_locks, reset_future_times
from mtsp_ldp.mechanisms.base import REGISTRY

min_version("9.19")

try:
    plan = Plan.of(config)
except ValueError as error:
    raise WorkflowError(str(error)) from None
experiment, files, layout = plan.experiment, plan.files, plan.layout

if workflow.is_main_process:  # not in a job, which may outlive its main process
    alive = clear_stale_locks(Path.cwd())
    reset_future_times(Path("data"))
    plan.write()
    print(*REGISTRY.warnings(), sep="\n", end="", file=sys.stderr)

# jobs run the same Python, even if its environment is not activated. The plan is no parameter of them, because
# an edit of it is to rerun only what it touches
shell.prefix(
    f'PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"; plan={plan.path}; '
)


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        plan.results(),


onstart:
    say(estimate(workflow))


onsuccess:
    say(*warnings(), *pages(workflow))


onerror:
    say(*(f"{path} ends with: {line}" for path, line in last_lines(log)))
    say("the run is incomplete. Fix the cause, then run the same command again.")
