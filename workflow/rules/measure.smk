# in:  nothing (the job reads the frozen plan)
# out: runs/<cell>/<id>/, committed by one rename with its pointer measured.json inside
rule measure:
    output:
        "{matrix}/runs/{run}/measured.json",
    log:
        "{matrix}/logs/{run}/measure.log",
    priority: LAUNCH.priority
    conda:
        "../../envs/trysquare.yaml"
    threads: 0
    resources:
        **LAUNCH.needs,
        runtime=LAUNCH.minutes,
    params:
        spend=LAUNCH.spend,
    shell:
        "job measure {wildcards.matrix:q} {wildcards.run:q} {params.spend} > {log:q} 2>&1"
