"""From runs to one summary, tables, figures and the page (reports/<experiment>/…)."""

from mtsp_ldp.experiments.config import CONFIG, dataset_config


rule summarize:
    "Summarise the runs of {experiment.name}"
    input:
        runs=[one.files(files).scores for one in experiment.cells],
        streams=[layout.stream(name) for name in experiment.dataset],
        facts=[layout.facts(name) for name in experiment.dataset],
    output:
        summary=files.summary,
        ratios=files.ratios,
    log:
        files.log("summarize"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        experiment=provenance.config_digest(experiment),
        code=provenance.stage_digest("summarize"),
    shell:
        "python -m mtsp_ldp.stages.summarize $plan > {log:q} 2>&1"


rule tabulate:
    "Tabulate {wildcards.dataset}"
    input:
        summary=files.summary,
        ratios=files.ratios,
        facts=layout.facts("{dataset}"),
    output:
        [files.table("{dataset}", form) for form in ("csv", "md", "tex")],
        report(
            files.table("{dataset}", "html"),
            caption="../report/tables.rst",
            category="{dataset}",
            labels={"stream": "{dataset}", "view": "tables"},
        ),
    log:
        files.log("tabulate", "{dataset}"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        experiment=provenance.config_digest(experiment),
        code=provenance.stage_digest("tabulate"),
    shell:
        "python -m mtsp_ldp.stages.tabulate $plan dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule plot:
    "Plot {wildcards.dataset}"
    input:
        summary=files.summary,
        ratios=files.ratios,
        stream=layout.stream("{dataset}"),
        facts=layout.facts("{dataset}"),
        runs=lambda wildcards: plan.focus_files(wildcards.dataset),
    output:
        [
            files.figure("{dataset}", figure, form)
            for figure in experiment.figures
            for form in ("pdf", "svg")
        ],
        *[
            report(
                files.figure("{dataset}", figure, "png"),
                caption=f"../report/{figure}.rst",
                category="{dataset}",
                labels={"stream": "{dataset}", "view": figure},
            )
            for figure in experiment.figures
        ],
    log:
        files.log("plot", "{dataset}"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        experiment=provenance.config_digest(experiment),
        code=provenance.stage_digest("plot"),
    shell:
        "python -m mtsp_ldp.stages.plot $plan dataset={wildcards.dataset:q} > {log:q} 2>&1"


rule compare:
    "Compare the mechanisms of {experiment.name}, and judge the paper's claims"
    input:
        runs=[one.files(files).scores for one in experiment.cells],
        summary=files.summary,
        streams=[layout.stream(name) for name in experiment.dataset],
    output:
        report(
            files.table("claims", "csv"),
            caption="../report/claims.rst",
            category="all streams",
            labels={"stream": "all", "view": "claims"},
        ),
        report(
            files.table("ranks", "csv"),
            caption="../report/ranks.rst",
            category="all streams",
            labels={"stream": "all", "view": "mean ranks"},
        ),
        report(
            files.table("profiles", "csv"),
            caption="../report/profiles.rst",
            category="all streams",
            labels={"stream": "all", "view": "performance profiles"},
        ),
        files.table("claims", "md"),
    log:
        files.log("compare"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        experiment=provenance.config_digest(experiment),
        claims=provenance.config_digest((CONFIG / "claims.yaml").read_bytes()),
        code=provenance.stage_digest("compare"),
    shell:
        "python -m mtsp_ldp.stages.compare $plan > {log:q} 2>&1"


rule publish:
    "Write the page of {experiment.name}"
    input:
        summary=files.summary,
        streams=[layout.stream(name) for name in experiment.dataset],
        facts=[layout.facts(name) for name in experiment.dataset],
        runs=[path for name in experiment.dataset for path in plan.focus_files(name)],
        tables=[files.table(name, "html") for name in experiment.dataset],
        comparison=[
            files.table(name, "csv") for name in ("claims", "ranks", "profiles")
        ],
        figures=[
            files.figure(name, figure, "png")
            for name in experiment.dataset
            for figure in experiment.figures
        ],
    output:
        files.page,
    log:
        files.log("publish"),
    conda:
        "../../environment.yml"
    resources:
        mem_mb=megabytes,
        runtime=minutes,
    params:
        experiment=provenance.config_digest(experiment),
        code=provenance.stage_digest("publish"),
        commit=provenance.commit(),
    shell:
        "python -m mtsp_ldp.stages.publish $plan commit={params.commit} > {log:q} 2>&1"


rule study:
    "Study {wildcards.study}"
    output:
        layout.study("{study}"),
    log:
        "logs/studies/{study}.log",
    conda:
        "../../environment.yml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * 2000,
        runtime=lambda wildcards, attempt: attempt * 60,
    params:
        code=provenance.stage_digest("study"),
        config=provenance.config_digest(dataset_config("city")),
    shell:
        "python -m mtsp_ldp.stages.study $plan study={wildcards.study:q} > {log:q} 2>&1"


rule studies:
    "All studies: growth of error and time, grouping on known signals, privacy audits"
    input:
        expand(layout.study("{study}"), study=["growth", "grouping", "privacy"]),
