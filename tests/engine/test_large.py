"""When the search of large data ends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from kempe import KempeKMeans
from kempe.engine import MemeticParams

GOES_ON = MemeticParams(worthwhile=0)


@pytest.fixture(scope="module")
def shapeless():
    """Rows without groups, where each search ends in a local optimum of its own."""
    return np.random.default_rng(0).normal(size=(20_000, 2))


@pytest.mark.slow
def test_large_data_is_searched_until_it_hardly_gains_any_more(shapeless):
    default, longer = (
        KempeKMeans(6, random_state=0, n_jobs=1, params=params).fit(shapeless)
        for params in (None, GOES_ON)
    )
    assert default.result_.stop_reason == "diminishing_returns"
    assert "ended, as it hardly gained any more" in default.result_.summary()
    assert default.result_.n_mutations < longer.result_.n_mutations / 2
    assert default.inertia_ <= longer.inertia_ * (1 + 3e-4)


def test_what_ends_large_data_does_not_depend_on_threads(shapeless):
    one, two = (KempeKMeans(4, random_state=0, n_jobs=n_jobs).fit(shapeless) for n_jobs in (1, 2))
    assert one.result_.stop_reason == two.result_.stop_reason == "diminishing_returns"
    assert one.result_.n_mutations == two.result_.n_mutations
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_less_data_and_a_number_of_mutations_are_searched_as_before(shapeless):
    few = shapeless[:500]
    default, longer = (
        KempeKMeans(4, random_state=0, params=params).fit(few) for params in (None, GOES_ON)
    )
    assert default.result_.statistics.objective == longer.result_.statistics.objective
    told = KempeKMeans(4, random_state=0, max_mutations=60).fit(shapeless)
    assert (told.result_.stop_reason, told.result_.n_mutations) == ("max_mutations", 60)


@pytest.mark.parametrize(
    ("supernodes", "least"), [(20_000, 48), (100_000, 48), (150_000, 32), (10**6, 16)]
)
def test_the_longer_a_mutation_takes_the_fewer_must_do(supernodes, least):
    rule = MemeticParams().enough(SimpleNamespace(n_supernodes=supernodes))
    assert rule.least == least
    assert MemeticParams().enough(SimpleNamespace(n_supernodes=19_999)) is None
