"""Every refusal of the scenario language names the file, the key, what was found and what to write."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scenarios import dumps, place, scenario, small, write

from trysquare.scenario import ScenarioError, load


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = place(tmp_path_factory.mktemp("experiment"))
    (directory / "blank.md").write_text(" \n")
    (directory / "latin.md").write_bytes(b"caf\xe9")
    (directory / "plain.sh").write_text("#!/bin/sh\n")
    return directory


def refusal(here: Path, raw: Any) -> str:
    with pytest.raises(ScenarioError) as found:
        load(write(here, raw))
    return str(found.value)


def line(text: str, *parts: str) -> str:
    """The one line of a refusal that holds every part."""
    found = [row for row in text.splitlines() if all(part in row for part in parts)]
    assert found, f"no line holds {parts} in:\n{text}"
    assert len(found) == 1, found
    return found[0]


Change = Callable[[dict[str, Any]], Any]


def case(name: str, change: Change, *parts: str, base: Callable[..., dict[str, Any]] = scenario) -> Any:
    return pytest.param(base, change, parts, id=name)


def _set(*path: Any) -> Change:
    """Set the value at the end of a path of keys."""
    *keys, last, value = path

    def change(raw: dict[str, Any]) -> None:
        for key in keys:
            raw = raw[key]
        raw[last] = value

    return change


def _drop(*path: Any) -> Change:
    *keys, last = path

    def change(raw: dict[str, Any]) -> None:
        for key in keys:
            raw = raw[key]
        del raw[last]

    return change


CASES = [
    case("no task", _drop("task"), "[task]", "missing", "repo, etalon and prompt"),
    case("no agent", _drop("agent"), "[agent]", "missing", "provider, model and thinking"),
    case("no protocol", _drop("protocol"), "[protocol]", "missing", "repetitions"),
    case("no validation", _drop("validation"), "[[validation]]", "missing", "mode and metrics"),
    case("no verdict", _drop("verdict"), "[verdict]", "missing", "criterion and reference"),
    case("unknown section", _set("protocl", {}), "unknown section [protocl]", 'did you mean "protocol"'),
    case("unknown key", _set("task", "etalom", "v1"), "[task]", '"etalom"', 'did you mean "etalon"'),
    case("a far miss stays silent", _set("task", "banana", "v1"), "[task]", '"banana";', "the keys here are"),
    case("hypothesis", _set("scenario", "hypothesis", "none.md"), "[scenario] hypothesis", '"none.md"', "correct it"),
    case("name", _set("scenario", "name", "-x"), "[scenario] name", '"-x"', "begin with a letter"),
    case("long name", _set("scenario", "name", "x" * 200), "[scenario] name", "bytes together", "shorten"),
    case("a path as repo", _set("task", "repo", "a/b"), "[task] repo", '"a/b"', "under [repos] of trysquare.toml"),
    case("a home as repo", _set("task", "repo", "~x"), "[task] repo", '"~x"', "under [repos] of trysquare.toml"),
    case("no repo", _drop("task", "repo"), "[task] repo", "missing", 'repo = "my-repo"'),
    case("no etalon", _drop("task", "etalon"), "[task] etalon", "missing", 'etalon = "v1.0"'),
    case("a range as etalon", _set("task", "etalon", "a..b"), "[task] etalon", '"a..b"', "write a tag"),
    case("an option as etalon", _set("task", "etalon", "-f"), "[task] etalon", '"-f"', "write a tag"),
    case("upper case", _set("task", "etalon", "A" * 40), "[task] etalon", '"AAA', "lower case"),
    case("no prompt", _drop("task", "prompt"), "[task] prompt", "missing", 'prompt = "prompts/task.md"'),
    case("lost prompt", _set("task", "prompt", "a/b.md"), "[task] prompt", '"a/b.md"', "is a path", "correct it"),
    case(
        "lost context", _set("variants", "x", {"context": "a/b.md"}), "[variants.x] context", '"a/b.md"', "correct it"
    ),
    case("lost system", _set("variants", "x", {"system": "b.txt"}), "[variants.x] system", '"b.txt"', "correct it"),
    case("lost cell setup", _set("variants", "x", {"setup": "no.sh"}), "[variants.x] setup", '"no.sh"', "correct it"),
    case("a directory", _set("task", "prompt", "./prompts"), "[task] prompt", '"./prompts"', "name a file"),
    case("a device", _set("task", "prompt", "/dev/zero"), "[task] prompt", '"/dev/zero"', "name a file"),
    case("blank file", _set("task", "prompt", "blank.md"), "[task] prompt", '"blank.md"', "write the text"),
    case("blank text", _set("task", "prompt", " "), "[task] prompt", "is blank", "write the text"),
    case("other encoding", _set("task", "prompt", "latin.md"), "[task] prompt", '"latin.md"', "convert it"),
    case("NUL", _set("task", "prompt", "a\0b"), "[task] prompt", "NUL", "remove it"),
    case("too long", _set("task", "prompt", "word " * 50_000), "[task] prompt", "250000 bytes", "files brick"),
    case("a prompt that is a mode", _set("task", "prompt", "@repository"), "[task] prompt", '"@repository"', "write"),
    case("empty command", _set("task", "test_command", " "), "[task] test_command", "empty", "write the program"),
    case("a shell's command", _set("task", "test_command", "a && b"), "[task] test_command", "`&&`", "script"),
    case("open quotes", _set("task", "test_command", "a 'b"), "[task] test_command", "a 'b", "balance its quotes"),
    case("a shell's preparation", _set("task", "prepare", ["a | b"]), "[task] prepare", "`|`", "script"),
    case("no suite", _drop("task", "test_command"), "[task] test_command", '"tests"', "test_command = "),
    case("artefacts", _set("task", "artefacts", ["../x"]), "[task] artefacts", '"../x"', "without `./` or `..`"),
    case("artefacts here", _set("task", "artefacts", ["./x"]), "[task] artefacts", '"./x"', "without `./` or `..`"),
    case("artefacts root", _set("task", "artefacts", ["/x"]), "[task] artefacts", '"/x"', "without `./` or `..`"),
    case("collect", _set("task", "collect", ["/x"]), "[task] collect", '"/x"', "relative to the tree"),
    case("no setup", _set("task", "setup", "no.sh"), "[task] setup", '"no.sh"', "correct it"),
    case("setup bit", _set("task", "setup", "plain.sh"), "[task] setup", '"plain.sh"', "chmod +x"),
    case("history", _set("task", "history", "no"), "[task] history", '"no"', "true or false"),
    case("no provider", _drop("agent", "provider"), "[agent] provider", "missing", "write provider = "),
    case("no model", _drop("agent", "model"), "[agent] model", "missing", "write model = "),
    case("no thinking", _drop("agent", "thinking"), "[agent] thinking", "missing", "write thinking = "),
    case("thinking", _set("agent", "thinking", "hgh"), "[agent] thinking", '"hgh"', 'did you mean "high"', '"xhigh"'),
    case("provider", _set("agent", "provider", "-p"), "[agent] provider", '"-p"', "without a leading dash"),
    case("kind", _set("agent", "kind", "other"), "[agent] kind", '"other"', 'one of "pi"'),
    case("image", _set("agent", "image", "img"), "[agent] image", '"img"', "not available yet", "remove the key"),
    case("no repetitions", _drop("protocol", "repetitions"), "[protocol] repetitions", "missing", "repetitions = 10"),
    case("none", _set("protocol", "repetitions", 0), "[protocol] repetitions", "found 0", "1 or more", "= 10"),
    case("a word", _set("protocol", "repetitions", "3"), "[protocol] repetitions", 'found "3"', "whole number"),
    case("a truth", _set("protocol", "repetitions", True), "[protocol] repetitions", "found true", "whole number"),
    case("a million", _set("protocol", "repetitions", 90_000), "[protocol] repetitions", "540000 runs", "split"),
    case("timeout", _set("protocol", "timeout", -1), "[protocol] timeout", "found -1", "more than 0"),
    case("concurrency", _set("protocol", "concurrency", 0), "[protocol] concurrency", "found 0", "1 or more"),
    case("attempts", _set("protocol", "attempts", 0), "[protocol] attempts", "found 0", "1 or more"),
    case("cost", _set("protocol", "max_cost", "1"), "[protocol] max_cost", 'found "1"', "a number"),
    case("endless", _set("protocol", "max_cost", float("inf")), "[protocol] max_cost", "Infinity", "a finite number"),
    # the grid
    case(
        "a misspelt value",
        _set("axes", "context", ["nothing", "rul"]),
        "[axes] context",
        '"rul"',
        "measure the baseline a second time",
        'did you mean "rule"',
    ),
    case("a preset as baseline", _set("axes", "context", ["terse"]), "[axes] context", '"terse"', "list a baseline"),
    case("an empty axis", _set("axes", "context", []), "[axes] context", "has no value", "list its values"),
    case("twice", _set("axes", "thinking", ["off", "high", "high"]), "[axes] thinking", '"high" twice', "list it once"),
    case("a joint", _set("axes", "thinking", ["off", "a / b"]), "[axes] thinking", '"a / b": cell names', "without"),
    case("numbers", _set("axes", "thinking", [1, 2]), "[axes] thinking[0]", "found 1", "text"),
    case("one value", _set("axes", "thinking", "off"), "[axes] thinking", 'found "off"', "a list"),
    case("unused block", _set("values", "context", "rul", {}), "[values.context.rul]", "nothing uses", '"rule"'),
    case("unused axis", _set("values", "contxt", {"a": {}}), "[values.contxt]", 'did you mean "context"'),
    case("many cells", _set("axes", {c: list("abcdefgh") for c in "tuvwxyz"}), "[axes]", "2097152 cells", "fewer"),
    case("exclude axis", _set("axes", "exclude", [{"mood": "x"}]), "[axes] exclude[0]", '"mood"', '"context"'),
    case("exclude value", _set("axes", "exclude", [{"context": "rul"}]), "[axes] exclude[0]", 'mean "rule"'),
    case("exclude all", _set("axes", "exclude", [{}]), "[axes] exclude[0]", "every cell", "name at least one"),
    case(
        "nothing left",
        _set("axes", "exclude", [{"context": "nothing"}, {"context": "rule"}]),
        "[axes] exclude:",
        "leaves no cell",
        "exclude fewer",
    ),
    case("include preset", _set("axes", "include", [["ters"]]), "[axes] include[0]", '"ters"', 'mean "terse"'),
    case("include nothing", _set("axes", "include", [{}]), "[axes] include[0]", "names no preset", "write a list"),
    case("include word", _set("axes", "include", ["terse"]), "[axes] include[0]", 'found "terse"', "a list"),
    case(
        "include without a name",
        _set("axes", "include", [{"prompt": "Go."}]),
        "[axes] include[0]",
        "has no name",
        'name = "..."',
    ),
    case("a cell twice", _set("axes", "include", [["terse"], ["terse"]]), '"+terse"', "declared twice", "rename"),
    case("a variant again", _set("variants", "rule / high", {}), '"rule / high"', "declared twice", "rename"),
    case(
        "two axes, one key",
        _set("values", "context", "rule", "thinking", "low"),
        "[axes]",
        "both set thinking",
        '"rule / high"',
        "one axis only",
    ),
    case("preset in preset", _set("presets", "terse", "use", ["high"]), "[presets.terse]", '"use"', "the keys here"),
    case("prose in preset", _set("presets", "terse", "description", "x"), "[presets.terse]", '"description"', "keys"),
    case("use", _set("variants", "probed", "use", ["ters"]), "[variants.probed]", '"ters"', 'did you mean "terse"'),
    case(
        "presets that disagree",
        _set("variants", "x", {"use": ["high", "low"]}),
        "[variants.x]",
        'set thinking to different values ("high" says "high" and "low" says "low")',
        "in the cell itself",
        base=lambda: scenario(presets={"high": {"thinking": "high"}, "low": {"thinking": "low"}, "terse": {}}),
    ),
    case(
        "block and preset",
        _set("values", "context", {"rule": {}}),
        "[values.context.rule]",
        "a preset is called",
        'use = ["rule"]',
        base=lambda: scenario(presets={"rule": {}, "high": {"thinking": "high"}, "terse": {"system": "Be."}}),
    ),
    case("skills in a cell", _set("variants", "x", {"skills": ["a"]}), "[variants.x]", "bricks", "[harness.<name>]"),
    case("no cell", _drop("variants"), "there is no cell", "[variants.<name>]", base=small),
    # names
    case("up", _set("variants", "..", {}), '".."', "a leading dot", "rename the cell"),
    case("dash", _set("variants", "-x", {}), '"-x"', "a leading dot or dash", "rename the cell"),
    case("control", _set("variants", "a\nb", {}), '"a\\nb"', "control characters", "rename the cell"),
    case("too long to be a directory", _set("variants", "é" * 101, {}), "more than 200 bytes", "rename the cell"),
    case("braces", _set("variants", "a {b}", {}), '"a {b}"', "braces or a <word>", "rename the cell"),
    case("a path variable", _set("variants", "<b>x", {}), '"<b>x"', "braces or a <word>", "rename the cell"),
    case("a word over two values", _set("axes", {"a": ["<x"], "b": ["y>"]}), '"<x / y>"', "rename the cell"),
    case("name in braces", _set("scenario", "name", "a{b}"), "[scenario] name", '"a{b}"', "write it without them"),
    case("model in angles", _set("agent", "model", "a<b>"), "[agent] model", '"a<b>"', "write it without them"),
    case("long repo", _set("task", "repo", "x" * 101), "[task] repo", "101 bytes", "at most 100"),
    case("long etalon", _set("task", "etalon", "x" * 101), "[task] etalon", "101 bytes", "at most 100"),
    case("no name", _set("variants", "", {}), '""', "nothing in it", "rename the cell"),
    case("one directory", _set("variants", {"a b": {}, "a-b": {}}), '"a b" and "a-b"', '"a-b"', "rename one"),
    # bricks
    case("unknown brick", _set("variants", "x", {"harness": ["skil"]}), "[variants.x] harness", '"skil"', '"skills"'),
    case("a brick outside", _set("harness", "../x", {"load": "hook.ts"}), '[harness."../x"]', "leading dot"),
    case("a brick without a name", _set("harness", "", {"load": "hook.ts"}), '[harness.""]', "becomes a directory"),
    case("a long brick", _set("harness", "x" * 101, {"load": "hook.ts"}), "[harness.xxx", "101 bytes", "at most 100"),
    case("brick kind", _set("harness", "crew", "kind", "crew"), "[harness.crew] kind", '"crew"', '"agents"'),
    case("kind alone", _set("harness", "x", {"kind": "agents"}), "[harness.x]", "needs paths", "write paths"),
    case("empty brick", _set("harness", "x", {}), "[harness.x]", "is empty", "write repo, tag and load"),
    case("lost path", _set("harness", "x", {"paths": ["none"]}), "[harness.x] paths", '"none"', "correct it"),
    case("lost extension", _set("harness", "hook", "load", "no.ts"), "[harness.hook] load", '"no.ts"', "correct it"),
    case("no tag", _set("harness", "x", {"repo": "kit", "load": "a"}), "[harness.x]", "also needs tag", "write tag"),
    case("no load", _set("harness", "x", {"repo": "kit", "tag": "a"}), "[harness.x]", "also needs load", "write load"),
    case(
        "a path as kit",
        _set("harness", "x", {"repo": "~/k", "tag": "a", "load": "b"}),
        "[harness.x] repo",
        '"~/k"',
        "under [harness] of trysquare.toml",
    ),
    case(
        "a load outside",
        _set("harness", "x", {"repo": "k", "tag": "a", "load": "../b"}),
        "[harness.x] load",
        '"../b"',
        "inside the pinned repository",
    ),
    case("mixed", _set("harness", "hook", "paths", ["a"]), "[harness.hook]", "load means nothing", "remove it"),
    case("skills have no model", _set("harness", "skills", "model", "m"), "[harness.skills] model", "remove it"),
    case("files without kind", _drop("harness", "probe", "kind"), "[harness.probe]", "needs kind", 'kind = "files"'),
    case("up and out", _set("harness", "probe", "files", {"../x": "probe.py"}), "[harness.probe] files", '"../x"'),
    case(
        "absolute", _set("harness", "probe", "files", {"/x": "probe.py"}), "[harness.probe] files", '"/x"', "relative"
    ),
    case("git", _set("harness", "probe", "files", {".git/x": "probe.py"}), "[harness.probe] files", "inside .git"),
    case("source", _set("harness", "probe", "files", {"x": "no.py"}), "[harness.probe] files", '"no.py"', "correct it"),
    case(
        "one destination twice",
        _set("harness", "probe", "files", {"x": "probe.py", "./x": "probe.py"}),
        "[harness.probe] files",
        '"x" twice',
        "write it once",
    ),
    # validation
    case("no mode", _drop("validation", 0, "mode"), "[[validation]] #1 mode", "missing", '"custom-metrics"'),
    case("mode", _set("validation", 0, "mode", "scrip"), "[[validation]] #1 mode", '"scrip"', 'mean "script"'),
    case("no metrics", _set("validation", 0, "metrics", []), "[[validation]] #1 metrics", "found []", "not empty"),
    case("a metric twice", _set("validation", 1, "metrics", ["tests"]), "[[validation]] #2 metrics", '"tests_judge"'),
    case("a column", _set("validation", 0, "metrics", ["turns"]), "#1 metrics", '"turns"', "a column of their own"),
    case("a long metric", _set("validation", 0, "metrics", ["x" * 101]), "#1 metrics", "101 characters", "at most 100"),
    case("a metric in spaces", _set("validation", 0, "metrics", [" x"]), "#1 metrics", '" x"', "outer spaces"),
    case("a mode twice", _set("validation", 1, "mode", "form"), "unknown key", '"rubric"'),
    case("lost command", _set("validation", 0, "command", "v.py"), "[[validation]] #1 command", '"v.py"', "correct it"),
    case("command bit", _set("validation", 0, "command", "plain.sh"), "[[validation]] #1 command", "chmod +x"),
    case("name", _set("validation", 0, "name", "a b"), "[[validation]] #1 name", '"a b"', "letters, digits"),
    case("lost rubric", _set("validation", 1, "rubric", "no"), "[[validation]] #2 rubric", '"no"', "correct it"),
    case("no command", _drop("validation", 0, "command"), "[[validation]] #1 command", "missing", "write command = "),
    case("no rubric", _drop("validation", 1, "rubric"), "[[validation]] #2 rubric", "missing", "write rubric = "),
    case("judge's provider", _drop("validation", 1, "provider"), "[[validation]] #2 provider", "missing", "write"),
    case("judge's model", _drop("validation", 1, "model"), "[[validation]] #2 model", "missing", "write model = "),
    case("judge's thinking", _drop("validation", 1, "thinking"), "[[validation]] #2 thinking", "missing", "write"),
    case("pieces", _set("validation", 1, "pieces", ["diff", "x"]), "[[validation]] #2 pieces[1]", '"x"', '"response"'),
    case("metrics path", _set("validation", 2, "path", "../x"), "[[validation]] #3 path", '"../x"', "stays in it"),
    case("windows path", _set("validation", 2, "path", "C:\\x"), "[[validation]] #3 path", "C:", "stays in it"),
    case("no assertion", _set("validation", 2, "assertions", []), "[[validation]] #3 assertions", "not empty"),
    case("metric", _set("validation", 2, "metrics", ["pased"]), "[[validation]] #3 metrics", 'mean "passed"'),
    case("turn", _set("validation", 2, "turn", 1), "[[validation]] #3", '"turn"', "the keys here are"),
    # verdict
    case("criterion", _set("verdict", "criterion", "deliverd"), "[verdict] criterion", 'did you mean "delivered"'),
    case("validity", _set("verdict", "validity", ["x"]), "[verdict] validity", '"x"', "or declare it"),
    case("no cell of it", _set("verdict", "reference", "bar"), "[verdict] reference", '"bar"', 'did you mean "bare"'),
    case(
        "partial", _set("verdict", "reference", {"context": "rule"}), "[verdict] reference", "every axis", '"thinking"'
    ),
    case(
        "excluded",
        _set("verdict", "reference", {"context": "rule", "thinking": "off"}),
        "[verdict] reference",
        'no cell "rule / off"',
    ),
    case(
        "criterion in validity", _set("verdict", "validity", ["delivered"]), "[verdict] validity", "no gap", "take it"
    ),
    # what would be seen only after something was paid for
    case("title", _set("scenario", "title", "a\nb"), "[scenario] title", '"a\\nb"', "one line"),
    case("everything", _set("task", "artefacts", ["*"]), "[task] artefacts", '"*"', "nothing would be work"),
    case("everything deep", _set("task", "artefacts", ["**/"]), "[task] artefacts", '"**/"', "nothing would be work"),
    case("negation", _set("task", "artefacts", ["!a.py"]), "[task] artefacts", '"!a.py"', "takes another back"),
    case("open bracket", _set("task", "collect", ["[a"]), "[task] collect", '"[a"', "no `]` closes"),
    case("empty bracket", _set("task", "artefacts", ["[]"]), "[task] artefacts", '"[]"', "no `]` closes"),
    case("braces in a pattern", _set("task", "artefacts", ["*.{o,a}"]), "[task] artefacts", "each pattern by itself"),
    case("git's own", _set("task", "collect", [".git/config"]), "[task] collect", "git's own", "of the tree"),
    case("git's file", _set("validation", 2, "path", "a/../.git/x"), "[[validation]] #3 path", "git's own", "the tree"),
    case("many files", _set("validation", 2, "path", "*.json"), "[[validation]] #3 path", '"*.json"', "name one file"),
    case("all texts", _set("validation", 2, "assertions", [{"metric": "a", "matches": ".*"}]), "found in every text"),
    case(
        "a file and a directory",
        _set("harness", "probe", "files", {"x": "probe.py", "x/y": "probe.py"}),
        "[harness.probe] files",
        'holds "x/y"',
        "rename one of the two",
    ),
    case("no extension", _set("harness", "hook", "load", "rubric.md"), "[harness.hook] load", '"rubric.md"', "`.ts`"),
    case("include for includes", _set("axes", "includes", ["terse"]), "[axes] includes", 'mean "include"', "correct"),
    case("a table as axis", _set("axes", "excludes", [{"a": "b"}]), "[axes] excludes[0]", 'mean "exclude"', "texts"),
    case("draws", _set("verdict", "draws", 0), "[verdict] draws", "found 0", "100 or more"),
]


@pytest.mark.parametrize(("base", "change", "parts"), CASES)
def test_a_refusal_names_the_file_the_key_what_was_found_and_the_remedy(
    here: Path, base: Callable[[], dict[str, Any]], change: Change, parts: tuple[str, ...]
) -> None:
    raw = base()
    change(raw)
    found = line(refusal(here, raw), *parts)
    assert found.startswith(f"{here / 'rule.toml'}: ")
    assert found.endswith((".", ")."))


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("TASK.MD", '(did you mean "task.md"?)'),
        ("task.md ", '(did you mean "task.md"?)'),
        ("task.md\n", '(did you mean "task.md"?)'),
        ("TASK", '(did you mean "Task"?)'),
        ("My Task", '(did you mean "my task"?)'),
        ("Prompts/fix.md", "is a path"),
        ("prompts/FIX.md", '(did you mean "prompts/fix.md"?)'),
        ("Task.markdown", "is a path"),
        ("task.adoc", "is a path"),
        (".", "is a directory"),
        ("..", "is a directory"),
        ("prompts", "is a directory"),
    ],
)
@pytest.mark.parametrize("key", ["prompt", "context", "system"])
def test_a_mistyped_path_is_never_the_text(tmp_path: Path, key: str, value: str, meant: str) -> None:
    here = place(tmp_path)
    for name in ("task.md", "Task", "my task"):
        (here / name).write_text("Fix it.\n")
    line(refusal(here, small(variants={"plain": {}, "x": {key: value}})), f"[variants.x] {key}: ", meant)
    if key == "prompt":
        raw = small()
        raw["task"]["prompt"] = value
        line(refusal(here, raw), "[task] prompt: ", meant)


@pytest.mark.parametrize(
    "text",
    ["Fix it.", "Fix", "Fix README.md", "see prompts/fix.md", "Done.", "a\nb.md", "task.md\nprompts/fix.md", "Why?"],
)
def test_what_reads_as_a_text_is_one(tmp_path: Path, text: str) -> None:
    here = place(tmp_path)
    raw = small()
    raw["task"]["prompt"] = text
    assert load(write(here, raw)).references == load(write(here, small())).references


@pytest.mark.parametrize("operator", ["&&", "||", ";", "|", ">", ">>", "<", "&"])
@pytest.mark.parametrize("key", ["test_command", "prepare"])
def test_a_word_that_only_a_shell_understands_is_refused_by_name(here: Path, key: str, operator: str) -> None:
    raw = scenario()
    command = f"python3 -m unittest {operator} more"
    raw["task"][key] = command if key == "test_command" else [command]
    line(
        refusal(here, raw), f"{here / 'rule.toml'}: [task] {key}: ", f"uses `{operator}`", "put the steps into a script"
    )


@pytest.mark.parametrize("word", ["skills", "agents", "extensions"])
def test_a_brick_written_into_a_cell_is_refused_with_where_it_belongs(here: Path, word: str) -> None:
    raw = small(variants={"plain": {}, "x": {word: ["a"]}})
    line(refusal(here, raw), "[variants.x]: unknown key", word, "define [harness.<name>]", 'write harness = ["<name>"]')


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"def evaluate(run):\n    return {\n", "at line 2 ('{' was never closed)"),
        (b"ok = 1\n\nif ok\n    pass\n", "at line 3 (expected ':')"),
        (b"name = 'caf\xe9'\n", "(unicode error)"),
        (b"ok = 1\0\n", "null bytes"),
        (b"x = " + b"-" * 100_000 + b"1\n", "("),
    ],
    ids=["open brace", "no colon", "not UTF-8", "a NUL", "too deep"],
)
def test_a_python_file_that_does_not_parse_is_refused_with_its_line(tmp_path: Path, source: bytes, said: str) -> None:
    here = place(tmp_path)
    (here / "validator.py").write_bytes(source)
    line(refusal(here, small()), "[[validation]] #1 command", '"validator.py" is not valid Python', said, "correct it")


def test_a_python_file_is_parsed_and_not_run_and_its_warnings_are_its_own(tmp_path: Path) -> None:
    here = place(tmp_path)
    (here / "validator.py").write_text("import nowhere_to_be_found\n\nPATTERN = '\\d'\nraise SystemExit(3)\n")
    load(write(here, small()))


@pytest.mark.parametrize("shebang", ["#!/bin/sh", "#!/usr/bin/env node", "#!/usr/bin/env -S uv run --script"])
def test_a_python_file_that_asks_for_another_interpreter_is_refused(tmp_path: Path, shebang: str) -> None:
    here = place(tmp_path)
    (here / "validator.py").write_text(f"{shebang}\necho\n")
    line(refusal(here, small()), "[[validation]] #1 command", shebang, "is run with the Python of trysquare; rename it")
    (here / "validator.py").write_text("#!/usr/bin/env python3\nprint()\n")
    load(write(here, small()))


def test_every_column_of_the_tables_is_a_name_no_metric_may_have() -> None:
    from trysquare.measure import Run
    from trysquare.scenario.judging import COLUMNS
    from trysquare.synthesis.runs import columns
    from trysquare.table import cost_measures, score_table, spend_measures

    usage = {"input": 1, "output": 1, "cacheRead": 1, "cacheWrite": 1, "turns": 1, "retries": 0, "cost": 1.0}
    runs = [Run("a", "b", 0, usage=usage)]
    names = {measure.name for measure in (*cost_measures(), *spend_measures(runs))} | {*columns([], runs)}
    head = {name.strip() for name in score_table([], []).splitlines()[0].split("|") if name.strip()}
    assert names | head | {"n"} == COLUMNS


def test_two_validators_of_one_mode_need_names(here: Path) -> None:
    raw = small()
    raw["validation"].append({"mode": "script", "command": "validator.py", "metrics": ["other"]})
    line(refusal(here, raw), "[[validation]] #2 name", '"script" too', 'name = "script-2"')
    raw["validation"][1]["name"] = "second"
    assert [validator.name for validator in load(write(here, raw)).validators] == ["script", "second"]


def test_a_table_that_should_be_a_list_of_tables_is_sent_to_its_header(here: Path) -> None:
    raw = scenario()
    raw["validation"] = raw["validation"][0]
    assert "write its header as [[validation]]." in line(refusal(here, raw), "[validation]: found one table")


def test_every_problem_is_shown_at_once_also_across_sections_and_kinds(here: Path) -> None:
    raw = scenario()
    raw["agent"]["thinking"] = "hgh"
    raw["task"]["prompt"] = "prompts/none.md"
    raw["variants"]["x"] = {"harness": ["nobody"]}
    raw["verdict"]["criterion"] = "nothing"
    raw["more"] = {}
    assert len(refusal(here, raw).splitlines()) == 5


def test_a_section_of_the_wrong_shape_causes_no_refusals_about_what_it_would_have_held(here: Path) -> None:
    raw = scenario()
    raw["values"]["context"]["rule"]["contex"] = "x"
    raw["harness"]["hook"]["lod"] = "x"
    raw["validation"][0]["metrics"] = "delivered"
    found = refusal(here, raw).splitlines()
    assert len(found) == 3 and all("contex" in row or "lod" in row or "metrics" in row for row in found)


def test_a_refusal_lists_a_bounded_number_of_problems(here: Path) -> None:
    raw = small(variants={f"cell {number}": {"harness": ["nobody"]} for number in range(100)})
    found = refusal(here, raw).splitlines()
    assert len(found) == 41 and found[-1].startswith("... and ")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("[task\nrepo = 1", ("line 1, column 6", "Expected ']'")),
        ('[task]\nrepo = "a"\nrepo = "b"\n', ("line 3",)),
        ("[axes]\nmood = ['a']\nmood = ['b']\n", ("line 3", "correct it")),
        ("[task]\nrepo = ", ("end of the file",)),
        ("x = 1" + "0" * 5000, ("cannot be read as TOML",)),
        ("x = " + "[" * 5000, ("cannot be read as TOML",)),
    ],
)
def test_a_syntax_error_carries_file_line_and_column(here: Path, text: str, parts: tuple[str, ...]) -> None:
    line(refusal(here, text), str(here / "rule.toml"), *parts)


def test_a_file_that_is_not_utf8_is_refused(here: Path) -> None:
    (here / "odd.toml").write_bytes(b"title = 'caf\xe9'")
    with pytest.raises(ScenarioError, match="not UTF-8"):
        load(here / "odd.toml")


def test_a_byte_order_mark_is_accepted(here: Path) -> None:
    (here / "mark.toml").write_bytes(b"\xef\xbb\xbf" + dumps(small()).encode())
    assert load(here / "mark.toml").name == "mark"


def test_a_file_that_is_not_there_and_a_directory_are_refused(here: Path) -> None:
    with pytest.raises(ScenarioError, match="no such file"):
        load(here / "nowhere.toml")
    with pytest.raises(ScenarioError, match="is a directory"):
        load(here)


def test_a_machine_file_passed_as_scenario_is_recognised(here: Path) -> None:
    with pytest.raises(ScenarioError, match="is a machine file, not a scenario"):
        load(here / "trysquare.toml")


def test_a_value_is_repeated_shortened_and_on_one_line(here: Path) -> None:
    raw = scenario()
    raw["agent"]["thinking"] = "x\ny" * 100
    found = refusal(here, raw)
    assert len(found.splitlines()) == 1 and "\\n" in found and "..." in found and len(found) < 400
