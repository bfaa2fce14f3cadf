"""Certificates of clusterings whose sizes are limited."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from kempe import KempeKMeans, certify
from kempe.exceptions import CertificateError
from kempe.proof import OptimalityCertificate


def lowest(X, k, least, most, cannot_link):
    """Lowest inertia of all clusterings within limits."""
    best = np.inf
    for labels in itertools.product(range(k), repeat=len(X)):
        sizes = np.bincount(labels, minlength=k)
        if (sizes < least).any() or (sizes > most).any():
            continue
        if any(labels[a] == labels[b] for a, b in cannot_link):
            continue
        own = np.array(labels)
        best = min(best, sum(X[own == c].var(axis=0).sum() * sizes[c] for c in range(k)))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_below_the_best_clustering_within_limits(seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, k = rng.normal(size=(8, 2)), int(rng.integers(2, 4))
    sizes = {"size_min": 8 // k, "size_max": -(-8 // k)}
    pairs = {"cannot_link": [(0, 1)]}
    model = KempeKMeans(k, random_state=0, **sizes).fit(X, **pairs)
    found = certify(X, model, time_limit=5, **pairs)
    assert found.lower_bound <= lowest(X, k, 8 // k, -(-8 // k), [(0, 1)]) * (1 + 1e-9)
    assert found.inertia == pytest.approx(model.inertia_)
    counts = np.bincount(found.labels)
    assert counts.min() >= sizes["size_min"]
    assert counts.max() <= sizes["size_max"]
    found.save(tmp_path / "proof.kempe")
    again = OptimalityCertificate.load(tmp_path / "proof.kempe")
    assert again.verify(X, **pairs, **sizes).lower_bound == found.lower_bound
    with pytest.raises(CertificateError, match="sizes"):
        again.verify(X, **pairs)
    with pytest.raises(CertificateError, match="sizes"):
        again.verify(X, **pairs, size_max=6)


def test_labels_that_break_limits_are_refused():
    X = np.arange(6.0)[:, None]
    with pytest.raises(ValueError, match="cluster 0 of the labels has 4 rows, not exactly 3"):
        certify(X, [0, 0, 0, 0, 1, 1], size_min=3, size_max=3)
    found = certify(X, [0, 0, 0, 1, 1, 1], size_min=3, size_max=3)
    wrong = replace(found, labels=np.array([0, 0, 0, 0, 1, 1], dtype=np.int32))
    with pytest.raises(CertificateError, match="cluster 0 has 4 rows, not 3 to 3"):
        wrong.verify(X, size_min=3, size_max=3)


def test_a_search_within_limits_comes_first_where_there_are_no_labels():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [9.0]])
    found = certify(X, n_clusters=3, size_max=2, random_state=0)
    assert np.bincount(found.labels).tolist() == [2, 2, 2]
    assert found.is_optimal
