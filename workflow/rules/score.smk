# in:  a measured run, and a frozen validator named by its digest
# out: validation/<validator>.json, with its pointer
rule score_run:
    input:
        ancient("{matrix}/runs/{run}/measured.json"),
    output:
        "{matrix}/runs/{run}/validation/.{validator}.{digest}",
    log:
        "{matrix}/logs/{run}/score.{validator}.{digest}.log",
    conda:
        "../../envs/trysquare.yaml"
    priority: 10**6
    shell:
        "exec python -m trysquare.jobs.score {wildcards.matrix:q} {wildcards.run:q} {wildcards.validator} {wildcards.digest}"
        " > {log:q} 2>&1"
