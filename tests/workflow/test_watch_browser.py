"""The watch page in a real browser, while a real launch runs."""

import subprocess
import sys

import pytest

from tests.workflow.conftest import launched
from tests.workflow.slurm import wait_for
from tests.workflow.test_pages_browser import browser, pytestmark, shown

__all__ = ["browser"]

pytestmark = [pytestmark, pytest.mark.workflow]
PATIENCE = 60


@pytest.fixture
def watched(bench):
    """The address of a page over a launch that is under way, whose last runs take a while."""
    bench.edit("rehearsal.toml", 'text = "Fixed."', 'text = "Fixed."\npause = 3000')
    with launched(bench, "run"):
        wait_for(lambda: list(bench.root.glob("results/rehearsals/*/.live/*.json")))
        command = [sys.executable, "-c", "import sys; from trysquare.cli import main; sys.exit(main())", "watch"]
        watch = subprocess.Popen([*command, str(bench.matrix)], cwd=bench.root, stdout=subprocess.PIPE, text=True)
        try:
            yield next(word for word in watch.stdout.readline().split() if word.startswith("http://"))
        finally:
            watch.terminate()
            watch.stdout.close()
            watch.wait(timeout=10)


def test_the_page_follows_a_launch_and_ends_as_its_synthesis(browser, watched):
    from selenium.webdriver.support.ui import WebDriverWait

    def text(query):
        return browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", query)

    soon = WebDriverWait(browser, PATIENCE)
    shown(browser, watched, 1280)
    assert text("h1") == "Counter"
    assert "REHEARSED" in text(".banner")
    soon.until(lambda _: "edit" in text("#runs"))
    assert "ago" in text("#runs")
    assert "0/2" in text("#cells") or "1/2" in text("#cells")
    soon.until(lambda _: "1/2" in text("#cells"))
    soon.until(lambda _: text("#said") != "")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_never_scrolls_sideways_and_asks_nobody_else(browser, watched, width):
    browser.get_log("performance")
    shown(browser, watched, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    names = browser.execute_script("return performance.getEntriesByType('resource').map(each => each.name)")
    assert all(name.startswith(watched) for name in names)
