"""One change to a valid experiment for every refusal, and what its line must hold."""

from collections.abc import Callable
from typing import Any

import pytest
from scenarios import scenario, small

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
