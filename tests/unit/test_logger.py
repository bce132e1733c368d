"""The engine's events, as lines: what a person reads in a log file."""

import logging
import signal
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_trysquare import LogHandler
from tests.matrices import matrix
from trysquare import interrupt
from trysquare.files import append_line, write_json


@pytest.fixture
def handler():
    made = LogHandler(SimpleNamespace(), None)
    yield made
    made.close()


def emit(handler, event, level=logging.INFO, message="", **fields):
    record = logging.LogRecord("snakemake", level, __file__, 1, message, (), None)
    record.event = event
    record.__dict__.update(fields)
    handler.emit(record)


def begin(handler, directory, log=(), run="rule_off/0123abcd"):
    emit(handler, LogEvent.RUN_INFO, stats={"measure": 2, "total": 2})
    wildcards = {"matrix": str(directory), "run": run}
    emit(handler, LogEvent.JOB_INFO, jobid=3, rule_name="measure", wildcards=wildcards, log=list(log))
    emit(handler, LogEvent.JOB_STARTED, jobs=[3])


def test_a_finished_run_is_one_line(handler, tmp_path, capsys):
    usage = {"input": 15234, "output": 812, "turns": 4, "retries": 0}
    write_json(tmp_path / "runs/rule_off/0123abcd/run.json", {"cell": "rule / off", "usage": usage, "duration": 412.4})
    begin(handler, tmp_path)
    emit(handler, LogEvent.JOB_FINISHED, job_id=3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "jobs: measure 2"
    assert lines[1].startswith("[1/2 eta ")
    assert lines[1].endswith("ok  rule / off  412s  15 234 in / 812 out  4 turns  0 retries")


def test_a_run_of_an_earlier_launch_is_kept_and_uses_nothing(handler, tmp_path, capsys):
    usage = {"input": 15234, "output": 812, "turns": 4, "retries": 0, "cost": 1.0}
    record = {"cell": "rule / off", "usage": usage, "duration": 412.4, "launch": {"id": "1"}, "timed_out": False}
    write_json(tmp_path / "runs/rule_off/0123abcd/run.json", record)
    for number in (1, 2):
        append_line(tmp_path / "launches.jsonl", {"kind": "launch", "id": str(number)})
    begin(handler, tmp_path)
    emit(handler, LogEvent.JOB_FINISHED, job_id=3)
    [line] = capsys.readouterr().err.splitlines()[1:]
    assert line.endswith("kept  rule / off  0123abcd  measured by an earlier launch") and " ok " not in line
    append_line(tmp_path / "launches.jsonl", {"kind": "launch", "id": "1"})
    emit(handler, LogEvent.JOB_FINISHED, job_id=3)
    assert " ok  rule / off " in capsys.readouterr().err


def test_a_failed_job_says_the_last_line_of_its_log_and_where_it_is(handler, tmp_path, capsys):
    log = tmp_path / "measure.log"
    log.write_text("something\n0123abcd: 503 upstream overloaded\n")
    begin(handler, tmp_path, [log])
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert f"failed  rule_off  0123abcd  measure: 503 upstream overloaded  (log: {log})" in capsys.readouterr().err


def test_a_line_names_the_cell_as_the_scenario_does_whether_its_run_failed_or_not(handler, tmp_path, capsys):
    matrix().save(tmp_path / "plan.json")
    log = tmp_path / "measure.log"
    log.write_text("020001: no tokens consumed\n")
    begin(handler, tmp_path, [log], "rule_off/020001")
    emit(handler, LogEvent.JOB_FINISHED, job_id=3)
    assert "ok  rule / off  020001  (its record cannot be read here yet" in capsys.readouterr().err
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert "failed  rule / off  020001  measure: no tokens consumed  (log: " in capsys.readouterr().err
    log.write_text("not started: the provider refused the last 2 runs (503); launch again later.\n")
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert "held back  the runs of rule / off and others are not started" in capsys.readouterr().err


def test_a_failed_job_of_no_run_names_its_matrix(handler, tmp_path, capsys):
    emit(handler, LogEvent.RUN_INFO, stats={"collect_matrix": 1, "total": 1})
    wildcards = {"matrix": "results/demo_n2"}
    emit(handler, LogEvent.JOB_INFO, jobid=7, rule_name="collect_matrix", wildcards=wildcards, log=[])
    emit(handler, LogEvent.JOB_ERROR, jobid=7)
    assert "failed  results/demo_n2  collect_matrix: no reason given  (log: none)" in capsys.readouterr().err


def test_a_failed_job_of_a_cluster_says_its_number_once_and_no_hint_that_is_always_there(handler, tmp_path, capsys):
    begin(handler, tmp_path)
    hint = "For further error details see the cluster/cloud log and the log files of the involved rule(s)."
    said = "SLURM-job '9' failed, SLURM status is: 'FAILED'."
    unknown = " Detailed failure reason unavailable (status command is not 'sacct')."
    emit(handler, LogEvent.JOB_ERROR, jobid=3, rule_msg=said + unknown + hint, aux={"external_jobid": "9"})
    assert capsys.readouterr().err.endswith(f"failed  rule_off  0123abcd  measure: {said}\n")
    emit(handler, LogEvent.JOB_ERROR, jobid=3, rule_msg=hint, aux={"external_jobid": "9"})
    assert capsys.readouterr().err.endswith("failed  rule_off  0123abcd  measure: job 9 of the cluster\n")


def test_one_reason_for_which_scoring_fails_in_many_runs_is_said_once_and_the_runs_are_counted(
    handler, tmp_path, capsys
):
    emit(handler, LogEvent.RUN_INFO, stats={"score_run": 7, "total": 7})
    for number, reason in enumerate(["no in_scope", "other", *["no in_scope"] * 5], 1):
        log = tmp_path / f"{number}.log"
        log.write_text(f"0123abc{number}: script: {reason}\n")
        wildcards = {"matrix": str(tmp_path), "run": f"rule_off/0123abc{number}"}
        emit(handler, LogEvent.JOB_INFO, jobid=number, rule_name="score_run", wildcards=wildcards, log=[log])
        emit(handler, LogEvent.JOB_STARTED, jobs=[number])
        emit(handler, LogEvent.JOB_ERROR, jobid=number)
        emit(handler, LogEvent.ERROR, logging.ERROR, "CalledProcessError in file")
    emit(handler, LogEvent.ERROR, logging.ERROR, "Exiting because a job execution failed.")
    emit(handler, None, logging.ERROR, "WorkflowError:\nAt least one job did not complete successfully.")
    handler.close()
    assert capsys.readouterr().err.splitlines()[1:] == [
        f"[1/7] failed  rule_off  0123abc1  score_run: script: no in_scope  (log: {tmp_path}/1.log)",
        f"[2/7] failed  rule_off  0123abc2  score_run: script: other  (log: {tmp_path}/2.log)",
        "failed  score_run of 5 more runs, like 0123abc1: 0123abc3, 0123abc4, 0123abc5 and 2 more",
    ]


def test_a_failed_job_without_a_log_says_that(handler, tmp_path, capsys):
    begin(handler, tmp_path, [tmp_path / "none.log"])
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert "no reason given" in capsys.readouterr().err


def test_a_job_that_never_began_says_what_its_executor_says(handler, tmp_path, capsys):
    log = tmp_path / "measure.log"
    begin(handler, tmp_path, [log])
    refusal = (
        "SLURM sbatch failed. The error message was 'sbatch: error: invalid\npartition: long'.\n    sbatch call:\n  x"
    )
    emit(handler, LogEvent.JOB_ERROR, jobid=3, rule_msg=refusal)
    said = "SLURM sbatch failed. The error message was 'sbatch: error: invalid partition: long'."
    assert capsys.readouterr().err.endswith(f"failed  rule_off  0123abcd  measure: {said}\n")

    log.write_text("interrupted\n")
    emit(handler, LogEvent.JOB_ERROR, jobid=3, rule_msg="SLURM-job '9' failed, SLURM status is: 'CANCELLED'.")
    said = f"interrupted  (log: {log}); SLURM-job '9' failed, SLURM status is: 'CANCELLED'."
    assert capsys.readouterr().err.endswith(f"failed  rule_off  0123abcd  measure: {said}\n")


def test_the_engine_s_warnings_are_passed_on_and_its_chatter_is_not(handler, capsys):
    emit(handler, None, logging.INFO, "Building DAG of jobs...")
    emit(handler, None, logging.WARNING, "careful")
    emit(handler, LogEvent.ERROR, logging.ERROR, "no such rule")
    assert capsys.readouterr().err == "careful\nno such rule\n"


def test_runs_that_were_held_back_are_said_in_one_line(handler, tmp_path, capsys):
    log = tmp_path / "measure.log"
    log.write_text("not started: the provider refused the last 2 runs (503); launch again later.\n")
    begin(handler, tmp_path, [log])
    for jobid in (3, 4, 5):
        wildcards = {"matrix": str(tmp_path), "run": f"rule_off/0123abc{jobid}"}
        emit(handler, LogEvent.JOB_INFO, jobid=jobid, rule_name="measure", wildcards=wildcards, log=[log])
        emit(handler, LogEvent.JOB_ERROR, jobid=jobid)
    said = capsys.readouterr().err
    assert said.count("not started") == 1
    assert "failed" not in said


def test_a_record_that_another_machine_has_not_shown_yet_is_still_a_finished_run(handler, tmp_path, capsys):
    begin(handler, tmp_path)
    emit(handler, LogEvent.JOB_FINISHED, job_id=3)
    said = capsys.readouterr().err
    assert "ok  rule_off  0123abcd  (its record cannot be read here yet" in said
    assert "Traceback" not in said


def test_no_estimate_is_given_before_the_first_run_has_landed(handler, tmp_path, capsys):
    begin(handler, tmp_path)
    assert not any("eta" in segment.text for segment in handler._segments())
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert not any("eta" in segment.text for segment in handler._segments())
    assert "eta" not in capsys.readouterr().err


def test_the_bar_counts_every_stage_what_runs_and_what_was_spent(handler, tmp_path, capsys):
    usage = {"input": 15234, "output": 812, "turns": 4, "retries": 0, "cost": 0.125}
    write_json(tmp_path / "runs/rule_off/0123abcd/run.json", {"cell": "rule / off", "usage": usage, "duration": 412.4})
    emit(handler, LogEvent.RUN_INFO, stats={"measure": 2, "score_run": 2, "total": 4})
    emit(handler, LogEvent.JOB_STARTED, jobs=[3, 4])  # the engine says what a job is after it says that it started
    for jobid, run in ((3, "rule_off/0123abcd"), (4, "rule_off/0123abce")):
        wildcards = {"matrix": str(tmp_path), "run": run}
        emit(handler, LogEvent.JOB_INFO, jobid=jobid, rule_name="measure", wildcards=wildcards, log=[])
    emit(handler, LogEvent.JOB_FINISHED, job_id=3)
    texts = [segment.text for segment in handler._segments()]
    assert texts[:2] == ["measured 1/2  scored 0/2", "1 in flight"]
    assert texts[3:5] == ["15 234 in / 812 out", "cost 0.125"]
    assert texts[5].startswith("eta ")


def test_a_failed_job_is_not_said_again_as_the_command_it_was(handler, capsys):
    said = (
        "RuleException:\nCalledProcessError in file \"x.smk\", line 3:\nCommand '...' returned non-zero exit status 1."
    )
    emit(handler, LogEvent.ERROR, logging.ERROR, said)
    assert capsys.readouterr().err == ""


def test_a_job_that_a_stop_ends_is_no_failure(handler, tmp_path, capsys):
    begin(handler, tmp_path, [tmp_path / "none.log"])
    interrupt.stop(signal.SIGTERM)
    try:
        emit(handler, LogEvent.JOB_ERROR, jobid=3)
    finally:
        interrupt.reset()
    assert "failed" not in capsys.readouterr().err
    assert not any("failed" in segment.text for segment in handler._segments())
