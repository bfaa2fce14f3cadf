"""The plane that data is drawn in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Plane:
    """The two features as they are, or the first two principal components of more.

    Attributes
    ----------
    mean, basis
        Origin of the plane, and its two directions as columns.
    shares
        Share of the variance that each direction shows.
    """

    mean: NDArray[np.float64]
    basis: NDArray[np.float64]
    shares: tuple[float, float]

    @classmethod
    def of(cls, data: NDArray[Any]) -> Plane:
        """Find the plane in which the rows differ most."""
        n_rows, n_features = data.shape
        if n_features <= 2 or n_rows < 2:
            return cls(np.zeros(n_features), np.eye(n_features, 2), (1.0, 0.0))
        from sklearn.decomposition import PCA

        # Chooses by the shape of the data how, with thousands of features by a randomised method.
        with np.errstate(invalid="ignore"):  # equal rows have no variance to share
            found = PCA(2, random_state=0).fit(data)
        first, second = np.nan_to_num(found.explained_variance_ratio_).tolist()
        return cls(found.mean_, found.components_.T, (first, second))

    def place(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """Coordinates of some rows."""
        return (rows - self.mean) @ self.basis
