"""One job per stream and mechanism, and per epsilon and window unless `batch` names them.

All repetitions are inside; every cell has its own files (data/runs/<experiment>/…).
"""


rule simulate:
    "Simulate {wildcards.mechanism} on {wildcards.dataset}, epsilon={params.epsilon}, w={params.window}"
    input:
        stream="data/streams/{dataset}.parquet",
        facts="data/streams/{dataset}.json",
    output:
        scores=files(".parquet"),
        release=files(".release.parquet"),
        trace=files(".trace.parquet"),
    log:
        f"logs/{E.name}/simulate/{JOB}.log",
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
        repetitions=E.repetitions,
        seed=E.seed,
        base=lambda wildcards: grid.base_of(wildcards.mechanism),
        options=lambda wildcards: [
            f"++mechanism.options.{name}={grid.as_hydra(value)}"
            for name, value in E.options(wildcards.mechanism).items()
        ],
        code=lambda wildcards: provenance.mechanism_digest(wildcards.mechanism),
        stem=lambda wildcards: stem_of(wildcards.dataset, wildcards.mechanism),
    shell:
        "python -m mtsp_ldp.stages.simulate dataset={wildcards.dataset:q} mechanism={params.base:q} label={wildcards.mechanism:q} {params.options:q}"
        " epsilon={params.epsilon:q} window={params.window:q} repetitions={params.repetitions}"
        " seed={params.seed} code={params.code} 'output=\"{params.stem}\"' > {log:q} 2>&1"


use rule simulate as floor with:
    output:
        scores=f"{RUNS}/{FLOOR}.parquet",
        release=f"{RUNS}/{FLOOR}.release.parquet",
        trace=f"{RUNS}/{FLOOR}.trace.parquet",
    log:
        f"logs/{E.name}/simulate/{FLOOR}.log",
    params:
        epsilon="null",
        window="null",
        repetitions=1,
