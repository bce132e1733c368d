# in:  the measures of a matrix
# out: synthesis.md, synthesis.html and the pages of runs, with their pointer and what a report shows of them;
#      the target renders stored measures alone
rule render_matrix:
    input:
        LAUNCH.collect_pointer,
    output:
        pointer="{matrix}/ledger/render.{digest}",
        page=report(
            "{matrix}/ledger/report.{digest}.html",
            caption="../report/synthesis.rst",
            category="Synthesis",
            labels=LAUNCH.labels,
        ),
        runs=report(
            "{matrix}/ledger/report.{digest}.csv",
            caption="../report/runs.rst",
            category="Runs",
            labels=LAUNCH.labels,
        ),
    log:
        "{matrix}/logs/render.{digest}.log",
    priority: 10**6
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    shell:
        "exec python -m trysquare.jobs.render --pointer {output.pointer:q} {wildcards.matrix:q} > {log:q} 2>&1"


rule render_reference:
    input:
        LAUNCH.render_pointer,
    output:
        "{matrix}/ledger/reference_{reference}.{digest}",
    log:
        "{matrix}/logs/reference_{reference}.{digest}.log",
    priority: 10**6
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        reference=LAUNCH.reference,
    shell:
        "exec python -m trysquare.jobs.render --pointer {output:q} --reference {params.reference:q} {wildcards.matrix:q}"
        " > {log:q} 2>&1"


rule render:
    input:
        LAUNCH.render,
    log:
        ".snakemake/trysquare/render.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        asked=LAUNCH.rendered,
    shell:
        "python -m trysquare.jobs.render {params.asked:q} 2>&1 | tee {log}"
