"""The page of a report in a real browser: phone, tablet and wide screen, light and dark."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import numpy as np
import pytest

from kempe import KempeKMeans

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="there is no Chromium"),
    pytest.mark.slow,
]
WIDTHS = (400, 900, 1600)
# Blink's numbers of the two schemes.
SCHEMES = {"dark": 0, "light": 1}

# Holds the pointer over the first point of the map, ticks a box, then says what can be seen.
LOOK = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
function drawn(id) {
  const canvas = document.getElementById(id);
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const coloured = pixels.filter((value, i) => i % 4 === 3 && value > 0).length;
  return { width: canvas.clientWidth, coloured };
}
addEventListener("load", () => setTimeout(() => {
  const map = Chart.getChart("map"), point = map.getDatasetMeta(0).data[0];
  const box = map.canvas.getBoundingClientRect();
  map.canvas.dispatchEvent(new MouseEvent("mousemove",
    { clientX: box.left + point.x, clientY: box.top + point.y, bubbles: true }));
  setTimeout(() => {
    const tooltip = map.tooltip.body.map((part) => part.lines).flat();
    document.getElementById("must").click();
    const row = document.getElementById("row"), told = document.getElementById("found");
    const press = (key) => row.dispatchEvent(new KeyboardEvent("keydown", { key }));
    const type = (text) => {
      row.value = text;
      row.dispatchEvent(new Event("input"));
      return told.textContent;
    };
    const range = () => map.scales.x.max - map.scales.x.min;
    const typed = type("customer-7"), nobody = type("nobody");
    type(""); press("ArrowDown"); press("ArrowDown");
    const second = [row.value, told.textContent], whole = range();
    document.querySelector("[data-zoom='0.7']").click();
    const closer = range();
    document.querySelector("[data-zoom='0']").click();
    fetch("/seen", { method: "POST", body: JSON.stringify({
      errors, tooltip, width: innerWidth, content: document.documentElement.scrollWidth,
      background: getComputedStyle(document.body).backgroundColor,
      charts: Object.fromEntries(["map", "sizes", "search"].map((id) => [id, drawn(id)])),
      sets: map.data.datasets.map((set) => set.label),
      typed, nobody, second, ids: map.data.datasets.filter((set) => !set.isPairs).length,
      zoom: [whole, closer, range()],
      requests: performance.getEntriesByType("resource").length,
    }) });
  }, 300);
}, 300));
</script>"""


