"""The generator of constraint sets, against a slow twin and against the published counts."""

import csv

import numpy as np
import pytest

from kempe import datasets
from kempe.datasets.constraint_sets import published_level

# Must-link and cannot-link pairs of a few published sets, by name and level.
PUBLISHED = {
    ("COL2/n300-k10-s10", 0.15): (89, 946),
    ("COL2/n300-k50-s20", 0.35): (106, 5459),
    ("COL3/n500-k10", 0.05): (26, 274),
    ("COL3/n2000-k100", 0.05): (58, 4892),
}


def slow_twin(y, level, seed):
    """Follow the description of the generator pair by pair."""
    n = len(y)
    objects = int(np.ceil(n * level))
    wanted = objects * (objects - 1) // 2
    legacy = np.random.RandomState(seed)
    held = set()
    while len(held) < wanted:
        first = legacy.randint(0, n, wanted)
        second = legacy.randint(0, n, wanted)
        for a, b in zip(first.tolist(), second.tolist(), strict=True):
            if a != b:
                held.add((min(a, b), max(a, b)))
    kept = sorted(held)[:wanted]
    return [p for p in kept if y[p[0]] == y[p[1]]], [p for p in kept if y[p[0]] != y[p[1]]]


@pytest.mark.parametrize("n_rows", [1, 2, 30, 101])
@pytest.mark.parametrize("level", [0.0, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("seed", [24, 7])
def test_pairs_equal_those_of_the_description(n_rows, level, seed):
    y = np.random.default_rng(n_rows).integers(0, 4, n_rows)
    constraints = datasets.make_constraints(y, level, seed)
    must, cannot = slow_twin(y, level, seed)
    assert [tuple(pair) for pair in constraints.must_link.tolist()] == must
    assert [tuple(pair) for pair in constraints.cannot_link.tolist()] == cannot


@pytest.mark.parametrize(("name", "level"), PUBLISHED)
def test_generated_sets_have_the_published_counts(name, level):
    constraints = datasets.load(name, level).constraints
    found = (len(constraints.must_link), len(constraints.cannot_link))
    assert found == PUBLISHED[name, level]


def test_levels_of_collection_2_are_the_floats_it_was_made_with():
    assert published_level("COL2", 0.15) > 0.15
    assert np.ceil(300 * published_level("COL2", 0.15)) == 46
    assert published_level("COL3", 0.15) == 0.15
    assert published_level("COL2", 0.123) == 0.123


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="one-dimensional"):
        datasets.make_constraints([[0, 1]], 0.1)
    with pytest.raises(ValueError, match="between 0 and 1"):
        datasets.make_constraints([0, 1], 5)


@pytest.mark.parametrize(
    ("collections", "count"),
    [
        pytest.param({"COL2", "COL3"}, 246, marks=pytest.mark.slow),
        pytest.param({"COL4"}, 18, marks=pytest.mark.stress),  # millions of pairs
    ],
)
def test_all_264_cells_of_collections_2_to_4_match_the_manifest(shared, collections, count):
    cells = 0
    with open(shared / "data" / "manifest.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["collection"] not in collections:
                continue
            y = labels(shared / "data" / row["collection"], row["name"])
            level = published_level(row["collection"], float(row["level"]))
            made = datasets.make_constraints(y, level)
            assert len(made.must_link) == int(row["ml"]), row
            assert len(made.cannot_link) == int(row["cl"]), row
            cells += 1
    assert cells == count


def labels(folder, name):
    path = folder / f"{name}.npz"
    return np.load(path if path.exists() else folder / f"{name}_labels.npz")["y"]
