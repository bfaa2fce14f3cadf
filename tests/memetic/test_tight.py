"""The cases of collection 1 without must-link pairs on which Kempe swaps alone fail."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from kempe import methods

# Lowest mean inertia of any method in the paper; the constraint sets of vehicle are not the
# paper's own, so there only feasibility counts.
CASES = [
    ("hayes-roth", 0.2, 535.77),
    ("tae", 0.2, 678.54),
    ("vehicle", 0.15, np.inf),
    ("vehicle", 0.2, 13334.18),
]


@pytest.fixture
def cannot_link_only(shared):
    def load(name, level):
        folder = shared / "data" / "COL1"
        with np.load(folder / f"{name}.npz") as data:
            X, y = data["X"].astype(np.float64), data["y"]
        with np.load(folder / f"{name}_constraints.npz") as pairs:
            return StandardScaler().fit_transform(X), pairs[f"cl_{level}"], np.unique(y).size

    return load


@pytest.mark.slow
@pytest.mark.parametrize(("name", "level", "published"), CASES)
def test_the_default_matches_the_best_published_inertia(cannot_link_only, name, level, published):
    X, pairs, k = cannot_link_only(name, level)
    model = methods.create("kempe", n_clusters=k, random_state=0).fit(X, cannot_link=pairs)
    assert (model.labels_[pairs[:, 0]] != model.labels_[pairs[:, 1]]).all()
    assert model.inertia_ <= published


@pytest.mark.slow
@pytest.mark.parametrize(("name", "level"), [case[:2] for case in CASES])
def test_the_exact_refinement_always_finds_a_clustering(cannot_link_only, name, level):
    X, pairs, k = cannot_link_only(name, level)
    model = methods.create("KSKM_E", n_clusters=k, random_state=0, max_mutations=5)
    model.fit(X, cannot_link=pairs)
    assert (model.labels_[pairs[:, 0]] != model.labels_[pairs[:, 1]]).all()
