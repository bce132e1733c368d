import pytest

from trysquare import archive
from trysquare.errors import ArchiveError
from trysquare.files import read_json, write_json
from trysquare.layout import Layout, RunLayout


def staged(tmp_path, value=1):
    stage = tmp_path / ".incoming" / "0123abcd-x"
    write_json(RunLayout(stage).record, {"value": value})
    return stage


def test_a_commit_moves_the_run_and_its_pointer_together(tmp_path):
    run = Layout(tmp_path).run("cell/0123abcd")
    archive.commit(staged(tmp_path), run)
    assert read_json(run.record) == {"value": 1}
    assert read_json(run.pointer) == {"run": archive.record_digest(run)}


def test_a_commit_fills_the_empty_directory_the_engine_made(tmp_path):
    run = Layout(tmp_path).run("cell/0123abcd")
    run.root.mkdir(parents=True)
    archive.commit(staged(tmp_path), run)
    assert run.record.exists()


def test_a_commit_never_replaces_files_and_keeps_what_was_measured(tmp_path):
    run = Layout(tmp_path).run("cell/0123abcd")
    run.root.mkdir(parents=True)
    (run.root / "note.txt").write_text("mine")
    stage = staged(tmp_path)
    with pytest.raises(ArchiveError, match=r"holds files but no run\.json .* is kept in"):
        archive.commit(stage, run)
    assert (stage / "run.json").exists()
    assert (run.root / "note.txt").read_text() == "mine"


def test_a_record_that_differs_from_its_pointer_is_reported(tmp_path):
    run = Layout(tmp_path).run("cell/0123abcd")
    archive.commit(staged(tmp_path), run)
    assert not archive.pointer_differs(run)
    write_json(run.record, {"value": 2})
    assert archive.pointer_differs(run)
    with pytest.raises(ArchiveError, match=r"is not the record its measured\.json was written for"):
        archive.emit_pointer(run)


def test_a_record_that_is_gone_or_broken_says_what_measuring_it_again_means(tmp_path):
    run = Layout(tmp_path).run("cell/0123abcd")
    archive.commit(staged(tmp_path), run)
    run.record.write_text('{"value": ')
    again = f"restore it from a copy, or delete {run.root} to have exactly this run measured, and paid for, again"
    with pytest.raises(ArchiveError, match=f"is not readable JSON .*: {again}"):
        archive.read_record(run)
    run.record.unlink()
    assert archive.damage(run) == ["run.json is missing"]
    for refuse in (archive.emit_pointer, archive.refuse_lost):
        with pytest.raises(ArchiveError, match=f"run.json is missing, although measured.json says .*: {again}"):
            refuse(run)
    run.pointer.unlink()
    archive.refuse_lost(run)
    run.root.joinpath("diff.patch").touch()
    with pytest.raises(ArchiveError, match="measured, and paid for, again"):
        archive.refuse_occupied(run)


def test_collected_files_match_their_patterns_and_stay_within_the_limit(tmp_path, monkeypatch):
    tree = tmp_path / "tree"
    for name, size in {"a.json": 10, "deep/b.json": 10, "c.txt": 10, ".git/d.json": 10, "z.json": 100}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(b"x" * size)
    (tree / "link.json").symlink_to("a.json")
    monkeypatch.setattr(archive, "COLLECTED_LIMIT", 50)

    collected = archive.collect_files(tree, ("*.json",), tmp_path / "collected")

    assert collected == archive.Collected(kept=("a.json", "deep/b.json"), dropped=("z.json",))
    assert sorted(
        p.relative_to(tmp_path / "collected").as_posix() for p in (tmp_path / "collected").rglob("*.json")
    ) == ["a.json", "deep/b.json"]
