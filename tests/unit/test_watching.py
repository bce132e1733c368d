"""Signs of life, and the page that shows them: counts only, read only, on the loopback address alone."""

import http.client
import json
import os
import threading
import time
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.matrices import matrix
from trysquare.errors import TrysquareError
from trysquare.files import append_line, write_json
from trysquare.layout import Layout
from trysquare.watching import Heart, beats
from trysquare.watching.server import Server

MESSAGE = {
    "type": "message_end",
    "message": {"role": "assistant", "content": [], "usage": {"input": 900, "output": 40, "cacheRead": 60}},
}


@pytest.fixture
def layout(tmp_path):
    """A planned matrix of which nothing is measured yet."""
    made = Layout(tmp_path / "scenario_v1_p_m_n4")
    matrix(rehearsed=True).save(made.plan)
    return made


def first(layout):
    from trysquare.matrix import Matrix

    return next(iter(Matrix.load(layout.plan).runs.values()))


@contextmanager
def served(layout):
    with Server(layout.root) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def ask(port, address, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, address, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), answer.headers
    finally:
        connection.close()


def test_a_run_under_way_says_what_it_has_done_so_far(layout):
    with Heart(layout, first(layout)) as heart:
        heart(MESSAGE)
        heart({"type": "tool_execution_start", "toolName": "bash", "args": {"command": "echo secret"}})
        [(beat, age)] = list(beats(layout))
        assert (beat.turns, beat.tokens_in, beat.tokens_out, beat.tool) == (1, 960, 40, "bash")
        assert age < 60
        assert "secret" not in layout.heartbeat(beat.id).read_text()
    assert list(beats(layout)) == []


def test_signs_of_life_that_cannot_be_written_harm_nothing_and_are_said_once(layout, capsys):
    layout.live.write_text("a file where a directory should be")
    with Heart(layout, first(layout)) as heart:
        heart(MESSAGE)
        heart(MESSAGE)
    assert capsys.readouterr().out.count("the run goes on") == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(["type", "toolName", "message"]),
        st.sampled_from(["tool_execution_start", "message_end"]) | json_values,
    )
)
def test_no_event_harms_a_run(tmp_path_factory, event):
    layout = Layout(tmp_path_factory.getbasetemp() / "events_n1")
    run = next(iter(matrix().runs.values()))
    with Heart(layout, run) as heart:
        heart(event)
        assert len(list(beats(layout))) == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"id": 3}', '{"id": "x", "cell": [], "repetition": 1, "started": 0}']
)
def test_a_sign_of_life_that_is_none_is_passed_over(layout, text):
    layout.live.mkdir()
    (layout.live / "x.json").write_text(text)
    assert list(beats(layout)) == []


def test_the_page_counts_cells_and_shows_who_is_alive(layout):
    run = first(layout)
    append_line(layout.attempts(list(_ids(layout))[1]), {"attempt": 1, "detail": "503"})
    with served(layout) as port, Heart(layout, run) as heart:
        heart({"type": "tool_execution_start", "toolName": "<b>edit</b>"})
        status, text, headers = ask(port, "/")
    assert status == 200
    assert "&lt;b&gt;edit&lt;/b&gt;" in text and "<b>edit" not in text
    assert "REHEARSED" in text and "Counts only" in text
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"


def _ids(layout):
    from trysquare.matrix import Matrix

    return Matrix.load(layout.plan).runs


def test_a_run_that_was_not_heard_of_for_half_a_minute_is_silent(layout):
    with served(layout) as port, Heart(layout, first(layout)) as heart:
        heart(MESSAGE)
        assert "silent" not in ask(port, "/")[1].partition("</style>")[2]
        past = time.time() - 31
        os.utime(layout.heartbeat(first(layout).id), (past, past))
        assert "silent for 31s" in ask(port, "/")[1]


def test_an_address_is_never_a_path(layout):
    (layout.root / "secret.txt").write_text("secret")
    addresses = [
        "/secret.txt",
        "/plan.json",
        "/../plan.json",
        "/%2e%2e/plan.json",
        "//plan.json",
        "/now",
        f"/{layout.root}",
    ]
    with served(layout) as port:
        for address in addresses:
            status, text, _ = ask(port, address)
            assert (status, text) == (404, "There is no such page.\n")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_a_page_of_another_site_cannot_read_it_under_its_own_name(layout, host):
    with served(layout) as port:
        status, text, _ = ask(port, "/", Host=host.format(port=port))
        assert (status, "Counts" in text) == (421, False)
        assert ask(port, "/", Host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_it_only_reads(layout, method):
    with served(layout) as port:
        assert ask(port, "/", method)[0] == 501


def test_watching_writes_nothing(layout):
    before = sorted((path, path.stat().st_mtime_ns) for path in layout.root.rglob("*"))
    with served(layout) as port:
        ask(port, "/")
        ask(port, "/", "HEAD")
    assert sorted((path, path.stat().st_mtime_ns) for path in layout.root.rglob("*")) == before


def test_it_listens_on_the_loopback_address_alone(layout):
    with Server(layout.root) as server:
        assert server.server_address[0] == "127.0.0.1"
        assert server.url == f"http://127.0.0.1:{server.server_address[1]}/"


def test_a_directory_of_several_matrices_lists_them(layout):
    other = Layout(layout.root.with_name("other_v1_p_m_n4"))
    matrix().save(other.plan)
    with Server(layout.root.parent) as server:
        index = server.pages.at("/")
        assert index.count("<li>") == 2
        keys = list(server.pages._watchers)
        assert len(keys) == 2 and all("Cells" in server.pages.at(f"/{key}/now") for key in keys)


def test_a_directory_without_a_matrix_is_refused(tmp_path):
    with pytest.raises(TrysquareError, match="holds no matrix"):
        Server(tmp_path)


def test_a_plan_that_was_damaged_is_said_on_the_page(layout):
    with served(layout) as port:
        assert ask(port, "/")[0] == 200
        write_json(layout.plan, json.loads('{"format": 0}'))
        os.utime(layout.plan, (1, 1))
        status, text, _ = ask(port, "/")
    assert status == 503 and "was not written by this version" in text
