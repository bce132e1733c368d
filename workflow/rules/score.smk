# in:  a measured run, and a frozen validator named by its digest
# out: validation/<validator>.json, with its pointer; the target scores recorded runs only
rule score_run:
    input:
        ancient("{matrix}/runs/{run}/measured.json"),
    output:
        "{matrix}/runs/{run}/validation/.{validator}.{digest}",
    log:
        "{matrix}/logs/{run}/score.{validator}.{digest}.log",
    priority: 10**6
    conda:
        "../../envs/trysquare.yaml"
    resources:
        runtime=LAUNCH.minutes,
    shell:
        "job score {wildcards.matrix:q} {wildcards.run:q} {wildcards.validator} {wildcards.digest}"
        " > {log:q} 2>&1"


rule score:
    input:
        LAUNCH.score,
    log:
        ".snakemake/trysquare/score.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
    shell:
        "exec python -m trysquare.jobs.collect {params.matrices:q} > {log} 2>&1"
