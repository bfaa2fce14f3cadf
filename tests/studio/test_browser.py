"""A session of thirty questions in a real browser, on a real table."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(
        not (BROWSER and DRIVER) and "KEMPE_NEEDS_BROWSER" not in os.environ,
        reason="there is no Chromium with its driver",
    ),
    pytest.mark.slow,
]
SCRIPT = "<script>document.title='broken'</script>"
TRUTH = load_wine().target
PATIENCE = 60.0


@pytest.fixture
def table(tmp_path):
    """Wines, with scripts in an id, in the name of a column and in the name of the file."""
    wines = load_wine()
    path = tmp_path / "wine<img src=x onerror=alert(1)>.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["bottle", *wines.feature_names, f"note {SCRIPT}"])
        for number, row in enumerate(wines.data.tolist()):
            name = f"{number} {SCRIPT}" if number % 20 == 0 else f"{number} wine"
            writer.writerow([name, *row, f"words {SCRIPT}"])
    return path


class Page:
    """The studio and a browser that shows it."""

    def __init__(self, table: Path) -> None:
        self.table = table
        self.start()
        self.browser = browser()
        self.browser.get(self.address)

    def start(self) -> None:
        arguments = ["-k", "3", "--id-column", "bottle", "--ignore", f"note {SCRIPT}"]
        arguments += ["--standardise", "--no-browser", "--log", str(self.table.parent / "log")]
        command = [sys.executable, "-u", "-m", "kempe", "studio", str(self.table), *arguments]
        self.process = subprocess.Popen(
            command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"Open (http\S+)", line):
                self.address = found[1]
                return
        raise AssertionError("the studio did not start")

    def find(self, selector: str):
        return self.browser.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return self.find(selector)[0].text

    def wait(self, condition, what: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                if condition():
                    return
            except Exception:  # the page is being drawn
                pass
            time.sleep(0.05)
        raise AssertionError(f"{what}; the page says {self.text('#news')!r}")

    def answers(self) -> int:
        return int(self.text("#progress").split()[0])

    def ids(self) -> list[str]:
        return [one.text for one in self.find(".card h3")]

    def rows(self) -> list[int]:
        return [int(name.split()[0]) for name in self.ids()]

    def right(self) -> str:
        first, second = self.rows()
        return "together" if TRUTH[first] == TRUTH[second] else "apart"

    def press(self, key: str, change: int) -> None:
        wanted = self.answers() + change
        before = self.text("#news")
        self.find("body")[0].send_keys(key)
        self.wait(
            lambda: self.answers() == wanted and self.text("#news") != before, f"pressed {key!r}"
        )

    def answer(self, said: str, *, by_key: bool = True) -> None:
        if by_key:
            self.press(said[0], +1)
            return
        wanted = self.answers() + 1
        self.find(f"#{said}")[0].click()
        self.wait(lambda: self.answers() == wanted, f"clicked {said}")

    def problems(self) -> list[str]:
        return severe(self.browser)


def browser(width: int = 1200, *, dark: bool = False):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},1000")
    options.add_argument(scheme)
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def severe(driver) -> list[str]:
    """What the browser complains of; that we look at pixels it only remarks."""
    found = driver.get_log("browser")
    return [entry["message"] for entry in found if entry["level"] == "SEVERE"]


@pytest.fixture
def page(table):
    shown = Page(table)
    shown.wait(lambda: len(shown.ids()) == 2, "the first question")
    yield shown
    shown.browser.quit()
    shown.process.kill()
    shown.process.wait()


def fetched(page: Page, name: str) -> str:
    """A file as the browser gets it."""
    return page.browser.execute_async_script(
        "const done = arguments[1];"
        "fetch('/export/' + arguments[0]).then((a) => a.text()).then(done)",
        name,
    )


def test_thirty_questions(page, tmp_path):
    for number in range(10):
        page.answer(page.right(), by_key=number % 2 == 0)

    # Taken back, the same question comes again.
    asked = page.ids()
    page.answer("unsure")
    page.press("b", -1)
    assert page.ids() == asked

    # A contradiction: the opposite of the last answer, by the two rows on the map.
    for _ in range(4):
        page.answer(page.right())
    rows = page.browser.execute_async_script(
        "const done = arguments[0];"
        "fetch('/get/state').then((a) => a.json()).then((s) => done("
        "s.history.filter((one) => one.said == 'together')[0].rows))"
    )
    contradict = (
        "const done = arguments[1]; fetch('/do/answer', {method: 'POST', headers: "
        "{'Content-Type': 'application/json', 'X-Kempe': 'studio'}, "
        "body: JSON.stringify({rows: arguments[0], said: 'apart'})}).then((a) => done(a.status))"
    )
    assert page.browser.execute_async_script(contradict, rows) == 200
    page.wait(lambda: page.find("#conflict-list li"), "a conflict")
    assert "cannot be linked" in page.text("#conflict-list")
    assert page.find("#conflicts")[0].is_displayed()

    # Retracted by its button, the first answer stands again.
    before = page.answers()
    page.find("#conflict-list button")[0].click()
    page.wait(lambda: not page.find("#conflicts")[0].is_displayed(), "the conflict is gone")
    assert page.answers() == before - 1

    # Reloaded, everything is there.
    count, asked = page.answers(), page.ids()
    page.browser.refresh()
    page.wait(lambda: len(page.ids()) == 2, "reloaded")
    assert (page.answers(), page.ids()) == (count, asked)

    # Killed and started again, everything is there.
    page.process.send_signal(signal.SIGKILL)
    page.process.wait()
    page.start()
    page.browser.get(page.address)
    page.wait(lambda: len(page.ids()) == 2, "resumed")
    assert (page.answers(), page.ids()) == (count, asked)

    while page.answers() < 30:
        page.answer(page.right())
    files = {name: fetched(page, name) for name in ("constraints.json", "labels.csv")}
    assert "<main>" in fetched(page, "report.html")
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert_fit_finds_the_same(page.table, tmp_path)

    # Ctrl-C ends it and says where the answers are.
    page.process.send_signal(signal.SIGINT)
    told = page.process.stdout.read()
    assert page.process.wait(timeout=30) == 0
    assert "30 answers in" in told
    assert str(tmp_path / "log") in told


def assert_fit_finds_the_same(table: Path, folder: Path) -> None:
    arguments = ["-k", "3", "--id-column", "bottle", "--ignore", f"note {SCRIPT}", "--standardise"]
    arguments += ["--constraints", str(folder / "constraints.json"), "--max-mutations", "0"]
    arguments += ["--init-labels", str(folder / "labels.csv"), "-o", str(folder / "again.csv")]
    subprocess.run([sys.executable, "-m", "kempe", "fit", str(table), *arguments], check=True)
    labels = []
    for name in ("labels.csv", "again.csv"):
        with (folder / name).open(newline="") as file:
            labels.append([row[1] for row in csv.reader(file)][1:])
    assert adjusted_rand_score(*labels) == 1.0
    assert adjusted_rand_score(labels[0], TRUTH) > 0.8


def test_what_is_only_thought_is_told_from_what_is_known(page):
    for key in "TA":  # with the shift key
        page.press(key, +1)
    told = [one.text for one in page.find("#history .said")]
    assert told == ["probably apart", "probably together"]
    assert len(fetched(page, "soft_pairs.csv").splitlines()) == 3
    assert fetched(page, "must_link.csv") == "first,second\n"
    page.find("#probably-apart")[0].click()
    page.wait(lambda: page.answers() == 3, "clicked")
    assert page.problems() == []


def test_scripts_show_as_text_and_nothing_fails(page):
    seen = set()
    for _ in range(6):
        seen |= set(page.ids())
        page.answer(page.right())
    assert "broken" not in page.browser.title
    assert page.text("#title") == page.table.name
    assert SCRIPT in page.browser.execute_script("return document.body.textContent")
    assert page.find("#first script, #second script, main img[src=x]") == []
    assert page.problems() == []
    sites = page.browser.execute_script(
        "return performance.getEntriesByType('resource').map((one) => new URL(one.name).host)"
    )
    assert set(sites) == {page.address.split("/")[2]}


def test_two_rows_of_the_map_make_a_pair_and_several_a_label(page):
    from selenium.webdriver import ActionChains

    canvas = page.find("#map")[0]
    middle = {"x": canvas.size["width"] // 2, "y": canvas.size["height"] // 2}
    drag = ActionChains(page.browser).move_to_element_with_offset(canvas, -middle["x"] + 12, -40)
    drag.click_and_hold().move_by_offset(middle["x"], 100).release().perform()
    page.wait(lambda: page.find("#selection")[0].is_displayed(), "rows are selected")
    assert int(page.text("#selected").split()[0]) > 2
    page.find("#name")[0].send_keys("mine")
    assert page.answers() == 0  # keys in the box answer nothing
    page.find("#give-name")[0].click()
    page.wait(lambda: "mine" in page.text("#clusters"), "a cluster has the name")


COUNTED = (
    "const p = CanvasRenderingContext2D.prototype, fill = p.fillRect; let n = 0;"
    "p.fillRect = function (...a) { n++; fill.apply(this, a); };"
    "for (let i = 0; i < 4; i++) document.getElementById('show-pairs').click();"
    "p.fillRect = fill; return n"
)


def test_rows_are_drawn_once_and_not_again_for_what_lies_over_them(page):
    page.wait(lambda: page.browser.execute_script(DRAWN) > 500, "the map is drawn")
    assert page.browser.execute_script(COUNTED) == 0
    page.answer(page.right())
    page.wait(lambda: page.browser.execute_script(DRAWN) > 500, "the map is drawn again")


DRAWN = (
    "const c = document.getElementById('map');"
    "const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
    "let n = 0; for (let i = 3; i < p.length; i += 4) n += p[i] > 0; return n"
)


@pytest.mark.parametrize("dark", [False, True])
def test_every_width_in_light_and_dark(page, dark):
    other = browser(dark=dark)
    try:
        for width in (420, 900, 1600):
            # Windows are not made narrower than 500, so the page is told that it is.
            size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500}
            other.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            other.get(page.address)
            page.wait(lambda: other.find_elements("css selector", ".card h3"), "cards")
            page.wait(lambda: other.execute_script(DRAWN) > 500, "the map is drawn")
            wide = other.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1] == width
            paper = other.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert (int(re.search(r"\d+", paper)[0]) < 100) == dark
        assert severe(other) == []
    finally:
        other.quit()


def test_the_question_can_be_read_aloud(page):
    names = page.browser.execute_script(
        "return [...document.querySelectorAll('button')].map((b) => b.textContent.trim()"
        " || b.getAttribute('aria-label'))"
    )
    assert all(names)
    assert page.find("[role=status][aria-live=polite]")
    before = page.text("#news")
    page.answer(page.right())
    assert page.text("#news") != before
    assert all(name in page.text("#news") for name in page.ids())
