"""From published raw data to canonical streams (data/streams/<dataset>.parquet and .json)."""


# the nodes of a cluster often have no network; the submitting machine does
localrules:
    fetch,


rule fetch_all:
    "The raw files of every stream of {experiment.name}"
    input:
        sorted({plan.receipt(name) for name in experiment.dataset}),


rule fetch:
    "Fetch the raw files of {wildcards.dataset}"
    output:
        layout.receipt("{dataset}"),
    log:
        files.log("fetch", "{dataset}"),
    conda:
        "../../environment.yml"
    params:
        config=lambda wildcards: provenance.config_digest(
            plan.datasets[wildcards.dataset].get(
                "source", plan.datasets[wildcards.dataset]
            )
        ),
        files=lambda wildcards: plan.dataset(wildcards.dataset).loose_files(
            Path(layout.raw(wildcards.dataset))
        ),
        code=lambda wildcards: provenance.dataset_digest(
            plan.dataset(wildcards.dataset), "fetch"
        ),
    shell:
        "python -m mtsp_ldp.stages.fetch $plan dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule prepare:
    "Prepare the stream of {wildcards.dataset}"
    input:
        receipt_of,
    output:
        stream=layout.stream("{dataset}"),
        facts=layout.facts("{dataset}"),
    log:
        files.log("prepare", "{dataset}"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * 2000,
        runtime=lambda wildcards, attempt: attempt * 30,
    params:
        config=lambda wildcards: provenance.config_digest(
            plan.datasets[wildcards.dataset]
        ),
        code=lambda wildcards: provenance.dataset_digest(
            plan.dataset(wildcards.dataset), "prepare"
        ),
    shell:
        "python -m mtsp_ldp.stages.prepare $plan dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule inspect:
    "Inspect the stream of {wildcards.dataset}"
    input:
        stream=layout.stream("{dataset}"),
        facts=layout.facts("{dataset}"),
    output:
        layout.stream_page("{dataset}"),
    log:
        files.log("inspect", "{dataset}"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        code=provenance.stage_digest("inspect"),
    shell:
        "python -m mtsp_ldp.stages.inspect $plan dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule streams:
    "A page about each stream of {experiment.name}"
    input:
        [layout.stream_page(name) for name in experiment.dataset],
