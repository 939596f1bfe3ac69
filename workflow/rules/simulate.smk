"""One job per stream, mechanism, epsilon and window, all repetitions inside (data/runs/<experiment>/…)."""


rule simulate:
    "Simulate {wildcards.mechanism} on {wildcards.dataset}, epsilon={wildcards.epsilon}, w={wildcards.window}"
    input:
        stream="data/streams/{dataset}.parquet",
        facts="data/streams/{dataset}.json",
    output:
        scores=f"{RUNS}/{CELL}.parquet",
        release=f"{RUNS}/{CELL}.release.parquet",
        trace=f"{RUNS}/{CELL}.trace.parquet",
    log:
        f"logs/{E.name}/simulate/{CELL}.log",
    conda:
        "../../environment.yml"
    params:
        epsilon=lambda wildcards: null_if_any(wildcards.epsilon),
        window=lambda wildcards: null_if_any(wildcards.window),
        repetitions=lambda wildcards: (
            1 if wildcards.epsilon == grid.ANY else E.repetitions
        ),
        seed=E.seed,
        base=lambda wildcards: grid.base_of(wildcards.mechanism),
        options=lambda wildcards: [
            f"++mechanism.options.{name}={grid.as_hydra(value)}"
            for name, value in E.options(wildcards.mechanism).items()
        ],
        code=lambda wildcards: grid.mechanism_digest(wildcards.mechanism),
        stem=subpath(output.scores, strip_suffix=".parquet"),
    shell:
        "python -m mtsp_ldp.stages.simulate dataset={wildcards.dataset:q} mechanism={params.base:q} label={wildcards.mechanism:q} {params.options:q}"
        " epsilon={params.epsilon} window={params.window} repetitions={params.repetitions}"
        " seed={params.seed} code={params.code} 'output=\"{params.stem}\"' > {log:q} 2>&1"
