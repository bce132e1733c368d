# in:  a measured run, and a frozen judge named by the digest of its round
# out: validation/<judge>/judgements/<round>/, committed by one rename, and its pointer; bought by the target run alone
rule judge_run:
    input:
        ancient("{matrix}/runs/{run}/measured.json"),
    output:
        "{matrix}/runs/{run}/validation/.{validator}.{digest}",
    log:
        "{matrix}/logs/{run}/judge.{validator}.{digest}.log",
    wildcard_constraints:
        digest=r"judge[0-9a-f]{19}(-[0-9a-f]{8})?",
    priority: 10**6
    conda:
        "../../envs/trysquare.yaml"
    threads: 0
    resources:
        agent_slots=1,
    params:
        spend=LAUNCH.spend,
    shell:
        "job judge {wildcards.matrix:q} {wildcards.run:q} {wildcards.validator} {wildcards.digest}"
        " {params.spend} > {log:q} 2>&1"
