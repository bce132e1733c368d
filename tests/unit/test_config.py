"""The machine file: addresses and load fallbacks, and nothing that decides a measurement."""

from pathlib import Path

import pytest

from trysquare.config import Config, ConfigError, closest, expand, find, is_remote, load, which_file


def machine(directory: Path, text: str) -> Path:
    path = directory / "trysquare.toml"
    path.write_text(text)
    return path


def refusal(directory: Path, text: str) -> str:
    with pytest.raises(ConfigError) as found:
        load(machine(directory, text))
    return str(found.value)


def test_a_machine_says_where_repositories_are_and_what_load_it_bears(tmp_path: Path) -> None:
    text = """
    [repos]
    near = "code/near"
    far = "https://host/far.git"
    [harness]
    kit = "git@host:kit"
    [defaults]
    workdir = "work"
    concurrency = 7
    timeout = 12.5
    attempts = 1
    stream_limit = 3
    [isolation]
    backend = "none"
    """
    found = load(machine(tmp_path, text))
    assert found.repo("near") == tmp_path / "code/near"
    assert (found.remote("near"), found.remote("far")) == (None, "https://host/far.git")
    assert found.place("harness", "kit") == "git@host:kit"
    assert found.workdir == tmp_path / "work"
    assert dict(found.defaults) == {
        "workdir": "work",
        "concurrency": 7,
        "timeout": 12.5,
        "attempts": 1,
        "stream_limit": 3.0,
    }


@pytest.mark.parametrize("key", ["provider", "model", "thinking", "etalon", "repetitions", "draws", "seed"])
@pytest.mark.parametrize("where", ["", "[defaults]\n", "[repos]\n", "[isolation]\n"])
def test_what_decides_a_measurement_is_refused_anywhere_in_it(tmp_path: Path, key: str, where: str) -> None:
    found = refusal(tmp_path, f'{where}{key} = "x"\n')
    assert str(tmp_path / "trysquare.toml") in found and key in found and where.strip() in found
    assert "another machine" in found and "write it in the scenario" in found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[repo]\na = 'b'\n", ("unknown section [repo]", 'did you mean "repos"')),
        ("[defaults]\nconcurency = 3\n", ("[defaults]", 'did you mean "concurrency"')),
        ("[defaults]\nconcurrency = 0\n", ("[defaults] concurrency", "found 0", "1 or more")),
        ("[defaults]\ntimeout = 'x'\n", ("[defaults] timeout", "a number")),
        ("[repos]\na = 3\n", ("[repos] a", "found 3", "text", 'for instance a = "~/src/my-repo"')),
        ("[repos]\na = ''\n", ("[repos] a", "not empty")),
        ("[isolation]\nbackend = 'podman'\n", ("[isolation] backend", '"podman"', "not available yet", '"none"')),
        ("[repos]\na = 'ftp://host/x'\n", ("[repos] a", "https, http, ssh, git or file")),
        ("[repos]\na = 'https://me:secret@host/x'\n", ("[repos] a", "credentials", "credential helper")),
        ("[repos]\na = 'https://token@host/x'\n", ("[repos] a", "credentials")),
        ("[repos]\na = 'https://host/x y'\n", ("[repos] a", "spaces")),
        ("[repos]\na = '$NOT_SET_ANYWHERE/x'\n", ("[repos] a", "$NOT_SET_ANYWHERE", "write the path out")),
        ("[defaults]\nworkdir = '~nobody-at-all/x'\n", ("[defaults] workdir", "write the path out")),
        ("[repos\n", ("line 1", "column")),
        ("[task]\nrepo = 'a'\n", ("is a scenario, not a machine file",)),
    ],
)
def test_a_machine_file_that_cannot_be_used_is_refused_with_its_key(tmp_path: Path, text: str, parts: tuple) -> None:
    found = refusal(tmp_path, text)
    assert str(tmp_path / "trysquare.toml") in found
    assert all(part in found for part in parts), found


