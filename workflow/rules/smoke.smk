# in:  matrices as they are recorded; those of this launch first, where `run` is a target too
# out: what was not measured the way it says, one line each; the target fails when there is any
rule smoke:
    input:
        LAUNCH.smoke,
    log:
        ".snakemake/trysquare/smoke.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
    shell:
        "python -m trysquare.jobs.smoke {params.matrices:q} 2>&1 | tee {log}"