class Pages(BaseHTTPRequestHandler):
    """Serves pages from memory, and collects what the browser says about them."""

    def do_GET(self):
        text = self.server.pages.get(self.path)
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write((text or "").encode())

    def do_POST(self):
        size = int(self.headers["Content-Length"])
        self.server.seen.put(json.loads(self.rfile.read(size)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(12, 5))
    labels = rng.integers(12, size=400)
    X = centres[labels] + rng.normal(size=(400, 5))
    pairs = rng.integers(400, size=(300, 2))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    model = KempeKMeans(12, random_state=0, max_mutations=50)
    model.fit(X, must_link=pairs[same], cannot_link=pairs[~same])
    text = model.result_.to_html(
        ids=[f"customer-{row}" for row in range(400)],
        feature_names=["a rather long name of a feature", "age", "spend", "visits", "kg"],
    )
    return tmp_path_factory.mktemp("page"), text


@pytest.fixture(scope="module", params=SCHEMES)
def seen(request, page):
    """What a browser shows at each width, in light or dark."""
    folder, text = page
    return request.param, told_by_browser(text, LOOK, request.param, folder / request.param)


def told_by_browser(text, look, scheme, folder):
    """Open a page at each width, with a script that looks at it, and give what that tells."""
    frames = "".join(f'<iframe src="/page" width={w} height=900></iframe>' for w in WIDTHS)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.pages = {"/page": text.replace("<main>", look + "<main>"), "/frames": frames}
    server.seen = Queue()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    quiet = "--disable-background-networking --disable-component-update --disable-sync"
    browser = subprocess.Popen(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
            *(*quiet.split(), "--remote-debugging-port=0", "--window-size=1800,1000"),
            f"--user-data-dir={folder}",
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            f"http://127.0.0.1:{server.server_port}/frames",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        found = [server.seen.get(timeout=120) for _ in WIDTHS]
    finally:
        browser.terminate()
        browser.wait()
        server.shutdown()
    return sorted(found, key=lambda frame: frame["width"])


def test_nothing_fails_and_nothing_is_fetched(seen):
    _, frames = seen
    assert [frame["width"] for frame in frames] == list(WIDTHS)
    assert [frame["errors"] for frame in frames] == [[], [], []]
    assert [frame["requests"] for frame in frames] == [0, 0, 0]


def test_the_page_never_scrolls_sideways(seen):
    _, frames = seen
    for frame in frames:
        assert frame["content"] <= frame["width"]


def test_the_background_follows_the_scheme(seen):
    scheme, frames = seen
    for frame in frames:
        red = int(re.search(r"\d+", frame["background"])[0])
        assert (red < 100) == (scheme == "dark")


def test_every_chart_is_drawn_as_wide_as_there_is_room(seen):
    _, frames = seen
    for frame in frames:
        for chart in frame["charts"].values():
            assert chart["coloured"] > 1000
        assert 0.6 * min(frame["width"], 1150) < frame["charts"]["map"]["width"] <= frame["width"]


def test_the_pointer_shows_the_id(seen):
    _, frames = seen
    for frame in frames:
        assert re.fullmatch(r"customer-\d+", frame["tooltip"][0])
        assert frame["tooltip"][1].startswith("cluster ")


def test_pairs_are_drawn_when_their_box_is_ticked(seen):
    _, frames = seen
    for frame in frames:
        assert "must-link" in frame["sets"]
        assert "cannot-link" not in frame["sets"]


def test_rows_are_found_by_id_and_by_the_keyboard(seen):
    _, frames = seen
    for frame in frames:
        assert re.match(r"customer-7 · cluster ", frame["typed"])
        assert frame["nobody"] == "No row of the map has this id."
        name, told = frame["second"]
        assert re.fullmatch(r"customer-\d+", name)
        assert told.startswith(f"{name} · cluster ")


def test_one_can_come_closer_and_go_back(seen):
    _, frames = seen
    for frame in frames:
        whole, closer, again = frame["zoom"]
        assert closer < 0.8 * whole
        assert again == whole


def test_the_page_prints_on_a4_with_its_colours(page, tmp_path):
    _, text = page
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"),
            *("--virtual-time-budget=3000", f"--print-to-pdf={tmp_path / 'page.pdf'}"),
            *(f"--user-data-dir={tmp_path / 'user'}", f"file://{tmp_path / 'page.html'}"),
        ],
        capture_output=True,
        check=True,
        timeout=120,
    )
    pdf = (tmp_path / "page.pdf").read_bytes()
    sizes = set(re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf))
    assert {(round(float(w)), round(float(h))) for w, h in sizes} == {(595, 842)}
    assert 2 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 6


# Notes what is written on the map, and where, each time that it is drawn.
NAMES = """<script>
let names = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...more) {
  if (this.canvas.id === "map" && this.font.includes("600")) {
    names.push({ text, x, y, width: this.measureText(text).width });
  }
  return write.call(this, text, x, y, ...more);
};
addEventListener("load", () => setTimeout(() => {
  const map = Chart.getChart("map");
  names = [];
  map.draw();
  const looks = new Set(map.data.datasets.map((set) => set.backgroundColor + set.pointStyle));
  fetch("/seen", { method: "POST",
    body: JSON.stringify({ width: innerWidth, names, looks: looks.size }) });
}, 300));
</script>"""


def test_forty_clusters_are_told_apart_by_names_and_shapes(tmp_path):
    rng = np.random.default_rng(0)
    labels = np.arange(1600) % 40
    X = 7 * rng.normal(size=(40, 4))[labels] + rng.normal(size=(1600, 4))
    model = KempeKMeans(40, random_state=0, max_mutations=0).fit(X, cannot_link=[(0, 1)])
    text = model.result_.to_html()
    for frame in told_by_browser(text, NAMES, "light", tmp_path):
        names = frame["names"]
        assert sorted(int(name["text"]) for name in names) == list(range(40))
        assert frame["looks"] == 40, "colours come again, but with another shape"
        apart = [
            abs(a["x"] - b["x"]) >= (a["width"] + b["width"]) / 2 or abs(a["y"] - b["y"]) >= 11
            for a, b in itertools.combinations(names, 2)
        ]
        assert all(apart)
