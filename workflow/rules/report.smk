"""From the runs to one summary, tables, figures and the page (reports/<experiment>/…)."""


rule summarize:
    "Summarise the runs of {E.name}"
    input:
        [result(cell) for cell in E.cells],
    output:
        summary=SUMMARY,
        ratios=RATIOS,
    log:
        f"logs/{E.name}/summarize.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        experiment=provenance.config_digest(E),
        overrides=grid.as_overrides(E),
        code=provenance.stage_digest("summarize"),
    shell:
        "python -m mtsp_ldp.stages.summarize {params.overrides:q} > {log:q} 2>&1"


rule tabulate:
    "Tabulate {wildcards.dataset}"
    input:
        summary=SUMMARY,
        ratios=RATIOS,
        facts="data/streams/{dataset}.json",
    output:
        multiext(f"{REPORT}/tables/{{dataset}}", ".csv", ".md", ".tex"),
        report(
            f"{REPORT}/tables/{{dataset}}.html",
            caption="../report/tables.rst",
            category="{dataset}",
            labels={"stream": "{dataset}", "view": "tables"},
        ),
    log:
        f"logs/{E.name}/tabulate/{{dataset}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        overrides=grid.as_overrides(E),
        code=provenance.stage_digest("tabulate"),
    shell:
        "python -m mtsp_ldp.stages.tabulate dataset={wildcards.dataset:q} {params.overrides:q} > {log:q} 2>&1"


rule plot:
    "Plot {wildcards.dataset}"
    input:
        summary=SUMMARY,
        ratios=RATIOS,
        stream="data/streams/{dataset}.parquet",
        facts="data/streams/{dataset}.json",
        runs=focus_results,
    output:
        multiext(
            f"{REPORT}/figures/{{dataset}}",
            *[f".{figure}.{kind}" for figure in E.figures for kind in ("pdf", "svg")],
        ),
        *[
            report(
                f"{REPORT}/figures/{{dataset}}.{figure}.png",
                caption=f"../report/{figure}.rst",
                category="{dataset}",
                labels={"stream": "{dataset}", "view": figure},
            )
            for figure in E.figures
        ],
    log:
        f"logs/{E.name}/plot/{{dataset}}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        overrides=grid.as_overrides(E),
        code=provenance.stage_digest("plot"),
    shell:
        "python -m mtsp_ldp.stages.plot dataset={wildcards.dataset:q} {params.overrides:q} > {log:q} 2>&1"


rule compare:
    "Compare the mechanisms of {E.name}, and judge the paper's claims"
    input:
        runs=[result(cell) for cell in E.cells],
        summary=SUMMARY,
        streams=expand("data/streams/{dataset}.parquet", dataset=E.dataset),
    output:
        report(
            f"{REPORT}/tables/claims.csv",
            caption="../report/claims.rst",
            category="all streams",
            labels={"stream": "all", "view": "claims"},
        ),
        report(
            f"{REPORT}/tables/ranks.csv",
            caption="../report/ranks.rst",
            category="all streams",
            labels={"stream": "all", "view": "mean ranks"},
        ),
        report(
            f"{REPORT}/tables/profiles.csv",
            caption="../report/profiles.rst",
            category="all streams",
            labels={"stream": "all", "view": "performance profiles"},
        ),
        f"{REPORT}/tables/claims.md",
    log:
        f"logs/{E.name}/compare.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        overrides=grid.as_overrides(E),
        claims=provenance.config_digest(
            (composition.CONFIG / "claims.yaml").read_bytes()
        ),
        code=provenance.stage_digest("compare"),
    shell:
        "python -m mtsp_ldp.stages.compare {params.overrides:q} > {log:q} 2>&1"


rule publish:
    "Write the page of {E.name}"
    input:
        summary=SUMMARY,
        streams=expand("data/streams/{dataset}.parquet", dataset=E.dataset),
        facts=expand("data/streams/{dataset}.json", dataset=E.dataset),
        runs=[
            result(E.focus_cell(dataset, name))
            for dataset in E.dataset
            for name in E.names
        ],
        tables=expand(f"{REPORT}/tables/{{dataset}}.html", dataset=E.dataset),
        comparison=multiext(
            f"{REPORT}/tables/", "claims.csv", "ranks.csv", "profiles.csv"
        ),
        figures=expand(
            f"{REPORT}/figures/{{dataset}}.{{figure}}.png",
            figure=E.figures,
            dataset=E.dataset,
        ),
    output:
        f"{REPORT}/index.html",
    log:
        f"logs/{E.name}/publish.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        overrides=grid.as_overrides(E),
        code=provenance.stage_digest("publish"),
        commit=provenance.commit(),
    shell:
        "python -m mtsp_ldp.stages.publish {params.overrides:q} commit={params.commit} > {log:q} 2>&1"


rule study:
    "Study {wildcards.study}"
    output:
        "reports/studies/{study}.md",
    log:
        "logs/studies/{study}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * 2000,
        runtime=lambda wildcards, attempt: attempt * 60,
    params:
        code=provenance.stage_digest("study"),
        config=provenance.config_digest(catalog.dataset_config("city")),
    shell:
        "python -m mtsp_ldp.stages.study study={wildcards.study:q} > {log:q} 2>&1"


rule studies:
    "Growth of error and time, grouping on known signals, privacy audits"
    input:
        expand("reports/studies/{study}.md", study=["growth", "grouping", "privacy"]),
