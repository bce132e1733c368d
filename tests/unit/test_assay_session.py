import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trysquare.assay import Assay, CannotJudge, ToolCall
from trysquare.assay.shell import leaves_sources_alone

CAPTURES = Path(__file__).parent.parent / "fixtures" / "pi"
HEADER = {"type": "session", "timestamp": "2026-11-30T16:44:54.941Z", "cwd": "/experiment/repo"}


def message(**fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": fields}


def asked(*blocks: Mapping[str, Any], stop: str = "toolUse") -> dict[str, Any]:
    return message(role="assistant", content=list(blocks), stopReason=stop)


def call(key: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": key, "name": tool, "arguments": arguments}


def result(key: str, tool: str, failed: bool = False) -> dict[str, Any]:
    return message(role="toolResult", toolCallId=key, toolName=tool, isError=failed)


def session(directory: Path, *entries: Mapping[str, Any], name: str = "a.jsonl", start: str | None = None) -> Assay:
    header = {**HEADER, "timestamp": start or HEADER["timestamp"]}
    directory.mkdir(exist_ok=True)
    (directory / name).write_text("".join(json.dumps(entry) + "\n" for entry in (header, *entries)))
    return Assay({"session": str(directory)})


def captured(name: str, directory: Path) -> Assay:
    (directory / "session.jsonl").write_bytes((CAPTURES / name / "session.jsonl").read_bytes())
    return Assay({"session": str(directory)})


def test_the_calls_of_a_real_session_come_in_order_with_their_outcome(tmp_path: Path) -> None:
    calls = captured("ok", tmp_path).tool_calls()
    assert [(each.name, each.failed) for each in calls] == [("edit", False), ("bash", False)]
    assert calls[0].arguments["path"] == "counter.py"
    assert captured("ok", tmp_path).first_write("counter.py") == 0


def test_a_call_in_a_message_that_broke_off_was_never_made(tmp_path: Path) -> None:
    assert [each.name for each in captured("cut", tmp_path).tool_calls()] == ["edit"]


def test_calls_that_reuse_an_identifier_keep_their_own_outcome(tmp_path: Path) -> None:
    run = session(
        tmp_path,
        asked(call("call_0", "edit", path="a")),
        result("call_0", "edit", failed=True),
        asked(call("call_0", "edit", path="a")),
        result("call_0", "edit"),
    )
    assert [each.failed for each in run.tool_calls()] == [True, False]
    assert run.first_write("a") == 1


def test_of_several_attempts_the_one_that_started_last_was_measured(tmp_path: Path) -> None:
    session(
        tmp_path, asked(call("1", "write", path="late")), result("1", "write"), name="a.jsonl", start="2026-11-30T17"
    )
    run = session(
        tmp_path, asked(call("1", "write", path="early")), result("1", "write"), name="b.jsonl", start="2026-11-30T16"
    )
    assert run.first_write("late") == 0
    assert run.first_write("early") is None


@pytest.mark.parametrize("content", [None, ""])
def test_a_run_without_a_session_is_refused_and_not_read_as_an_agent_that_did_nothing(
    tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "a.jsonl").write_text(content)
    with pytest.raises(CannotJudge, match="holds no session"):
        Assay({"session": str(tmp_path)}).tool_calls()


def test_a_last_line_torn_by_a_kill_is_left_out(tmp_path: Path) -> None:
    run = session(tmp_path, asked(call("1", "write", path="a")), result("1", "write"))
    with (tmp_path / "a.jsonl").open("a") as handle:
        handle.write('{"type": "message", "mess')
    assert len(run.tool_calls()) == 1


def test_a_damaged_line_in_the_middle_is_refused_by_number(tmp_path: Path) -> None:
    run = session(tmp_path)
    with (tmp_path / "a.jsonl").open("a") as handle:
        handle.write("{torn\n{}\n")
    with pytest.raises(CannotJudge, match=r"line 2 of .* is damaged"):
        run.tool_calls()


def test_calls_can_be_collected_in_a_set() -> None:
    calls = [ToolCall("read", {"path": "a"}, False), ToolCall("read", {"path": "b"}, False)]
    assert {*calls, *calls} == set(calls) and len(set(calls)) == 2


@pytest.mark.parametrize(
    "written",
    [
        "src/a.py",
        "./src/a.py",
        "/experiment/repo/src/a.py",
        "@src/a.py",
        "src/../src/a.py",
        "/experiment/repo/./src/a.py",
    ],
)
def test_a_write_is_recognised_however_its_path_is_spelt(written: str) -> None:
    assert ToolCall("write", {"path": written}, False, "/experiment/repo").wrote("src/a.py")


@pytest.mark.parametrize("written", ["src/a.pyc", "a.py", "/elsewhere/src/a.py", "../src/a.py", "~/src/a.py"])
def test_a_write_elsewhere_is_not_a_write_here(written: str) -> None:
    assert not ToolCall("write", {"path": written}, False, "/experiment/repo").wrote("src/a.py")


@pytest.mark.parametrize("tool", ["edit", "write", "a_tool_that_does_not_exist"])
def test_a_failed_call_never_counts(tool: str) -> None:
    assert not ToolCall(tool, {"path": "a"}, True).wrote("a")


@pytest.mark.parametrize("tool", ["read", "grep", "find", "ls"])
def test_a_reading_tool_writes_nothing(tool: str) -> None:
    assert not ToolCall(tool, {"path": "a"}, False).wrote("a")


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (ToolCall("apply_patch", {"path": "a"}, False), "a tool this version does not know"),
        (ToolCall("subagent", {"task": "fix it"}, False), "may have written a"),
        (ToolCall("subagent", {"task": "fix it"}, True), "may have written a"),
        (ToolCall("bash", {"command": "sed -i s/x/y/ a"}, False), "`sed -i s/x/y/ a` may have written a"),
        (ToolCall("bash", {"command": "sed -i s/x/y/ a && false"}, True), "may have written a"),
        (ToolCall("bash", {"command": "python3 fix.py"}, None), "may have written a"),
        (ToolCall("write", {"path": "a"}, None), "has no result"),
        (ToolCall("edit", {"edits": []}, False), "names no path"),
        (ToolCall("write", {"path": "/experiment/repo/a"}, False), "does not say where the tree was"),
    ],
)
def test_a_call_that_may_have_written_is_refused_and_not_answered_no(made: ToolCall, why: str) -> None:
    with pytest.raises(CannotJudge, match=why):
        made.wrote("a")


