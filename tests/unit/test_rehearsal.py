import http.client
import json
import signal
import socket
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from trysquare.files import read_lines
from trysquare.rehearsal import Provider, Script

ROOT = Path(__file__).parents[2]
PLAY = """
[[play]]
name = "fix"
[[play.turn]]
text = "Look here."
call = [
    { tool = "write", arguments = { path = "ä.txt", content = "x\\n" } },
    { tool = "bash", arguments = { command = "ls" } },
]
usage = { input = 1000, output = 61, cached = 43 }
[[play.turn]]
text = "Done."
usage = { input = 200, output = 20 }
"""


@pytest.fixture
def serve(tmp_path):
    """A running provider for a script, with its log at `requests.jsonl`."""
    running = []

    def start(script, cell="cell", repetition=0, run="r1"):
        provider = Provider(Script.parse(script), cell, repetition, tmp_path / "requests.jsonl", run)
        running.append(provider.__enter__())
        return provider

    yield start
    for provider in running:
        provider.__exit__(None, None, None)


def conversation(answers=0):
    answered = [{"role": "assistant", "content": "."}, {"role": "tool", "content": "."}] * answers
    return [{"role": "system", "content": "."}, {"role": "user", "content": "Fix it."}, *answered]


def ask(provider, messages, session="s1", path="/v1/chat/completions"):
    """Status, chunks and whether the stream was closed properly."""
    connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=30)
    body = json.dumps({"model": "m", "stream": True, "messages": messages}, ensure_ascii=False).encode()
    headers = {"Authorization": "Bearer sk-secret", "x-session-affinity": session, "Content-Type": "application/json"}
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    lines = response.read().split(b"\n\n")
    connection.close()
    if response.status != 200:
        return response.status, json.loads(lines[0]), None
    events = [line.removeprefix(b"data: ") for line in lines if line]
    ended = events[-1:] == [b"[DONE]"]
    return 200, [json.loads(event) for event in (events[:-1] if ended else events)], ended


def finish(chunks):
    return [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice["finish_reason"]]


def test_a_turn_is_streamed_with_its_text_its_calls_and_its_usage(serve):
    provider = serve(PLAY)
    status, chunks, ended = ask(provider, conversation())
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    calls = [call for delta in deltas for call in delta.get("tool_calls", [])]
    assert (status, ended, finish(chunks)) == (200, True, ["tool_calls"])
    assert deltas[0] == {"role": "assistant", "content": "Look here."}
    assert [(call["index"], call["function"]["name"]) for call in calls] == [(0, "write"), (1, "bash")]
    assert json.loads(calls[0]["function"]["arguments"]) == {"path": "ä.txt", "content": "x\n"}
    assert len({call["id"] for call in calls}) == 2
    assert chunks[-1]["usage"] == {
        "prompt_tokens": 1043,
        "completion_tokens": 61,
        "total_tokens": 1104,
        "prompt_tokens_details": {"cached_tokens": 43},
    }


@pytest.mark.parametrize("answers, text", [(0, "Look here."), (1, "Done."), (2, "Done."), (7, "Done.")])
def test_the_conversation_says_which_turn_is_due(serve, answers, text):
    _, chunks, ended = ask(serve(PLAY), conversation(answers))
    assert ended and chunks[0]["choices"][0]["delta"]["content"] == text


def test_every_request_is_counted_in_one_line_without_its_keys(serve, tmp_path):
    provider = serve("[[fault]]\nanswer = 429\nrequest = 2\ntimes = 1\n" + PLAY, "rule / high", 3)
    for answers in (0, 1, 1):
        ask(provider, conversation(answers))
    lines = read_lines(tmp_path / "requests.jsonl")
    assert [set(line) for line in lines] == [{"at", "run", "cell", "repetition", "request", "status"}] * 3
    assert [(line["request"], line["status"]) for line in lines] == [(1, 200), (2, 429), (3, 200)]
    assert {(line["run"], line["cell"], line["repetition"]) for line in lines} == {("r1", "rule / high", 3)}


def test_a_script_may_ask_for_the_bodies_and_still_no_key_is_written(serve, tmp_path):
    provider = serve("record = true\n" + PLAY)
    said = "line\u2028separator, half a \ud83d pair"
    connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=30)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": said}]})
    connection.request("POST", "/v1/chat/completions", body, {"Authorization": "Bearer sk-secret"})
    assert connection.getresponse().status == 200
    connection.close()
    [line] = read_lines(tmp_path / "requests.jsonl")
    assert line["body"] == json.loads(body)
    assert b"secret" not in (tmp_path / "requests.jsonl").read_bytes()


def test_requests_at_the_same_time_are_counted_once_each(serve, tmp_path):
    provider = serve(PLAY)
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda n: ask(provider, conversation(n % 2)), range(64)))
    assert all(status == 200 and ended for status, _, ended in answers)
    assert sorted(line["request"] for line in read_lines(tmp_path / "requests.jsonl")) == list(range(1, 65))


