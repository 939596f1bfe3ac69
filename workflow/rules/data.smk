"""From published raw data to canonical streams (data/streams/<dataset>.parquet and .json)."""


# nodes of a cluster often have no network, the machine that submits has
localrules:
    fetch,


rule fetch_all:
    "The raw files of every stream of {E.name}"
    input:
        sorted({receipt_of(name) for name in E.dataset}),


rule fetch:
    "Fetch the raw files of {wildcards.dataset}"
    output:
        "data/raw/{dataset}/receipt.json",
    log:
        f"logs/{E.name}/fetch/{{dataset}}.log",
    conda:
        "../../environment.yml"
    params:
        config=lambda wildcards: provenance.config_digest(
            catalog.raw_config(wildcards.dataset)
        ),
        files=lambda wildcards: catalog.load_dataset(wildcards.dataset).loose_files(
            Path("data/raw") / wildcards.dataset
        ),
        code=lambda wildcards: provenance.dataset_digest(wildcards.dataset, "fetch"),
    shell:
        "python -m mtsp_ldp.stages.fetch dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule prepare:
    "Prepare the stream of {wildcards.dataset}"
    input:
        raw_receipt,
    output:
        stream="data/streams/{dataset}.parquet",
        facts="data/streams/{dataset}.json",
    log:
        f"logs/{E.name}/prepare/{{dataset}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * 2000,
        runtime=lambda wildcards, attempt: attempt * 30,
    params:
        config=lambda wildcards: provenance.config_digest(
            catalog.dataset_config(wildcards.dataset)
        ),
        code=lambda wildcards: provenance.dataset_digest(wildcards.dataset, "prepare"),
    shell:
        "python -m mtsp_ldp.stages.prepare dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule inspect:
    "Look into the stream of {wildcards.dataset}"
    input:
        stream="data/streams/{dataset}.parquet",
        facts="data/streams/{dataset}.json",
    output:
        "reports/streams/{dataset}.html",
    log:
        f"logs/{E.name}/inspect/{{dataset}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        code=provenance.stage_digest("inspect"),
    shell:
        "python -m mtsp_ldp.stages.inspect dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule streams:
    "The streams of the experiment, looked into"
    input:
        expand("reports/streams/{dataset}.html", dataset=E.dataset),
