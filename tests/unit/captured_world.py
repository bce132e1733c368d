"""The world of one etalon of which runs are captured, and one run in it."""

import pytest
from repo_world import World

START = {
    "app.py": "print(1)\n",
    "tests/test_app.py": "assert True\n",
    "data.bin": bytes(range(256)),
    "crlf.txt": b"one\r\ntwo\r\n",
    "docs/a.md": "# a\n",
    ".gitignore": "*.log\nbuild/\n__pycache__/\n",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    made.commit({"old.txt": "before\n"})
    (made.source / "link").symlink_to("app.py")
    made.commit(START)
    (made.source / "old.txt").unlink()
    made.commit(tag="v1")
    return made


@pytest.fixture
def run(world):
    return world.prepare()
