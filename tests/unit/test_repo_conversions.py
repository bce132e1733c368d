"""What git itself makes of files, conversions and submodules, survives a run and making its tree again."""

from repo_world import World, agree, run_git, walk

from trysquare import repo


def test_conversions_of_the_repository_stay_those_of_git(tmp_path):
    world = World(tmp_path)
    world.commit({".gitattributes": "*.txt text eol=crlf\n*.u16 working-tree-encoding=UTF-16\n"})
    world.commit({"a.txt": b"one\r\ntwo\r\n", "b.txt": b"x\r\n", "w.u16": "wide\n".encode("utf-16")})
    run = world.prepare()
    assert (run.path / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    (run.path / "a.txt").write_bytes(b"one\r\nthree\r\n")
    (run.path / "w.u16").write_bytes("wider\n".encode("utf-16"))
    change = repo.capture(run)
    assert change.touched == ("a.txt", "w.u16")
    assert b"\r" not in change.patch
    agree(world, run, change)
    (run.path / ".gitattributes").write_text("*.txt text eol=lf\n")
    (run.path / "c.txt").write_bytes(b"mixed\r\nends\n")
    change = repo.capture(run)
    assert change.touched == (".gitattributes", "a.txt", "c.txt", "w.u16")
    agree(world, run, change)


def test_submodules_survive_a_round_trip(tmp_path):
    library = World(tmp_path / "library")
    library.commit({"lib.py": "1\n", ".gitignore": "*.log\n"})
    first = run_git(library.source, "rev-parse", "HEAD")
    world = World(tmp_path / "world")
    names = ("kept", "dropped", "moved", "edited", "filled", "forked")
    declared = "".join(f'[submodule "{name}"]\n\tpath = {name}\n\turl = {library.source}\n' for name in names)
    world.commit({"app.py": "1\n", ".gitmodules": declared})
    for name in names:
        run_git(world.source, "update-index", "--add", "--cacheinfo", f"160000,{first},{name}")
    run_git(world.source, "commit", "-q", "-m", "submodules")
    second = library.commit({"lib.py": "2\n"})
    update = "git -c protocol.file.allow=always submodule update -q --init"
    setup = world.script(f"{update} kept moved edited forked")
    run = world.prepare(setup=setup)
    assert run.base_tree == run_git(world.source, "rev-parse", "HEAD^{tree}")
    assert repo.capture(run).touched == repo.capture(run).ignored == ()
    (run.path / "kept/x.log").write_text("x")
    (run.path / "dropped").rmdir()
    run_git(run.path / "moved", "fetch", "-q", "origin", GIT_ALLOW_PROTOCOL="file")
    run_git(run.path / "moved", "checkout", "-q", second)
    for key in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process"):
        run_git(run.path / "edited", "config", key, f"touch {tmp_path}/hacked")
    (run.path / ".git/modules/edited/info/attributes").write_text("* filter=evil\n")
    (run.path / "edited/lib.py").write_text("3\n")
    (run.path / "filled/own.py").write_text("4\n")
    (run.path / "forked/lib.py").write_text("5\n")
    run_git(run.path / "forked", "commit", "-qam", "local")
    change = repo.capture(run)
    content = [f"{name}/{file}" for name in ("edited", "forked") for file in (".gitignore", "lib.py")]
    assert change.touched == tuple(
        sorted(["dropped", "edited", "filled", "filled/own.py", "forked", "moved", *content])
    )
    assert change.ignored == ("edited/.git", "forked/.git", "kept/x.log")
    assert not (tmp_path / "hacked").exists()
    assert f"-Subproject commit {first}\n+Subproject commit {second}\n".encode() in change.patch
    bare = repo.Base(run.base.commit)
    rebuilt = world.rebuild(run, change, base=bare)
    made = walk(rebuilt)
    assert (made["edited/lib.py"][1], made["forked/lib.py"][1], made["filled/own.py"][1]) == (b"3\n", b"5\n", b"4\n")
    assert (rebuilt / "moved").is_dir()
    again = walk(world.rebuild(run, change))
    assert again["edited/lib.py"][1] == b"3\n"
