"""How alike rows are: several similarities, of which answers choose the one that predicts best.

A similarity is a matrix over sites: distinct rows, or centres of small cells where rows are many.
What is known of some rows spreads to others in proportion to it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

Floats = NDArray[np.float64]

# Up to so many distinct rows each is a site of its own.
MOST_SITES = 1200
# Cells are found on so many rows, with so few rounds: they only have to be small.
CELLS_FROM = 12_000
CELL_ROUNDS = 8

# Neighbours in the graph along which answers spread, and the one that sets the scale of a site.
NEIGHBOURS = 10
SCALE_OF = 6
# How far they spread: the share that is handed on in each step.
FAR, NEAR = 0.99, 0.9
# Cells of these multiples of the number of clusters; a smaller common cell says more.
CELL_COUNTS = (1, 2, 4, 8, 16)
# Power of the distance; high, so that the nearest known row counts most.
POWER = 4.0


@dataclass(frozen=True, eq=False)
class Sites:
    """Places that stand for rows.

    Attributes
    ----------
    of_row
        Site of each row.
    points
        Where the sites are.
    size
        Rows of each site.
    rows
        Rows site by site, those nearest to the site first; ``offsets`` says where each begins.
    offsets
        Where the rows of each site begin, and the end of the last.
    """

    of_row: NDArray[np.int64]
    points: Floats
    size: NDArray[np.int64]
    rows: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, X: Floats, rng: np.random.Generator) -> Sites:
        """Take distinct rows, or small cells if there are too many of them.

        Parameters
        ----------
        X
            All rows.
        rng
            Source of randomness.
        """
        points, of_row = np.unique(X, axis=0, return_inverse=True)
        of_row = of_row.ravel()
        if len(points) > MOST_SITES:
            points, of_row = _cells(X, rng)
        size = np.bincount(of_row, minlength=len(points))
        away = ((X - points[of_row]) ** 2).sum(axis=1)
        rows = np.lexsort((away, of_row))
        return cls(of_row, points, size, rows, np.concatenate([[0], np.cumsum(size)]))

    def members(self, site: int) -> NDArray[np.int64]:
        """Give the rows of a site, the nearest first."""
        return self.rows[self.offsets[site] : self.offsets[site + 1]]


def _cells(X: Floats, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64]]:
    from sklearn.cluster import KMeans

    some = X[rng.choice(len(X), min(CELLS_FROM, len(X)), replace=False)]
    seed = int(rng.integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of cells that did not settle, or coincide
        found = KMeans(MOST_SITES, init="random", n_init=1, max_iter=CELL_ROUNDS, random_state=seed)
        found.fit(some)
        nearest = found.predict(X)
    used, of_row = np.unique(nearest, return_inverse=True)
    return found.cluster_centers_[used], of_row.ravel()


def similarities(sites: Sites, n_clusters: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Give all similarities by their names; each site is as similar to itself as 1.

    Parameters
    ----------
    n_clusters
        Number of clusters, which says how small cells are.
    rng
        Source of randomness.
    """
    distances = cdist(sites.points, sites.points)
    found = {
        "paths": _along_paths(distances, FAR),
        "neighbours": _along_paths(distances, NEAR),
        "cells": _common_cells(sites, n_clusters, rng),
        "distance": _nearness(distances),
    }
    return {name: _normalised(matrix) for name, matrix in found.items()}


def _normalised(matrix: Floats) -> Floats:
    own = np.sqrt(np.diag(matrix))
    scaled: Floats = matrix / own[:, None] / own
    return scaled


def _along_paths(distances: Floats, share: float) -> Floats:
    """Spread along the nearest neighbours, as Zhou and others (2004) do, solved once for all."""
    m = len(distances)
    near = min(NEIGHBOURS, m - 1)
    if near < 1:
        return np.ones((m, m))
    order = np.argpartition(distances, near, axis=1)[:, : near + 1]
    steps = np.sort(np.take_along_axis(distances, order, 1), axis=1)
    scale = steps[:, min(SCALE_OF, near)]
    scale = np.maximum(scale, 1e-3 * (scale.mean() or 1.0))
    weight = np.zeros((m, m))
    rows = np.arange(m)[:, None]
    lengths = np.take_along_axis(distances, order, 1) ** 2
    weight[rows, order] = np.exp(-lengths / (scale[:, None] * scale[order]))
    weight = np.maximum(weight, weight.T)
    np.fill_diagonal(weight, 0.0)
    degree = np.sqrt(np.maximum(weight.sum(axis=1), 1e-12))
    step = weight / degree[:, None] / degree
    return np.asarray(np.linalg.inv(np.eye(m) - share * step))


def _common_cells(sites: Sites, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Count how often two sites share a cell, from coarse cells to fine ones."""
    from sklearn.cluster import KMeans

    m = len(sites.points)
    shared = np.full((m, m), 1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for times in CELL_COUNTS:
            cells = min(n_clusters * times, max(1, m // 2))
            model = KMeans(cells, n_init=1, max_iter=50, random_state=int(rng.integers(2**31)))
            found = model.fit_predict(sites.points, sample_weight=sites.size.astype(np.float64))
            shared += times * (found[:, None] == found)
    return shared


def _nearness(distances: Floats) -> Floats:
    apart = np.where(distances > 0, distances, np.inf).min(axis=1)
    apart = apart[np.isfinite(apart)]
    least = 0.1 * float(np.median(apart)) if apart.size else 1.0
    # In units of the data: powers of its own numbers would leave the range of doubles before it.
    nearness: Floats = (distances / least + 1.0) ** -POWER
    return nearness
