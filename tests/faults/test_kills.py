"""Processes killed without warning, at random instants: 25, and 200 nightly."""

import os
import random
import shutil
import subprocess
import time
from contextlib import suppress

import psutil
import pytest

from tests.faults.conftest import Ledger
from tests.workflow.conftest import below, launched

pytestmark = pytest.mark.workflow

KILLS = 200 if os.environ.get("TRYSQUARE_NIGHTLY") == "1" else 25
SEED = int(os.environ.get("TRYSQUARE_SEED", "20261130"))
SECONDS_TO_END = 10


def words(process):
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def victims(engine, what):
    """The processes of one kind that run now: the engine, a client, the fork server or a job of it, or an agent."""
    if what == "main":
        return [engine] if engine.poll() is None else []
    mark = {"client": "trysquare.jobs.", "job": "trysquare.forkserver.server", "agent": "pi-coding-agent"}[what]
    return [process for process in below(engine) if mark in words(process)]


def strike(engine, what, dice):
    """Kill one victim if there is any; returns how many were killed."""
    found = victims(engine, what)
    if not found:
        return 0
    try:
        dice.choice(found).kill()
    except psutil.Error:
        return 0
    return 1


def wait(engine, seconds):
    with suppress(subprocess.TimeoutExpired):
        engine.wait(seconds)


def test_no_kill_at_any_instant_loses_or_repeats_a_run(bench):
    bench.edit("scenario.toml", "repetitions = 2", "repetitions = 4")
    bench.edit("rehearsal.toml", 'text = "Fixed."', 'text = "Fixed."\npause = 200')
    many = type(bench)(bench.root, repetitions=4)
    dice, ledger = random.Random(SEED), Ledger(many)
    kills, longest = dict.fromkeys(("main", "client", "job", "agent"), 0), 4.0
    while sum(kills.values()) < KILLS:
        what = min(kills, key=lambda each: (kills[each], dice.random()))
        started = time.monotonic()
        with launched(many, "run") as engine:
            wait(engine, dice.uniform(0, longest))
            processes = below(engine)
            kills[what] += strike(engine, what, dice)
            while what != "main" and engine.poll() is None:
                wait(engine, dice.uniform(0, 1))
                kills[what] += strike(engine, what, dice)
            processes += below(engine)
            engine.stdout.read()
            engine.wait()
            _, alive = psutil.wait_procs(processes, timeout=SECONDS_TO_END)
        assert alive == [], what
        if what != "main":
            longest = max(4.0, time.monotonic() - started)
        if not (many.root / "results").exists() or not list(many.root.glob("results/*/*/requests.jsonl")):
            continue
        ledger.check()
        if len(many.records) == 8:
            for run in dice.sample(many.records, 6):
                shutil.rmtree(run.parent)
            ledger = Ledger(many)

    ledger.complete()
    assert not [path for path in (many.root.parent / "work" / "trees").iterdir() if path.is_dir()]
