"""Pinning repositories that are elsewhere: once, whole, and only when a launch is about to spend."""

import json
import multiprocessing
import shutil
from pathlib import Path
from typing import Any

import pytest
from scenarios import git, place, repository, scenario, small, write

from trysquare import runner
from trysquare.config import Config, load
from trysquare.errors import RepoError, TrysquareError
from trysquare.runner.sources import extension_path


@pytest.fixture
def here(tmp_path: Path) -> Path:
    repository(tmp_path / "repo")
    place(tmp_path)
    machine(tmp_path)
    return tmp_path


def machine(directory: Path, url: str | None = None) -> None:
    url = url or f"file://{directory / 'repo'}"
    lines = f"[repos]\ncounter = '{url}'\n[harness]\nkit = '{directory / 'kit'}'\n[defaults]\nworkdir = 'work'\n"
    (directory / "trysquare.toml").write_text(lines)


def planned(path: Path) -> runner.Plan:
    return runner.resolve_all(runner.Settings.of({"scenario": str(path), "output": str(path.parent / "results")}))[0]


def test_planning_a_url_reaches_for_nothing_and_settling_pins_it(here: Path) -> None:
    path = write(here, small())
    plan = planned(path)
    assert plan.matrix.source.commit == "" and not (here / "work").exists()
    assert "at launch" in "\n".join(runner.header(plan))
    settled = runner.settle(plan)
    checkout = Path(settled.matrix.source.checkout)
    assert settled.matrix.source.commit == git(here / "repo", "rev-parse", "v1^{commit}")
    assert checkout.parent == here / "work/sources" and (checkout / "counter.py").is_file()
    assert checkout.name.startswith("counter-") and checkout.name.endswith("-v1")
    assert planned(path).matrix == settled.matrix


def test_a_tag_that_moves_upstream_does_not_reach_a_pinned_source(here: Path) -> None:
    path = write(here, small())
    before = runner.settle(planned(path)).matrix.source.commit
    git(here / "repo", "commit", "--quiet", "--allow-empty", "--message=more")
    git(here / "repo", "tag", "--force", "v1")
    assert runner.settle(planned(path)).matrix.source.commit == before


def test_another_url_or_etalon_is_pinned_elsewhere(here: Path) -> None:
    config = load(here / "trysquare.toml")
    places = {
        runner.source_dir(config, "counter", url, etalon)
        for url in ("file:///a", "file:///b")
        for etalon in ("v1", "v/2")
    }
    assert len(places) == 4 and {place.parent for place in places} == {here / "work/sources"}


def test_a_url_that_does_not_answer_is_refused_before_any_directory_is_made(here: Path) -> None:
    machine(here, f"file://{here / 'nowhere'}")
    plan = planned(write(here, small()))
    with pytest.raises(RepoError, match="cannot be cloned"):
        runner.settle(plan)
    assert not (here / "results").exists()


def test_a_source_without_the_etalon_is_refused(here: Path) -> None:
    raw = small()
    raw["task"]["etalon"] = "v2"
    with pytest.raises(RepoError, match="not a tag"):
        runner.settle(planned(write(here, raw)))


def test_a_given_file_that_the_etalon_tracks_is_refused_once_the_etalon_is_known(here: Path) -> None:
    raw = scenario()
    raw["harness"]["probe"]["files"] = {"counter.py": "probe.py"}
    plan = planned(write(here, raw))
    with pytest.raises(TrysquareError, match="would replace"):
        runner.settle(plan)


def _pin(directory: Path) -> str:
    return str(runner.prepare_source(load(directory / "trysquare.toml"), "counter", "v1"))


