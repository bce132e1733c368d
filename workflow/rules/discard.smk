# in:  cells, named by --config cell=...
# out: nothing; their runs, attempts included, lie under discarded/
rule discard:
    input:
        LAUNCH.discard,
    log:
        ".snakemake/trysquare/discard.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
        cells=LAUNCH.cells,
    shell:
        "python -m trysquare.jobs.discard {params.matrices:q} -- {params.cells:q} 2>&1 | tee {log}"
