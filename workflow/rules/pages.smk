# in:  recorded runs of a complete matrix; the agent, which alone can read its sessions
# out: pages/<run>/, a page of each session, with their pointer; the target makes them all and links them from the runs
rule session_pages:
    input:
        ancient("{matrix}/runs/{run}/measured.json"),
    output:
        "{matrix}/pages/{run}/exported",
    log:
        "{matrix}/logs/{run}/pages.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    shell:
        "exec python -m trysquare.jobs.pages {wildcards.matrix:q} {wildcards.run:q} {output:q} > {log:q} 2>&1"


rule pages:
    input:
        LAUNCH.pages,
    log:
        ".snakemake/trysquare/pages.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
    shell:
        "python -m trysquare.jobs.pages --runs {params.matrices:q} 2>&1 | tee {log}"