def test_providers_of_several_runs_share_a_log_and_nothing_else(serve, tmp_path):
    first, second = serve(PLAY, "a", run="r1"), serve(PLAY, "b", run="r2")
    assert first.port != second.port
    for provider in (first, second, first):
        ask(provider, conversation())
    lines = [(line["run"], line["cell"], line["request"]) for line in read_lines(tmp_path / "requests.jsonl")]
    assert lines == [("r1", "a", 1), ("r2", "b", 1), ("r1", "a", 2)]


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503, 529])
def test_a_status_of_the_script_is_answered_with_an_error_body(serve, status):
    provider = serve(f"[[fault]]\nanswer = {status}\n" + PLAY)
    for _ in range(3):
        answered, body, _ = ask(provider, conversation())
        assert answered == status and body["error"]["message"] == "scripted failure"


def test_a_fault_of_the_first_launch_spares_the_second(serve):
    provider = serve("[[fault]]\nanswer = 503\nattempt = 1\n" + PLAY)
    launches = ["s1", "s1", "s2", "s1", "s2"]
    assert [ask(provider, conversation(), launch)[0] for launch in launches] == [503, 503, 200, 503, 200]


def test_requests_are_numbered_within_their_launch(serve):
    provider = serve("[[fault]]\nanswer = 503\nrequest = 2\ntimes = 1\n" + PLAY)
    launches = ["s1", "s1", "s1", "s2", "s2", "s2"]
    assert [ask(provider, conversation(), launch)[0] for launch in launches] == [200, 503, 200, 200, 503, 200]


def test_a_fault_that_heals_spares_the_jobs_after_it_and_no_other_run(serve):
    script = "[[fault]]\nanswer = 503\nheals_after = 2\n" + PLAY
    jobs = ["r1", "r1", "r2", "r1", "r2", "r2"]
    answered = []
    for run in jobs:
        provider = serve(script, run=run)
        answered.append([ask(provider, conversation())[0] for _ in range(2)])
    assert [first for first, _ in answered] == [503, 503, 503, 200, 503, 200]
    assert all(first == second for first, second in answered)


def test_a_cut_turn_stops_in_the_middle(serve):
    provider = serve('[[fault]]\nanswer = "cut"\nrequest = 1\ntimes = 1\n' + PLAY)
    status, chunks, ended = ask(provider, conversation())
    assert (status, ended, finish(chunks)) == (200, False, [])
    assert "Look here.".startswith(chunks[0]["choices"][0]["delta"]["content"])
    assert ask(provider, conversation())[2]


def test_an_endless_answer_goes_on_until_the_agent_hangs_up(serve):
    provider = serve('[[fault]]\nanswer = "endless"\n' + PLAY)
    connection = http.client.HTTPConnection("127.0.0.1", provider.port, timeout=30)
    connection.request("POST", "/v1/chat/completions", json.dumps({"messages": []}))
    response = connection.getresponse()
    events = [response.readline() for _ in range(40)]
    connection.close()
    assert all(json.loads(event[6:])["choices"][0]["finish_reason"] is None for event in events[::2])
    assert ask(serve(PLAY), conversation())[2]


def test_silence_is_a_request_that_is_counted_and_never_answered(serve, tmp_path):
    provider = serve('[[fault]]\nanswer = "silence"\nattempt = 1\n' + PLAY)
    body = json.dumps({"messages": conversation()}).encode()
    with socket.create_connection(("127.0.0.1", provider.port)) as connection:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(30)
        assert connection.recv(1) == b""
    assert [line["status"] for line in read_lines(tmp_path / "requests.jsonl")] == [None]
    assert ask(provider, conversation())[2]


def test_a_huge_conversation_is_answered_like_any_other(serve):
    messages = [*conversation(1), {"role": "user", "content": "ü" * 10_000_000}]
    _, chunks, ended = ask(serve(PLAY), messages)
    assert ended and chunks[0]["choices"][0]["delta"]["content"] == "Done."


def test_what_is_no_chat_request_is_refused(serve, tmp_path):
    provider = serve(PLAY)
    assert ask(provider, [], path="/v1/models")[0] == 404
    assert not (tmp_path / "requests.jsonl").exists()
    status, body, _ = ask(provider, None)
    assert status == 400 and "no `messages`" in body["error"]["message"]


def test_a_client_that_leaves_early_disturbs_nothing(serve, capfd):
    provider = serve(PLAY)
    for sent in (b"", b"POST /v1/chat/completions HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"):
        with socket.create_connection(("127.0.0.1", provider.port)) as connection:
            connection.sendall(sent)
    assert ask(provider, conversation())[2]
    assert capfd.readouterr().err == ""


def test_a_closed_provider_serves_no_more(tmp_path):
    with Provider(Script.parse(PLAY), "cell", 0, tmp_path / "log", "r1") as provider:
        port = provider.port
        assert ask(provider, conversation())[2]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_a_killed_job_leaves_its_log_and_nothing_else(tmp_path):
    code = (
        "import sys, pathlib\nfrom trysquare.rehearsal import Provider, Script\n"
        "with Provider(Script.default(), 'cell', 0, pathlib.Path('log'), 'r1') as provider:\n"
        "    print(provider.port, flush=True)\n    sys.stdin.read()\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        port = int(child.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 15\r\n\r\n" + b'{"messages":[]}')
            assert connection.recv(4).startswith(b"HTTP")
        child.send_signal(signal.SIGKILL)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    assert Counter(line["status"] for line in read_lines(tmp_path / "log")) == {200: 1}
