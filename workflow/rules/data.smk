"""From published raw data to canonical streams (data/streams/<dataset>.parquet and .json)."""


rule fetch:
    "Fetch the raw files of {wildcards.dataset}"
    output:
        "data/raw/{dataset}/receipt.json",
    params:
        config=lambda wildcards: grid.config_digest(grid.dataset_config(wildcards.dataset)),
        code=lambda wildcards: grid.dataset_digest(wildcards.dataset, "fetch"),
    log:
        f"logs/{E.name}/fetch/{{dataset}}.log",
    conda:
        "../../environment.yml"
    shell:
        "{PYTHON}.fetch dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule prepare:
    "Prepare the stream of {wildcards.dataset}"
    input:
        "data/raw/{dataset}/receipt.json",
    output:
        stream="data/streams/{dataset}.parquet",
        facts="data/streams/{dataset}.json",
    params:
        config=lambda wildcards: grid.config_digest(grid.dataset_config(wildcards.dataset)),
        code=lambda wildcards: grid.dataset_digest(wildcards.dataset, "prepare"),
    log:
        f"logs/{E.name}/prepare/{{dataset}}.log",
    conda:
        "../../environment.yml"
    shell:
        "{PYTHON}.prepare dataset={wildcards.dataset:q} > {log:q} 2>&1"
