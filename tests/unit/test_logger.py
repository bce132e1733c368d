"""The engine's events, as lines: what a person reads in a log file."""

import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_trysquare import LogHandler
from trysquare.files import write_json


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


def begin(handler, matrix, log=()):
    emit(handler, LogEvent.RUN_INFO, stats={"measure": 2, "total": 2})
    wildcards = {"matrix": str(matrix), "run": "rule_off/0123abcd"}
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
    assert lines[1].endswith("ok  rule / off  6m 52s  15 234 in / 812 out  4 turns  0 retries")


def test_a_failed_job_says_the_last_line_of_its_log_and_where_it_is(handler, tmp_path, capsys):
    log = tmp_path / "measure.log"
    log.write_text("something\n0123abcd: 503 upstream overloaded\n")
    begin(handler, tmp_path, [log])
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert (
        f"failed  measure rule_off/0123abcd: 0123abcd: 503 upstream overloaded  (log: {log})" in capsys.readouterr().err
    )


def test_a_failed_job_without_a_log_says_that(handler, tmp_path, capsys):
    begin(handler, tmp_path, [tmp_path / "none.log"])
    emit(handler, LogEvent.JOB_ERROR, jobid=3)
    assert "no reason given" in capsys.readouterr().err


def test_the_engine_s_warnings_are_passed_on_and_its_chatter_is_not(handler, capsys):
    emit(handler, None, logging.INFO, "Building DAG of jobs...")
    emit(handler, None, logging.WARNING, "careful")
    emit(handler, LogEvent.ERROR, logging.ERROR, "no such rule")
    assert capsys.readouterr().err == "careful\nno such rule\n"
