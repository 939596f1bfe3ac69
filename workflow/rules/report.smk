"""From the runs to one summary, tables, figures and the page (reports/<experiment>/…)."""

SUMMARY = f"data/summaries/{E.name}.parquet"
FORMATS = ["pdf", "svg", "png"]


def focus_files(wildcards):
    """Streams, traces and releases of the runs that a figure looks into."""
    files = {"summary": SUMMARY, "facts": f"data/streams/{wildcards.dataset}.json"}
    if wildcards.figure in ("budget", "busiest"):
        cells = [E.focus_cell(wildcards.dataset, name) for name in E.mechanism]
        files["stream"] = f"data/streams/{wildcards.dataset}.parquet"
        files["runs"] = [result(cell) for cell in cells]
    return files


rule summarize:
    "Summarise the runs of {E.name}"
    input:
        [result(cell) for cell in E.cells],
    output:
        SUMMARY,
    params:
        experiment=grid.config_digest(E),
        overrides=grid.as_overrides(E),
        code=grid.stage_digest("summarize"),
    log:
        f"logs/{E.name}/summarize.log",
    conda:
        "../../environment.yml"
    shell:
        "{PYTHON}.summarize {params.overrides:q} > {log:q} 2>&1"


rule tabulate:
    "Tabulate {wildcards.dataset}"
    input:
        summary=SUMMARY,
        facts="data/streams/{dataset}.json",
    output:
        multiext(f"{REPORT}/tables/{{dataset}}", ".csv", ".md", ".tex", ".html"),
    params:
        overrides=grid.as_overrides(E),
        code=grid.stage_digest("tabulate"),
    log:
        f"logs/{E.name}/tabulate/{{dataset}}.log",
    conda:
        "../../environment.yml"
    shell:
        "{PYTHON}.tabulate dataset={wildcards.dataset:q} {params.overrides:q} > {log:q} 2>&1"


rule plot:
    "Plot {wildcards.figure} of {wildcards.dataset}"
    input:
        unpack(focus_files),
    output:
        pdf=f"{REPORT}/figures/{{figure}}_{{dataset}}.pdf",
        svg=f"{REPORT}/figures/{{figure}}_{{dataset}}.svg",
        png=report(
            f"{REPORT}/figures/{{figure}}_{{dataset}}.png",
            caption="../report/{figure}.rst",
            category="{dataset}",
            labels={"stream": "{dataset}", "figure": "{figure}"},
        ),
    wildcard_constraints:
        figure="|".join(grid.FIGURES),
    params:
        overrides=grid.as_overrides(E),
        code=grid.stage_digest("plot"),
    log:
        f"logs/{E.name}/plot/{{figure}}_{{dataset}}.log",
    conda:
        "../../environment.yml"
    shell:
        "{PYTHON}.plot figure={wildcards.figure} dataset={wildcards.dataset:q} {params.overrides:q}"
        " > {log:q} 2>&1"


rule publish:
    "Write the page of {E.name}"
    input:
        summary=SUMMARY,
        tables=expand(f"{REPORT}/tables/{{dataset}}.html", dataset=E.dataset),
        figures=expand(
            f"{REPORT}/figures/{{figure}}_{{dataset}}.svg", figure=grid.FIGURES, dataset=E.dataset
        ),
    output:
        f"{REPORT}/index.html",
    params:
        overrides=grid.as_overrides(E),
        code=grid.stage_digest("publish"),
        commit=grid.commit(),
    log:
        f"logs/{E.name}/publish.log",
    conda:
        "../../environment.yml"
    shell:
        "{PYTHON}.publish {params.overrides:q} commit={params.commit} > {log:q} 2>&1"
