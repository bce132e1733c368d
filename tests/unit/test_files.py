import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trysquare.errors import ArchiveError
from trysquare.files import append_line, digest, dumps, read_json, read_lines, write_bytes, write_json, write_pieces

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(values)
def test_a_value_written_and_read_is_itself(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("json") / "value.json"
    write_json(path, value)
    assert read_json(path) == json.loads(json.dumps(value))


@given(st.dictionaries(st.text(), st.integers()))
def test_a_digest_does_not_depend_on_the_order_of_keys(data):
    assert digest(data) == digest(dict(reversed(data.items())))


def test_writing_the_same_content_again_touches_nothing(tmp_path):
    path = tmp_path / "deep" / "file"
    assert write_bytes(path, b"one") is True
    before = path.stat()
    assert write_bytes(path, b"one") is False
    assert path.stat().st_ino == before.st_ino
    assert write_bytes(path, b"two") is True
    assert list(path.parent.iterdir()) == [path]


def test_a_value_that_is_not_json_leaves_the_old_file(tmp_path):
    path = tmp_path / "value.json"
    write_json(path, 1)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, float("nan"))
    assert read_json(path) == 1


def test_text_keeps_its_letters_and_ends_with_a_newline():
    assert dumps({"a": "é"}) == '{\n  "a": "é"\n}\n'


def test_an_unreadable_file_is_named_with_what_to_do(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    with pytest.raises(ArchiveError, match=r"broken\.json is not readable JSON .* restore it"):
        read_json(path)


def test_a_torn_last_line_is_skipped_and_the_others_are_kept(tmp_path):
    path = tmp_path / "lines.jsonl"
    append_line(path, {"a": 1})
    with path.open("a") as handle:
        handle.write('{"b": ')
    assert read_lines(path) == [{"a": 1}]
    assert read_lines(tmp_path / "none") == []


def test_concurrent_writers_never_interleave(tmp_path):
    path = tmp_path / "lines.jsonl"
    code = (
        "import sys; from trysquare.files import append_line\n"
        "for i in range(200): append_line(sys.argv[1], {'who': sys.argv[2], 'i': i})"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), str(k)]) for k in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    lines = read_lines(path)
    assert len(lines) == 800
    for k in range(4):
        assert [line["i"] for line in lines if line["who"] == str(k)] == list(range(200))


def test_a_name_that_is_not_utf8_comes_back_unchanged_from_a_file_that_is(tmp_path):
    name = b"caf\xe9.txt".decode("utf-8", "surrogateescape")
    write_json(tmp_path / "names.json", [name])
    (tmp_path / "names.json").read_text(encoding="utf-8")
    assert read_json(tmp_path / "names.json") == [name]
    append_line(tmp_path / "names.jsonl", name)
    assert read_lines(tmp_path / "names.jsonl") == [name]
    assert len(digest([name])) == 24


def test_a_text_in_pieces_is_written_whole_and_keeps_its_date_when_it_says_the_same(tmp_path):
    path = tmp_path / "page.html"
    write_pieces(path, ["a", "\ud800", "é"])
    assert path.read_bytes() == b"a\\ud800" + "é".encode()
    os.utime(path, (1, 1))
    write_pieces(path, ["a\ud800", "é"])
    assert path.stat().st_mtime == 1
    write_pieces(path, ["b"])
    assert (path.read_text(), path.stat().st_mtime != 1, list(tmp_path.iterdir())) == ("b", True, [path])


def test_a_pipe_is_written_into_and_not_waited_for():
    reading, writing = os.pipe()
    assert write_bytes(f"/dev/fd/{writing}", b"rows\n")
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"rows\n"
