"""Small problems for a cluster."""

from __future__ import annotations

import numpy as np


class Case:
    """Rows about a few centres, with pairs that hold for some clustering into k."""

    def __init__(self, seed, n_rows=1200, n_features=3, k=5, n_pairs=60):
        rng = np.random.default_rng(seed)
        group = rng.integers(k, size=n_rows)
        self.k = k
        self.X = rng.normal(size=(n_rows, n_features)) + 2 * rng.normal(size=(k, n_features))[group]
        pairs = rng.integers(n_rows, size=(n_pairs, 2))
        # Noise makes constraints bind: the groups are no longer what distances say.
        noisy = np.where(rng.random(n_rows) < 0.3, rng.integers(k, size=n_rows), group)
        same = noisy[pairs[:, 0]] == noisy[pairs[:, 1]]
        self.must_link = pairs[same]
        self.cannot_link = pairs[~same]
        self.init = self.X[rng.choice(n_rows, k, replace=False)]

    @property
    def pairs(self):
        return {"must_link": self.must_link, "cannot_link": self.cannot_link}
