"""Odd names through the whole workflow: what loads works from the shell to the links of the page."""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from tests.workflow.conftest import SCENARIO, SCRIPT, Bench
from trysquare import agent
from trysquare.errors import AgentError
from trysquare.outputs import cell_dir
from trysquare.refusals import key

pytestmark = pytest.mark.workflow

NAME = 'it\'s [n] $HOME * é "q" \\ `id` 模'

CELLS = (
    "plain",
    "naïve 模型 🚀",
    "it's",
    'a "quoted" one',
    "[a-z]?*",
    "$HOME `id` $(id)",
    "back\\slash\\",
    "a; b & c | d > e",
    "x" * 200,
    "é" * 100,
    "#100% a=b, ~c.",
    "<B>bold</B> -> <i onload=x>",
    "x_n12",
    "deadbeef",
    "measured.json",
    "con:colon @at ^up !bang (paren)",
)

METRICS = (
    'does it <b>work</b> | "well" $x$ \\',
    "`tick` *star* _low_",
    "{{ braces }} {x} <script>alert(1)</script>",
    "naïve 模型",
    "m" * 100,
)

VALIDATOR = f"""
import json
metrics = {list(METRICS)!r}
print(json.dumps({{"metrics": dict.fromkeys(metrics, True), "reasons": dict.fromkeys(metrics, "a | <b>reason</b>")}}))
"""


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory, counter_repository: Path) -> Bench:
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    place = tmp_path_factory.mktemp("names")
    bench = Bench(place / 'an [odd] $place\'s "name"')
    head, _, tail = SCENARIO.format(python=sys.executable, repetitions=1).partition("[variants.plain]")
    tail = tail[tail.index("[[validation]]") :]
    head = head.replace("[scenario]\n", f"[scenario]\nname = {json.dumps(NAME, ensure_ascii=False)}\n")
    tail = tail.replace('["delivered", "in_scope", "tests"]', json.dumps(METRICS, ensure_ascii=False))
    tail = tail.replace('"in_scope"', json.dumps(METRICS[0])).replace('validity = ["delivered"]', "")
    bench.write("scenario.toml", head + "\n".join(f"[variants.{key(name)}]" for name in CELLS) + "\n" + tail)
    bench.write("validator.py", VALIDATOR)
    bench.write("rehearsal.toml", SCRIPT)
    bench.write("trysquare.toml", f'[repos]\ncounter = "{counter_repository}"\n[defaults]\nworkdir = "{place}/work"\n')
    bench.snakemake("run")
    return bench


class Page(HTMLParser):
    """What a reader's browser makes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.links += [value for name, value in attrs if name == "href" and value]

    def handle_data(self, data: str) -> None:
        self.texts.add(data.strip())


def matrix(bench: Bench) -> Path:
    [found] = (bench.root / "results" / "rehearsals").iterdir()
    return found


def test_a_matrix_of_odd_names_is_measured_scored_and_complete(odd):
    rows = json.loads((matrix(odd) / "measures.json").read_text(encoding="utf-8"))
    assert [row["cell"] for row in rows] == list(CELLS)
    assert all(row["state"] == "valid" and row["metrics"] == dict.fromkeys(METRICS, True) for row in rows)
    for row in rows:
        assert (matrix(odd) / "runs" / cell_dir(row["cell"]) / row["id"] / "run.json").is_file()
    assert matrix(odd).name.startswith('it\'s-[n]-$HOME-*-é-"q"-\\-`id`-模_v1_')
    assert len(list((odd.root / "results").iterdir())) == 1


def test_every_link_of_the_page_leads_to_a_file_and_names_are_text(odd):
    page = Page()
    page.feed((matrix(odd) / "synthesis.html").read_text(encoding="utf-8"))
    files = [link for link in page.links if not link.startswith(("#", "data:"))]
    assert len(files) > 5 * len(CELLS)
    assert [link for link in files if not (matrix(odd) / unquote(link)).exists()] == []
    assert "script" not in page.tags and "onload" not in page.attributes
    assert {name for name in (*CELLS, *METRICS) if name not in page.texts} == set()


def test_the_tables_in_markdown_are_whole_and_hold_the_names(odd):
    tokens = MarkdownIt("commonmark").enable("table").parse((matrix(odd) / "synthesis.md").read_text(encoding="utf-8"))
    rows: list[list[str]] = []
    widths: list[set[int]] = []
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "table_open":
            widths.append(set())
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(
                "".join(part.content for part in following.children if part.type in ("text", "text_special"))
            )
        elif token.type == "tr_close":
            widths[-1].add(len(rows[-1]))
    assert widths and all(len(found) == 1 for found in widths)
    heads = {row[0].removesuffix(" (reference)") for row in rows}
    assert heads >= set(CELLS)
    assert {cell for row in rows for cell in row} >= set(METRICS)


def test_a_second_launch_and_every_other_target_find_their_way_too(odd):
    assert "jobs:" not in odd.snakemake("run")
    for target in ("score", "render", "status"):
        odd.snakemake(target)
    [run] = (matrix(odd) / "runs" / cell_dir(CELLS[5])).iterdir()
    (run / "measured.json").unlink()
    odd.snakemake("run")
    assert (run / "measured.json").is_file()


@pytest.mark.parametrize("cell", [CELLS[8], CELLS[10]])
def test_an_odd_cell_can_be_the_reference_and_be_named_on_the_command_line(odd, cell):
    odd.snakemake("run", f"reference={json.dumps([cell])}")
    assert (matrix(odd) / f"synthesis_ref-{cell_dir(cell)}.html").is_file()
    assert f"only {cell}" in odd.snakemake("run", "-n", f"only={json.dumps([cell])}")


def test_an_odd_cell_can_be_measured_again(odd):
    [run] = (matrix(odd) / "runs" / cell_dir(CELLS[5])).iterdir()
    before = (run / "run.json").read_bytes()
    odd.trysquare("run", "scenario.toml", "--overwrite", CELLS[5])
    assert (run / "run.json").read_bytes() != before
    assert [path.name.partition(".")[0] for path in (matrix(odd) / "discarded").iterdir()] == [run.name]