@pytest.mark.parametrize("start", ["ssh://me:", "https://", "ftp://me:", "me:", "git://:"])
def test_a_refusal_about_credentials_does_not_repeat_them(tmp_path: Path, start: str) -> None:
    found = refusal(tmp_path, f"[repos]\na = '{start}secret@host/x'\n")
    assert "credentials" in found and "secret" not in found


def test_every_problem_is_shown_at_once(tmp_path: Path) -> None:
    text = "model = 'x'\n[repo]\n[defaults]\nseed = 1\nworkdr = 'a'\n[isolation]\nbackend = 'vm'\n"
    assert len(refusal(tmp_path, text).splitlines()) == 5


def test_it_is_found_beside_the_scenario_then_in_config_then_further_up(tmp_path: Path) -> None:
    scenario = tmp_path / "a" / "b" / "rule.toml"
    scenario.parent.mkdir(parents=True)
    (tmp_path / "config").mkdir()
    assert find(scenario) is None or not find(scenario).is_relative_to(tmp_path)
    for directory in (tmp_path / "config", tmp_path, tmp_path / "a" / "b"):
        expected = machine(directory, "")
        assert find(scenario) == expected


def test_without_a_file_the_refusal_shows_the_two_lines_to_write() -> None:
    with pytest.raises(ConfigError) as found:
        Config().repo("my-repo")
    assert '[repos]\nmy-repo = "/path/to/my-repo"' in str(found.value)


def test_a_name_the_machine_does_not_know_is_refused_with_the_nearest(tmp_path: Path) -> None:
    config = load(machine(tmp_path, "[repos]\ncounter = 'x'\n"))
    with pytest.raises(ConfigError) as found:
        config.repo("countr")
    assert 'did you mean "counter"' in str(found.value) and str(config.path) in str(found.value)


def test_a_url_has_no_directory_before_it_is_pinned(tmp_path: Path) -> None:
    config = load(machine(tmp_path, "[repos]\nfar = 'file:///x'\n"))
    with pytest.raises(ConfigError, match="before it is pinned"):
        config.repo("far")


@pytest.mark.parametrize(
    ("value", "remote"),
    [
        ("https://h/x", True),
        ("http://h/x", True),
        ("ssh://git@h/x", True),
        ("git://h/x", True),
        ("file:///x", True),
        ("git@host:path/x.git", True),
        ("ssh://git@host:22/x", True),
        ("/a/b", False),
        ("../x", False),
        ("~/x", False),
        ("a:b", False),
        ("$HOME/x@y", False),
    ],
)
def test_urls_are_told_from_directories(value: str, remote: bool) -> None:
    assert is_remote(value) is remote


def test_a_url_is_taken_verbatim_and_a_path_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLACE", "/somewhere")
    monkeypatch.setenv("HOME", "/home/me")
    config = load(machine(tmp_path, "[repos]\nu = 'https://h/$PLACE//x'\np = '$PLACE/x'\nh = '~/x'\nr = 'x'\n"))
    assert config.remote("u") == "https://h/$PLACE//x"
    assert [config.repo(name) for name in "phr"] == [Path("/somewhere/x"), Path("/home/me/x"), tmp_path / "x"]
    assert expand("x") == Path("x")


def test_the_two_files_are_told_apart_and_a_mixture_is_left_to_its_own_refusals() -> None:
    assert which_file({"repos": {}}) == "config"
    assert which_file({"harness": {}, "task": {}}) == "scenario"
    assert which_file({"harness": {}}) is None
    assert which_file({"repos": {}, "task": {}}) is None


def test_a_near_miss_is_suggested_and_a_far_one_is_not() -> None:
    assert closest("ruel", ["rule", "plain"]) == ' (did you mean "rule"?)'
    assert closest("banana", ["rule", "plain"]) == ""


def test_the_default_work_directory_is_the_cache_of_the_user() -> None:
    assert Config().workdir.name == "trysquare" and Config().workdir.is_absolute()
