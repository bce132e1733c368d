# in:  every score of a matrix
# out: measures.json, measures.parquet and state.json, with their pointer; the target collects what is recorded
rule collect_matrix:
    input:
        LAUNCH.scores_of,
    output:
        "{matrix}/ledger/collect.{digest}",
    log:
        "{matrix}/logs/collect.{digest}.log",
    priority: 10**6
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    shell:
        "exec python -m trysquare.jobs.collect --pointer {output:q} {wildcards.matrix:q} > {log:q} 2>&1"


rule collect:
    input:
        LAUNCH.collect,
    log:
        ".snakemake/trysquare/collect.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
    shell:
        "python -m trysquare.jobs.collect {params.matrices:q} 2>&1 | tee {log}"
