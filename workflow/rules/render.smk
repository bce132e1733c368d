# in:  the measures of a matrix
# out: synthesis.md and synthesis.html, with their pointer
rule render_matrix:
    input:
        LAUNCH.collect_pointer,
    output:
        "{matrix}/ledger/render.{digest}",
    log:
        "{matrix}/logs/render.{digest}.log",
    conda:
        "../../envs/trysquare.yaml"
    localrule: True
    priority: 10**6
    shell:
        "exec python -m trysquare.jobs.render --pointer {output:q} {wildcards.matrix:q} > {log:q} 2>&1"
