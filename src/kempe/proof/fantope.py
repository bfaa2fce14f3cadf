"""Projection onto the matrices Y with Y u = u, trace k and 0 <= Y <= I, by leading eigenvectors.

Orthogonal to u, eigenvalues are shifted by a common level and clipped to [0, 1] so that their sum
is k - 1. Those below the level vanish, so only the leading ones are needed. They change little from
call to call: a block of vectors is filtered by a Chebyshev polynomial of the matrix, which damps
everything below the block, and rotated to Ritz vectors.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, eigsh

from kempe.proof.relaxation import Floats, Singles

# Below this size, or with more vectors than this share of all, a full decomposition is faster.
SMALL = 100
LARGE_SHARE = 0.25
# Above this size a full decomposition takes longer than all else; Lanczos iterations start then.
LANCZOS_ABOVE = 3000
# A full decomposition now and then finds directions that the block has lost.
EXACT_EVERY = 50
DEGREE, LOW_DEGREE = 6, 3
MOST_PASSES = 4


class Fantope:
    """The set, and the leading eigenvectors of what was projected onto it last.

    Parameters
    ----------
    unit
        u, of norm 1.
    n_clusters
        k.
    exact
        Whether vectors are filtered until they are eigenvectors to the tolerance; else once.
    seed
        For vectors that are added to the block when it turns out too small.
    """

    def __init__(self, unit: Floats, n_clusters: int, exact: bool = True, seed: int = 0) -> None:
        self._unit = unit.astype(np.float32)
        self._n_clusters = n_clusters
        self._exact = exact
        self._rng = np.random.default_rng(seed)
        self._block: Singles | None = None
        self._interval = (0.0, 0.0)
        self._top = 0.0
        self._lowest = self._unit
        self._calls = 0
        self.tolerance = 1e-3

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self._unit.size)

    def factor(self, matrix: Singles) -> Singles:
        """B with u u' + B B' the nearest matrix of the set."""
        self._calls += 1
        rest = self._deflated(matrix)
        while True:
            values, vectors = self._leading(rest)
            _, share = clip_level(values, self._n_clusters - 1)
            rank = int(np.count_nonzero(share))
            if rank < values.size or values.size == self.size - 1:
                break
            self._widen(vectors)
        self._keep(values, vectors, rank)
        return np.ascontiguousarray(vectors[:, :rank] * np.sqrt(share[:rank]).astype(np.float32))

    def _leading(self, matrix: Singles) -> tuple[Floats, Singles]:
        """Leading eigenvalues, largest first, and their vectors, orthogonal to u."""
        width = self.size if self._block is None else self._block.shape[1]
        if self.size > LANCZOS_ABOVE:
            return self._lanczos(matrix) if self._block is None else self._filtered(matrix)
        due = self.size < SMALL or self._calls % EXACT_EVERY == 0
        if due or width > LARGE_SHARE * self.size:
            return self._decomposed(matrix)
        return self._filtered(matrix)

    def _deflated(self, matrix: Singles) -> Singles:
        """P M P. M maps u to something long, which would drown the rest in rounding errors."""
        u = self._unit
        image = matrix @ u
        image -= (float(u @ image) / 2) * u
        return matrix - np.multiply.outer(u, image) - np.multiply.outer(image, u)

    def _decomposed(self, matrix: Singles) -> tuple[Floats, Singles]:
        # u is sent to the lower end of the spectrum, where it does not count.
        low = float(np.linalg.norm(matrix))
        values, vectors = linalg.eigh(
            matrix - low * np.multiply.outer(self._unit, self._unit),
            driver="evd",
            overwrite_a=True,
            check_finite=False,
        )
        self._lowest = np.ascontiguousarray(vectors[:, 1])
        return values[:0:-1].astype(np.float64), vectors[:, :0:-1]

    def _lanczos(self, matrix: Singles) -> tuple[Floats, Singles]:
        count = min(self.size - 2, 2 * self._n_clusters + 8)
        operator = LinearOperator(
            matrix.shape, matvec=lambda v: self._apply(matrix, self._orthogonal(v)), dtype="f4"
        )
        start = self._orthogonal(self._rng.normal(size=self.size).astype(np.float32))
        values, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=1e-3)
        _, lowest = eigsh(operator, k=1, which="SA", v0=start, tol=1e-2)
        self._lowest = np.ascontiguousarray(lowest[:, 0], dtype=np.float32)
        return values[::-1].astype(np.float64), vectors[:, ::-1].astype(np.float32)

    def _filtered(self, matrix: Singles) -> tuple[Floats, Singles]:
        """Filter until the vectors that matter are eigenvectors, as nearly as is needed."""
        self._follow_lower_end(matrix)
        if not self._exact:
            values, vectors, _ = self._pass(matrix, LOW_DEGREE)
            return values, vectors
        for _ in range(MOST_PASSES):
            values, vectors, images = self._pass(matrix, DEGREE)
            _, share = clip_level(values, self._n_clusters - 1)
            error = (images - vectors * values.astype(np.float32)) * share.astype(np.float32)
            if float(np.linalg.norm(error)) <= self.tolerance:
                return values, vectors
            self._block = vectors
        return self._decomposed(matrix) if self.size <= LANCZOS_ABOVE else (values, vectors)

    def _pass(self, matrix: Singles, degree: int) -> tuple[Floats, Singles, Singles]:
        """Ritz values and vectors of the filtered block, and what the matrix makes of them."""
        assert self._block is not None
        low, high = self._interval
        centre, half = (high + low) / 2, max((high - low) / 2, 1e-6)
        scale = half / max(self._top - centre, half)
        first, before = scale, self._block
        now = (self._apply(matrix, before) - centre * before) * (scale / half)
        for _ in range(degree - 1):
            following = 1 / (2 / first - scale)
            after = self._apply(matrix, now)
            after -= centre * now
            after *= 2 * following / half
            after -= (scale * following) * before
            before, now, scale = now, after, following
        basis, _ = linalg.qr(
            self._orthogonal(now), mode="economic", overwrite_a=True, check_finite=False
        )
        images = self._apply(matrix, basis)
        small = (basis.T @ images).astype(np.float64)
        values, rotation = linalg.eigh((small + small.T) / 2)
        turned = np.ascontiguousarray(rotation[:, ::-1], dtype=np.float32)
        return values[::-1], basis @ turned, images @ turned

    def _follow_lower_end(self, matrix: Singles) -> None:
        """Keep the lower end of the spectrum inside the interval that is damped."""
        vector = self._lowest
        image = self._apply(matrix, vector)
        value = float(vector @ image)
        error = float(np.linalg.norm(image - value * vector))
        low = min(value - error, 0.0)
        self._interval = (low - 0.05 * abs(low), self._interval[1])
        turned = image - np.float32(self._top) * vector
        self._lowest = turned / np.float32(max(float(np.linalg.norm(turned)), 1e-30))

    def _apply(self, matrix: Singles, vectors: Singles) -> Singles:
        return self._orthogonal(matrix @ vectors)

    def _orthogonal(self, vectors: Singles) -> Singles:
        return vectors - np.multiply.outer(self._unit, self._unit @ vectors)

    def _widen(self, vectors: Singles) -> None:
        """Add random vectors to a block that ends above the level."""
        more = min(self.size - 1 - vectors.shape[1], vectors.shape[1] // 2 + 4)
        new = self._rng.normal(size=(self.size, more)).astype(np.float32)
        both = np.hstack([vectors, self._orthogonal(new)])
        self._block = np.ascontiguousarray(linalg.qr(both, mode="economic")[0])

    def _keep(self, values: Floats, vectors: Singles, rank: int) -> None:
        """Keep as many vectors as the next call will need, with a few to spare."""
        width = min(values.size, rank + max(5, rank // 5))
        self._block = np.ascontiguousarray(vectors[:, :width])
        self._top = float(values[0])
        self._interval = (self._interval[0], float(values[min(width, values.size - 1)]))


def clip_level(values: Floats, total: int) -> tuple[float, Floats]:
    """Find the level t for which the values less t, clipped to [0, 1], have the given sum.

    Returns t and the clipped values.
    """
    ends = np.sort(np.concatenate([values, values - 1]))
    low, high = 0, ends.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(values - ends[middle], 0, 1).sum() >= total:
            low = middle
        else:
            high = middle
    sums = [float(np.clip(values - ends[end], 0, 1).sum()) for end in (low, high)]
    share = (sums[0] - total) / (sums[0] - sums[1]) if sums[0] > sums[1] else 0.0
    level = float(ends[low] + share * (ends[high] - ends[low]))
    return level, np.clip(values - level, 0, 1)
