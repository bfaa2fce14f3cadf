"""Take the pictures of ``kempe studio`` in a real browser, on the wines of scikit-learn.

Needs Chromium with its driver and ``pip install "kempe[test]"``; run it in this folder after a
change to the page: ``python photograph_studio.py``.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from sklearn.datasets import load_wine

HERE = Path(__file__).parent / "_static"
ANSWERS = 14
COLUMNS = {0: "alcohol", 2: "ash", 5: "phenols", 6: "flavanoids", 9: "colour", 10: "hue"}


def write_table(path: Path) -> None:
    """Write some columns of the wines, by names that fit on a card."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["bottle", *COLUMNS.values()])
        for number, row in enumerate(load_wine().data.tolist()):
            writer.writerow([f"bottle {number}", *(row[column] for column in COLUMNS)])


def start(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start the studio; give its address."""
    command = [sys.executable, "-u", "-m", "kempe", "studio", "wine.csv", "-k", "3"]
    options = ["--id-column", "bottle", "--standardise", "--no-browser"]
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen([*command, *options], cwd=folder, text=True, **streams)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"Open (http\S+)", line):
            return process, found[1]
    raise RuntimeError("the studio did not start")


def browser(width: int, height: int, *, dark: bool = False) -> Any:
    """Start a browser with a window of this size."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument(scheme)
    driver = webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return driver


def answer(driver: Any, said: str) -> None:
    """Press a button and wait for what follows."""
    before = driver.find_element("id", "progress").text
    driver.find_element("id", said).click()
    while driver.find_element("id", "progress").text == before:
        time.sleep(0.05)


def right(driver: Any) -> str:
    """Give the answer to the question that is shown."""
    names = [one.text for one in driver.find_elements("css selector", ".card h3")]
    first, second = (load_wine().target[int(name.split()[1])] for name in names)
    return "together" if first == second else "apart"


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name:
        write_table(Path(name) / "wine.csv")
        process, address = start(Path(name))
        wide = browser(1280, 800)
        wide.get(address)
        time.sleep(2)
        wide.save_screenshot(str(HERE / "studio_first.png"))
        for _ in range(ANSWERS):
            answer(wide, right(wide))
        time.sleep(1)
        wide.save_screenshot(str(HERE / "studio.png"))
        contradict(wide)
        time.sleep(1)
        wide.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 1280, "height": 420, "deviceScaleFactor": 1, "mobile": False},
        )
        time.sleep(1)
        wide.save_screenshot(str(HERE / "studio_conflict.png"))
        wide.quit()
        process.kill()


def contradict(driver: Any) -> None:
    """Keep two rows apart that two answers have joined, as one might by clicking on the map."""
    driver.execute_async_script(
        "const done = arguments[0];"
        "const json = {'Content-Type': 'application/json', 'X-Kempe': 'studio'};"
        "fetch('/get/state').then((a) => a.json()).then((s) => {"
        " const joined = s.history.filter((h) => h.said === 'together').map((h) => h.rows);"
        " const two = joined.flatMap((a) => joined.map((b) => [a, b])).find(([a, b]) => a !== b"
        "  && a.some((row) => b.includes(row)));"
        " const rows = [...two[0], ...two[1]];"
        " const ends = rows.filter((row) => rows.indexOf(row) === rows.lastIndexOf(row));"
        " const body = JSON.stringify({rows: ends, said: 'apart'});"
        " fetch('/do/answer', {method: 'POST', headers: json, body}).then(() => done()); })"
    )
    while not driver.find_element("id", "conflicts").is_displayed():
        time.sleep(0.1)


if __name__ == "__main__":
    main()
