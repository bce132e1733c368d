# in:  the record of the same run in a smaller matrix of the experiment (with extend=true), or what nobody makes
# out: that run, copied whole by one rename; where nothing is carried, the engine falls back to measure
ruleorder: carry > measure


rule carry:
    input:
        ancient(LAUNCH.carried),
    output:
        "{matrix}/runs/{run}/measured.json",
    log:
        "{matrix}/logs/{run}/carry.log",
    priority: LAUNCH.priority
    conda:
        "../../envs/trysquare.yaml"
    shell:
        "job carry {wildcards.matrix:q} {wildcards.run:q} > {log:q} 2>&1"
