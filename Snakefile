from snakemake.utils import min_version

min_version("9.17")


configfile: f"{workflow.current_basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/measure.smk"
include: "workflow/rules/carry.smk"
include: "workflow/rules/score.smk"
include: "workflow/rules/judge.smk"
include: "workflow/rules/collect.smk"
include: "workflow/rules/render.smk"
include: "workflow/rules/pages.smk"
include: "workflow/rules/discard.smk"
include: "workflow/rules/form.smk"
include: "workflow/rules/smoke.smk"


rule run:
    default_target: True
    input:
        LAUNCH.run,


rule status:
    input:
        LAUNCH.status,


onstart:
    LAUNCH.start()


onsuccess:
    LAUNCH.finish()


onerror:
    LAUNCH.finish()
