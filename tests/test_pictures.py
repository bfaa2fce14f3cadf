"""The pictures of the documentation can be drawn, from the tables as they are now."""

from __future__ import annotations

import importlib
import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from pages import PAGES, ROOT

PICTURE = re.compile(r"^```\{picture\} (\w+)\.(\w+)$", re.MULTILINE)
USED = [used for page in PAGES for used in PICTURE.findall((ROOT / page).read_text("utf-8"))]


@pytest.fixture
def docs(monkeypatch):
    """Modules of the folder of the documentation, for as long as a test takes."""
    pytest.importorskip("matplotlib")
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if name.startswith("draw_") or name == "panels":
            del sys.modules[name]


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("module", "function"), USED)
def test_a_picture_is_drawn(module, function, docs):
    draw = getattr(docs(f"draw_{module}"), function)
    panels = docs("panels").drawn(draw)
    assert panels
    for panel in panels:
        drawing = ElementTree.fromstring(panel)
        assert drawing.get("aria-label")
        assert "currentColor" in panel  # the colour of the text, whatever the ground


def test_a_picture_is_the_same_every_time(docs):
    draw, drawn = docs("draw_how_it_works").swap, docs("panels").drawn
    assert drawn(draw) == drawn(draw)


def test_one_wrong_pair_joins_the_groups_if_it_is_hard_and_is_broken_if_it_is_soft(docs):
    source = docs("draw_soft_pairs")
    groups = np.repeat([0, 1], source.ROWS)
    for how in ("hard", "soft"):
        _, pairs, labels = source.fitted(how)
        broken = labels[pairs[:, 0]] != labels[pairs[:, 1]]
        assert np.flatnonzero(broken).tolist() == ([] if how == "hard" else [len(pairs) - 1])
        assert (labels == groups).all() == (how == "soft")


def test_a_swap_lowers_the_inertia_and_keeps_pairs_apart(docs):
    source = docs("draw_how_it_works")
    numbers = source.chains(source.EDGES, source.COLOURS, 0, 1)
    chain = numbers == numbers[source.NAMES.index("p")]
    after = source.COLOURS.copy()
    after[chain] = 1 - after[chain]
    assert (after[source.EDGES[:, 0]] != after[source.EDGES[:, 1]]).all()
    assert source.inertia(source.POINTS, after) < source.inertia(source.POINTS, source.COLOURS)
