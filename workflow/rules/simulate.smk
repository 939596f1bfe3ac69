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
        config=lambda wildcards: json.dumps(
            {
                "dataset": {"name": wildcards.dataset},
                "made_of": made_of(catalog.dataset_config(wildcards.dataset)),
                "mechanism": E.mechanism_config(wildcards.mechanism),
                "label": wildcards.mechanism,
                "seed": E.seed,
                "code": provenance.mechanism_digest(wildcards.mechanism),
                "data": "data",
                "output": stem_of(wildcards.dataset, wildcards.mechanism),
            }
        ),
    shell:
        "python -m mtsp_ldp.stages.simulate {params.config:q}"
        ' \'{{"epsilon": {params.epsilon}, "window": {params.window}, "repetitions": {params.repetitions}}}\''
        " > {log:q} 2>&1"


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
