"""One job per stream, mechanism, epsilon and window; `batch` merges the jobs of an axis.

A job runs all repetitions. Every cell has its own files (data/runs/<experiment>/…).
"""


rule simulate:
    "Simulate {wildcards.mechanism} on {wildcards.dataset}, epsilon={params.epsilon}, w={params.window}"
    input:
        stream=stream_of,
        facts=layout.facts("{dataset}"),
    output:
        scores=batched(cell().scores),
        release=batched(cell().release),
        trace=batched(cell().trace),
    log:
        expand(
            files.log(
                "simulate",
                f"{{dataset}}/{{mechanism}}/{cell_name('{epsilon}', '{window}')}",
            ),
            **{key: "all" for key in BATCHED},
            allow_missing=True,
        ),
    wildcard_constraints:
        epsilon=NUMBER,
        window=NUMBER,
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=simulate_minutes,
    params:
        epsilon=values("epsilon"),
        window=values("window"),
        repetitions=experiment.repetitions,
        seed=experiment.seed,
        folder=lambda wildcards: files.folder(wildcards.dataset, wildcards.mechanism),
        config=lambda wildcards: provenance.config_digest(
            plan.datasets[wildcards.dataset], plan.mechanisms[wildcards.mechanism]
        ),
        code=lambda wildcards: provenance.mechanism_digest(wildcards.mechanism),
    shell:
        "python -m mtsp_ldp.stages.simulate $plan dataset={wildcards.dataset:q}"
        " mechanism={wildcards.mechanism:q} epsilon={params.epsilon:q} window={params.window:q}"
        " repetitions={params.repetitions} seed={params.seed} code={params.code}"
        " output={params.folder:q} > {log:q} 2>&1"


use rule simulate as floor with:
    output:
        scores=cell(None, None).scores,
        release=cell(None, None).release,
        trace=cell(None, None).trace,
    log:
        files.log("simulate", f"{{dataset}}/{{mechanism}}/{cell_name(None, None)}"),
    params:
        epsilon="null",
        window="null",
        repetitions=1,
        seed=experiment.seed,
        folder=lambda wildcards: files.folder(wildcards.dataset, wildcards.mechanism),
        config=lambda wildcards: provenance.config_digest(
            plan.datasets[wildcards.dataset], plan.mechanisms[wildcards.mechanism]
        ),
        code=lambda wildcards: provenance.mechanism_digest(wildcards.mechanism),
