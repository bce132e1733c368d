# in:  every score of a matrix
# out: measures.json, measures.parquet and state.json, with their pointer
rule collect_matrix:
    input:
        LAUNCH.scores_of,
    output:
        "{matrix}/ledger/collect.{digest}",
    log:
        "{matrix}/logs/collect.{digest}.log",
    conda:
        "../../envs/trysquare.yaml"
    localrule: True
    priority: 10**6
    shell:
        "exec python -m trysquare.jobs.collect --pointer {output:q} {wildcards.matrix:q} > {log:q} 2>&1"
