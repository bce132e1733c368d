# in:  recorded runs whose form metrics are pending; for ingest the forms that people filled
# out: forms/<form>.toml of each matrix; answers as validation/<form>.json of the runs, with the measures derived again
rule form:
    input:
        LAUNCH.form,
    log:
        ".snakemake/trysquare/form.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
    shell:
        "python -m trysquare.jobs.form {params.matrices:q} 2>&1 | tee {log}"


rule ingest:
    input:
        LAUNCH.ingest,
    log:
        ".snakemake/trysquare/ingest.log",
    localrule: True
    conda:
        "../../envs/trysquare.yaml"
    params:
        matrices=LAUNCH.matrices,
    shell:
        "python -m trysquare.jobs.form --ingest {params.matrices:q} 2>&1 | tee {log}"
