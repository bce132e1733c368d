import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.matrices import LAUNCHES, matrix, renamed, rows
from trysquare.files import write_json, write_text
from trysquare.layout import Layout
from trysquare.pages import write_pages
from trysquare.synthesis import build, gather, page

selenium = pytest.importorskip("selenium", reason="selenium, which drives the browser, is not installed")

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDTHS = (1280, 400)
OPEN_ALL = "document.querySelectorAll('details').forEach(each => { each.open = true })"

pytestmark = pytest.mark.skipif(
    not (shutil.which(CHROMIUM) and shutil.which(DRIVER)), reason=f"{CHROMIUM} and {DRIVER} are not installed"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A rehearsed experiment with a retried run, a run left out, a reason on each side, and a long name."""
    plan = matrix(rehearsed=True)
    plan, runs = renamed(plan, rows(plan), {"rule / off": "a rule with a name that goes on and on / off <&> ü"})
    runs[3].usage["retries"], runs[5].metrics["delivered"] = 1, False
    path = tmp_path_factory.mktemp("a page #1 %") / "synthesis.html"
    path.write_text(page(build(plan, runs, LAUNCHES)), encoding="utf-8")
    return path.as_uri()


def shown(browser, address, width, scheme="light"):
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"media": "", "features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.get(address)
    browser.execute_script(OPEN_ALL)


def requests(browser):
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [each["params"]["request"]["url"] for each in messages if each["method"] == "Network.requestWillBeSent"]


def test_the_page_opens_without_an_error_and_asks_nobody_for_anything(browser, address):
    browser.get_log("performance")
    shown(browser, address, 1280)
    assert browser.get_log("browser") == []
    fetched = [url for url in requests(browser) if not url.startswith("data:")]
    assert fetched == [address]
    assert browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)") == []
    assert browser.title == "REHEARSED, not a measurement: Does a rule keep a fix small?"


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_never_scrolls_sideways(browser, address, width):
    shown(browser, address, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_wider_than_the_page_scrolls_in_its_own_named_region_by_keyboard(browser, address, width):
    shown(browser, address, width)
    wide = browser.execute_script(
        "return [...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth)"
    )
    assert wide or width == 1280
    for region in wide:
        assert region.get_attribute("tabindex") == "0" and region.get_attribute("aria-label")


@pytest.mark.parametrize("width", WIDTHS)
def test_pictures_are_drawn_inside_the_page_and_their_text_is_legible(browser, address, width):
    shown(browser, address, width)
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('figure svg')].map(svg => [svg.getBoundingClientRect().right, "
        "Math.min(...[...svg.querySelectorAll('text')].map(text => text.getBoundingClientRect().height))])"
    )
    assert len(boxes) == 10
    assert all(right <= width and height >= 9 for right, height in boxes)


def test_the_scheme_of_the_reader_decides_the_colours_of_text_and_pictures(browser, address):
    def colours(scheme):
        shown(browser, address, 1280, scheme)
        return browser.execute_script(
            "const of = (query, name) => getComputedStyle(document.querySelector(query))[name];"
            "return [of('body', 'backgroundColor'), of('body', 'color'), of('figure svg text', 'fill')]"
            ".map(colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 3)"
        )

    paper, ink, _ = colours("light")
    assert paper > 200 and ink < 60
    paper, ink, drawn = colours("dark")
    assert paper < 60 and ink > 200 and drawn > 120


def test_every_run_can_be_opened_without_a_script(browser, address):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(address)
        summary = browser.find_element("css selector", "#runs ~ details > summary")
        row = browser.find_element("css selector", "#runs ~ details tbody tr")
        assert not row.is_displayed()
        summary.send_keys("\ue007")
        assert row.is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_rehearsal_banner_is_in_sight_before_anything_is_scrolled(browser, address):
    for width in WIDTHS:
        shown(browser, address, width)
        box = browser.find_element("css selector", ".banner").rect
        assert box["y"] + box["height"] < 450 and box["width"] > 0.8 * (min(width, 1056) - 96)


AXE = Path(sys.prefix) / "share/trysquare/axe/node_modules/axe-core/axe.min.js"
PATCH = "diff --git a/cart.py b/cart.py\n@@ -1,2 +1,2 @@ def total():\n kept\n-removed\n+" + "added " * 60 + "\n"
MEDIA = {
    "desk": (1280, "", "light"),
    "dark": (1280, "", "dark"),
    "phone": (400, "", "light"),
    "print": (800, "print", "light"),
}


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A finished matrix with its evidence, its synthesis and the page of each run."""
    plan = matrix(rehearsed=True, repetitions=4)
    layout, runs = Layout(tmp_path_factory.mktemp("archive")), rows(plan)
    runs[3].usage["retries"], runs[5].metrics["delivered"] = 1, False
    for run in plan.runs.values():
        place = layout.run(run.directory)
        write_text(place.patch, PATCH)
        write_text(place.response, "I did it. " * 40)
        write_text(place.session / "attempt-01.jsonl", "{}\n")
        verdict = {
            "metrics": {"in_scope": True},
            "reasons": {"in_scope": "a reason"},
            "unjudged": {"tests": "no runner"},
        }
        write_json(place.verdict("script"), verdict)
        write_text(place.stderr("script"), "a warning\n" * 40)
    evidence = gather(layout, plan, runs)
    built = build(plan, runs, LAUNCHES, None, evidence)
    write_text(layout.synthesis.with_suffix(".html"), page(built))
    write_pages(layout, plan, built, evidence)
    return layout


def complaints(browser, address, media):
    """What axe finds on a page, each with the first place."""
    width, kind, scheme = MEDIA[media]
    shown(browser, address, width, scheme)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found = browser.execute_async_script("axe.run(document).then(arguments[0])")
    assert len(found["passes"]) > 15
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not installed: `make test` does that")
@pytest.mark.parametrize("media", MEDIA)
@pytest.mark.parametrize("which", ["synthesis.html", "pages/nothing_off/000001.html"])
def test_axe_has_nothing_to_say_against_a_page(browser, archive, which, media):
    assert complaints(browser, (archive.root / which).as_uri(), media) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_a_run_never_scrolls_sideways_and_its_wide_lines_do(browser, archive, width):
    shown(browser, (archive.root / "pages/nothing_off/000001.html").as_uri(), width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(
        "const diff = document.querySelector('.diff'); return diff.scrollWidth > diff.clientWidth"
    )


def test_what_was_added_and_removed_is_told_apart_without_colours_too(browser, archive):
    shown(browser, (archive.root / "pages/nothing_off/000001.html").as_uri(), 1280)
    lines = [browser.find_element("css selector", f".diff .{kind}") for kind in ("added", "removed")]
    assert [line.text[0] for line in lines] == ["+", "-"]
    colours = {line.value_of_css_property("background-color") for line in lines}
    assert len(colours | {"rgba(0, 0, 0, 0)"}) == 3


def test_a_reader_gets_from_the_synthesis_to_a_run_and_back(browser, archive):
    synthesis = (archive.root / "synthesis.html").as_uri()
    shown(browser, synthesis, 1280)
    browser.find_element("link text", "page").send_keys("\ue007")
    assert browser.current_url == (archive.root / "pages/nothing_off/000001.html").as_uri()
    browser.find_element("link text", "Back to the synthesis").send_keys("\ue007")
    assert browser.current_url == synthesis


@pytest.mark.parametrize("which", ["synthesis.html", "pages/nothing_off/000001.html"])
def test_nothing_is_cut_off_on_paper(browser, archive, which):
    a4_less_margins = 716
    shown(browser, (archive.root / which).as_uri(), a4_less_margins)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    browser.execute_script(OPEN_ALL)
    cut = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter(each => each.getBoundingClientRect().right > 717)"
        ".map(each => each.outerHTML.slice(0, 80))"
    )
    assert cut == []
    scrolled = "each => each.scrollHeight > each.clientHeight + 1"
    assert browser.execute_script(f"return [...document.querySelectorAll('pre, .scroll')].some({scrolled})") is False
