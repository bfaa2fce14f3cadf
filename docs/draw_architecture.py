"""Draw docs/_static/architecture.svg: the layers from pyproject.toml, and the way of the data."""

from __future__ import annotations

import tomllib
from html import escape
from pathlib import Path

DOCS = Path(__file__).parent
PICTURE = DOCS / "_static" / "architecture.svg"

WHAT = {
    "cli": "commands: demo, fit, predict, studio, check, certify, verify, methods, bench",
    "bench": "many data sets: plans, runs, reports",
    "studio": "the page that asks a person",
    "report": "a page about a clustering: prices of pairs, k-means beside it",
    "plotting": "clusters, convergence, graph",
    "datasets": "benchmark data",
    "tables": "files of rows and pairs",
    "ask": "which pair next",
    "dask": "many memories",
    "proof": "bounds, certificates",
    "selection": "choosing k",
    "methods": "every method by the paper's name",
    "contradictions": "which pairs to give up",
    "engine": "our search: KempeKMeans",
    "rivals": "COPKM, PCCC, BLPKMCC and others",
    "kskm": "the paper: KSKM, a file for each algorithm",
    "searching": "n_init searches, until a rule says stop",
    "clusterer": "scikit-learn's interface of all estimators",
    "preparation": "holes and words made numbers",
    "data_checks": "what data must be",
    "model_file": "fitted models as files",
    "exact": "exact assignment to given centroids",
    "search": "descents, recorder, stopping rules, result",
    "problem": "supernodes and the graph between them",
    "graph": "the cannot-link graph: colourings, or proofs that there is none",
    "fit_arguments": "the arguments of fit about pairs",
    "constraints": "must-link and cannot-link pairs, checked",
    "soft_pairs": "pairs that may be wrong, and how sure they are",
    "pairs": "pairs, groups and labels from whatever the user has",
    "sizes": "limits on sizes",
    "storage": "files written whole or not at all",
    "cards": "what notebooks show of results",
    "exceptions": "what can go wrong",
    "words": "numbers in sentences",
}
FLOW = [
    ("X, pairs", "rows of the user"),
    ("Constraints", "checked pairs of rows"),
    ("Problem", "supernodes, graph"),
    ("start", "centroids, proper colouring"),
    ("descent", "Kempe swaps, new centroids"),
    ("Recorder", "best so far, history, time to stop?"),
    ("Result", "best colouring, history"),
    ("labels_", "rows of the user"),
]
FONT = 'font-family="Helvetica, Arial, sans-serif"'
INK, PALE, EDGE, ACCENT = "#222222", "#EEF3FA", "#7A93B5", "#332288"
WIDTH, LEFT, RIGHT, ROW, STEP = 1000, 620, 240, 50, 78


def layers() -> list[list[str]]:
    """Layers from the top, as import-linter enforces them."""
    pyproject = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    named = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [
        layer.replace("|", " ").replace(":", " ").translate({40: "", 41: ""}).split()
        for layer in named
    ]


def box(x: float, y: float, width: float, title: str, text: str) -> str:
    """Rectangle with a title and a line below it."""
    middle = x + width / 2
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="38" rx="5" '
        f'fill="{PALE}" stroke="{EDGE}"/>'
        f'<text x="{middle:.0f}" y="{y + 16:.0f}" font-size="13" font-weight="bold" '
        f'text-anchor="middle" fill="{INK}" {FONT}>{escape(title)}</text>'
        f'<text x="{middle:.0f}" y="{y + 31:.0f}" font-size="11" text-anchor="middle" '
        f'fill="{INK}" {FONT}>{escape(text)}</text>'
    )


def head(x: float, y: float, dx: int, dy: int) -> str:
    """Arrow head at a point, looking along one of the axes."""
    back, side = (x - 8 * dx, y - 8 * dy), (4 * dy, 4 * dx)
    corners = [
        (x, y),
        (back[0] + side[0], back[1] + side[1]),
        (back[0] - side[0], back[1] - side[1]),
    ]
    return f'<polygon points="{" ".join(f"{a:.0f},{b:.0f}" for a, b in corners)}" fill="{ACCENT}"/>'


def arrow(path: str, x: float, y: float, dx: int, dy: int) -> str:
    """Path that ends with a head at a point."""
    line = f'<path d="{path}" fill="none" stroke="{ACCENT}" stroke-width="1.6"/>'
    return line + head(x, y, dx, dy)


def down(x: float, top: float, bottom: float) -> str:
    """Arrow downwards."""
    return arrow(f"M {x:.0f} {top:.0f} V {bottom - 6:.0f}", x, bottom, 0, 1)


def heading(x: float, text: str) -> str:
    """Line of text above a column."""
    return f'<text x="{x:.0f}" y="22" font-size="14" fill="{ACCENT}" {FONT}>{escape(text)}</text>'


def stack(names: list[list[str]]) -> list[str]:
    """Layers, one above the other, with the compiled core at the bottom."""
    parts = [heading(40, "A module imports only from layers below its own")]
    for level, layer in enumerate(names):
        width = (LEFT - 50 - 8 * (len(layer) - 1)) / len(layer)
        for position, name in enumerate(layer):
            parts.append(
                box(40 + position * (width + 8), 36 + level * ROW, width, name, WHAT[name])
            )
    bottom = 36 + len(names) * ROW
    text = "arrays in, arrays out, in folders of the same names"
    parts.append(box(40, bottom, LEFT - 50, "_core (C++)", text))
    parts.append(down(20, 40, bottom + 36))
    return parts


def upwards(x: float, y: float, text: str, weight: str) -> str:
    """Line of text that is read from below, about a point."""
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" font-size="11" font-weight="{weight}" '
        f'text-anchor="middle" fill="{INK}" {FONT} '
        f'transform="rotate(-90 {x:.0f} {y:.0f})">{escape(text)}</text>'
    )


def loop(edge: float) -> list[str]:
    """Mutation, the way from the recorder back to descent."""
    titles = [title for title, _ in FLOW]
    descent, recorder = (36 + STEP * titles.index(name) + 19 for name in ("descent", "Recorder"))
    back = f"M {edge} {recorder} H {edge + 22} V {descent} H {edge + 6}"
    middle = (descent + recorder) / 2
    return [
        arrow(back, edge, descent, -1, 0),
        upwards(edge + 37, middle, "mutation", "bold"),
        upwards(edge + 51, middle, "perturb, relocate, recombine", "normal"),
    ]


def flow() -> list[str]:
    """Way of the data, from top to bottom."""
    x = WIDTH - RIGHT - 70
    parts = [heading(x, "The way of the data")]
    for position, (title, text) in enumerate(FLOW):
        y = 36 + position * STEP
        parts.append(box(x, y, RIGHT, title, text))
        if position:
            parts.append(down(x + RIGHT / 2, y - STEP + 38, y))
    return [*parts, *loop(x + RIGHT)]


def draw() -> str:
    """Give the whole picture."""
    names = layers()
    height = max(36 + (len(names) + 1) * ROW, 36 + STEP * len(FLOW)) + 4
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
            *stack(names),
            *flow(),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