def test_a_call_that_may_have_written_before_the_first_sure_write_hides_which_was_first(tmp_path: Path) -> None:
    run = session(
        tmp_path,
        asked(call("1", "bash", command="python3 generate.py")),
        result("1", "bash"),
        asked(call("2", "write", path="a")),
        result("2", "write"),
    )
    with pytest.raises(CannotJudge, match=r"generate\.py"):
        run.first_write("a")


def test_what_comes_after_the_first_write_cannot_hide_it(tmp_path: Path) -> None:
    run = session(
        tmp_path,
        asked(call("1", "write", path="a"), call("2", "bash", command="make all")),
        result("1", "write"),
        result("2", "bash"),
    )
    assert run.first_write("a") == 0


def test_running_the_declared_suite_is_no_write(tmp_path: Path) -> None:
    run = session(
        tmp_path, asked(call("1", "bash", command="cd /x && ./check --fast 2>&1 | tail -3")), result("1", "bash")
    )
    with pytest.raises(CannotJudge):
        run.first_write("a")
    assert Assay({"session": str(tmp_path), "test_command": "./check --fast"}).first_write("a") is None


READING = """
ls -la src
cat a.py && sed -n '1,40p' b.py
cd /experiment/repo; python3 -m unittest discover -s tests -t . 2>&1 | tail -5
grep -rn "def bump(n):" . | sort | uniq -c | head -3
git diff --stat HEAD~1 2>/dev/null
FOO=1 timeout 60 pytest -q -k 'a or b' >/dev/null
node --test 'src/**/*.test.js'
cargo test --quiet
# only a note
""".strip().splitlines()

WRITING = """
cat > a.py
echo x >> a.py
echo x>a.py
sed -i s/a/b/ a.py
sed -n '1w a.py' b.py
cat b.py | tee a.py
git checkout -- a.py
find . -name '*.py' -delete
find . -exec rm {} +
sort -o a.py a.py
go test -o a.py ./...
python3 -c 'open("a.py", "w")'
pytest --snapshot-update
ls && rm a.py
ls & rm a.py
echo `rm a.py`
echo $(rm a.py)
cat <(rm a.py)
make
npm test
"unbalanced
ls 2> a.py
ls &> a.py
""".strip().splitlines()


@pytest.mark.parametrize("command", READING)
def test_a_command_that_plainly_reads_leaves_the_sources_alone(command: str) -> None:
    assert leaves_sources_alone(command)


@pytest.mark.parametrize("command", WRITING)
def test_a_command_that_may_write_is_never_taken_for_a_reading_one(command: str) -> None:
    assert not leaves_sources_alone(command)


@settings(deadline=None)
@given(st.sampled_from(READING), st.sampled_from(WRITING), st.sampled_from([" && ", "; ", "\n", " | ", " || ", "\n\n"]))
def test_a_writing_command_shows_wherever_it_is_in_a_longer_one(reads: str, writes: str, joint: str) -> None:
    before = reads if "\n" in joint or not reads.startswith("#") else "true"
    assert not leaves_sources_alone(before + joint + writes)
    assert not leaves_sources_alone(writes + joint + before)


SKILL = '<skill name="{0}" location="/s/{0}/SKILL.md">\nReferences are relative to /s/{0}.\n\nBody of {0}.\n</skill>'


def prompted(directory: Path, text: str) -> Assay:
    return session(
        directory,
        message(role="system", content=SKILL.format("offered")),
        message(role="user", content=[{"type": "text", "text": text}]),
        message(role="user", content=SKILL.format("later")),
    )


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        (SKILL.format("tdd"), ("tdd",)),
        (SKILL.format("tdd") + "\n\nFix it.", ("tdd",)),
        (SKILL.format("tdd") + "\n\n" + SKILL.format("style") + "\n\nFix it.", ("tdd", "style")),
        ("Fix it.", ()),
        ("What is " + SKILL.format("tdd") + "?", ()),
    ],
)
def test_the_skills_that_came_with_the_prompt_are_named_in_order(
    tmp_path: Path, prompt: str, names: tuple[str, ...]
) -> None:
    assert prompted(tmp_path, prompt).skills_expanded == names


def test_a_session_without_a_prompt_does_not_say_which_skills_it_carried(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="no user message"):
        _ = session(tmp_path).skills_expanded
