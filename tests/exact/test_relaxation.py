from __future__ import annotations

import numpy as np
import pytest

from kempe.exact.relaxation import _worth_it


@pytest.mark.parametrize("seed", range(30))
def test_as_many_of_the_nearest_are_worth_it_as_neighbours_can_take_and_one(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(1, 30)), int(rng.integers(1, 9))
    # Few values, so that many are equal, and some that are not allowed.
    costs = rng.integers(4, size=(m, k)).astype(float)
    costs[rng.random((m, k)) < 0.2] = np.inf
    degree = rng.integers(12, size=m)
    expected = np.zeros((m, k), dtype=bool)
    for v in range(m):
        expected[v, np.argsort(costs[v], kind="stable")[: degree[v] + 1]] = True
    np.testing.assert_array_equal(_worth_it(costs, degree), expected)