def test_processes_that_pin_at_once_end_up_with_one_clone(here: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = set(pool.map(_pin, [here] * 3))
    assert len(found) == 1
    assert [entry.name for entry in (here / "work/sources").iterdir() if not entry.name.startswith(".")] == [
        Path(found.pop()).name
    ]


def test_a_directory_is_used_where_it_is(here: Path) -> None:
    config = Config({"counter": "repo"}, path=here / "trysquare.toml")
    assert runner.prepare_source(config, "counter", "v1") == here / "repo"


def kit(here: Path, package: dict[str, Any] | None = None) -> dict[str, Any]:
    """A harness repository, and a scenario with a cell that loads it."""
    repository(here / "kit")
    (here / "kit/index.ts").write_text("export default function () {}\n")
    if package is not None:
        (here / "kit/package.json").write_text(json.dumps(package))
    git(here / "kit", "add", ".")
    git(here / "kit", "commit", "--quiet", "--message=kit")
    git(here / "kit", "tag", "--force", "v1")
    return small(
        harness={"kit": {"repo": "kit", "tag": "v1", "load": "index.ts"}},
        variants={"plain": {}, "kit": {"harness": ["kit"]}},
    )


def test_a_pinned_extension_is_cloned_at_its_tag_and_its_dependencies_are_installed_once(here: Path) -> None:
    script = "node -e \"require('fs').appendFileSync('installed', 'x')\""
    raw = kit(here, {"name": "kit", "version": "1.0.0", "scripts": {"postinstall": script}})
    path = write(here, raw)
    for _ in range(2):
        plan = runner.settle(planned(path))
    [extension] = plan.matrix.cells["kit"].extensions
    found = extension_path(Path(plan.matrix.workdir), extension)
    assert found.is_file() and found.name == "index.ts"
    assert (found.parent / "installed").read_text() == "x"


def test_the_fingerprint_of_a_pinned_extension_is_its_tag_and_not_its_address(here: Path) -> None:
    raw = kit(here)
    before = planned(write(here, raw)).matrix.cells["kit"].fingerprint
    (here / "kit").rename(here / "moved")
    (here / "trysquare.toml").write_text((here / "trysquare.toml").read_text().replace("/kit'", "/moved'"))
    assert planned(write(here, raw)).matrix.cells["kit"].fingerprint == before
    raw["harness"]["kit"]["tag"] = "v2"
    assert planned(write(here, raw)).matrix.cells["kit"].fingerprint != before


def test_a_pinned_extension_that_is_not_there_is_refused(here: Path) -> None:
    raw = kit(here)
    raw["harness"]["kit"]["load"] = "other.ts"
    with pytest.raises(TrysquareError, match="holds no other"):
        runner.settle(planned(write(here, raw)))
    raw["harness"]["kit"]["load"] = "README.md"
    (here / "kit/README.md").write_text("A kit.\n")
    git(here / "kit", "add", ".")
    git(here / "kit", "commit", "--quiet", "--message=text")
    git(here / "kit", "tag", "v2")
    raw["harness"]["kit"]["tag"] = "v2"
    with pytest.raises(TrysquareError, match="is nothing the agent loads"):
        runner.settle(planned(write(here, raw)))


def test_dependencies_that_cannot_be_installed_are_refused_and_tried_again(here: Path) -> None:
    raw = kit(here, {"name": "kit", "version": "1.0.0", "scripts": {"postinstall": "exit 3"}})
    plan = planned(write(here, raw))
    for _ in range(2):
        with pytest.raises(RepoError, match="cannot be installed"):
            runner.settle(plan)


def test_a_harness_the_machine_does_not_know_is_refused_only_where_a_cell_loads_it(here: Path) -> None:
    raw = kit(here)
    lines = (here / "trysquare.toml").read_text().replace("kit =", "other =")
    (here / "trysquare.toml").write_text(lines)
    with pytest.raises(TrysquareError, match=r'\[harness\] does not name "kit"'):
        planned(write(here, raw))
    raw["variants"] = {"plain": {}}
    assert planned(write(here, raw)).matrix.cells["plain"].extensions == ()


def test_a_work_directory_that_cannot_be_written_to_is_refused_with_what_to_set(here: Path) -> None:
    lines = (here / "trysquare.toml").read_text()
    (here / "trysquare.toml").write_text(lines.replace("workdir = 'work'", "workdir = 'counter'"))
    (here / "counter").write_text("a file")
    with pytest.raises(RepoError, match=r"counter.* cannot be used \(.*\[defaults\] workdir"):
        runner.settle(planned(write(here, small())))


def test_the_name_of_a_pin_fits_into_a_directory_whatever_the_address(tmp_path: Path) -> None:
    place = runner.harness_dir(tmp_path, f"https://example.org/{'模' * 300}.git", "t" * 100)
    assert len(place.name.encode()) < 200
    assert place != runner.harness_dir(tmp_path, f"https://example.org/{'模' * 301}.git", "t" * 100)


def test_an_unfinished_pin_is_made_again(here: Path) -> None:
    plan = planned(write(here, small()))
    checkout = Path(runner.settle(plan).matrix.source.checkout)
    shutil.rmtree(checkout / ".git")
    assert runner.settle(plan).matrix.source.commit == git(here / "repo", "rev-parse", "v1^{commit}")
