from snakemake.utils import min_version, validate

min_version("9.17")


configfile: f"{workflow.basedir}/config/config.yaml"


validate(config, f"{workflow.basedir}/workflow/schemas/config.schema.yaml")


include: "workflow/rules/common.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/render.smk"


rule run:
    default_target: True
    input:
        LAUNCH.run,


rule score:
    input:
        LAUNCH.score,
    params:
        matrices=LAUNCH.matrices,
    localrule: True
    shell:
        "exec python -m trysquare.jobs.collect {params.matrices:q}"


rule collect:
    input:
        LAUNCH.collect,
    params:
        matrices=LAUNCH.matrices,
    localrule: True
    shell:
        "exec python -m trysquare.jobs.collect {params.matrices:q}"


rule render:
    input:
        LAUNCH.render,
    params:
        matrices=LAUNCH.matrices,
    localrule: True
    shell:
        "exec python -m trysquare.jobs.render {params.matrices:q}"


rule status:
    input:
        LAUNCH.status,


onstart:
    LAUNCH.start()


onsuccess:
    LAUNCH.finish()


onerror:
    LAUNCH.finish()
