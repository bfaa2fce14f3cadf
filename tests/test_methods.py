"""The registry of rivals."""

from __future__ import annotations

import pytest

from kempe import methods
from kempe.estimators._base import ConstrainedClusterer

RIVALS = ["PCCC", "BLPKMCC", "S_MDEClust", "COPKM", "COPKM_P", "ICOPKM", "CLCKM"]


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_can_be_created_by_its_name(name):
    model = methods.create(name, n_clusters=3, random_state=0, time_limit=1.0)
    assert isinstance(model, ConstrainedClusterer)
    assert model.time_limit == 1.0
    assert name in methods.names()


def test_rivals_have_the_settings_of_the_paper():
    assert methods.create("S_MDEClust", 3).population_size == 10
    pccc = methods.create("PCCC", 3)
    assert (pccc.n_nearest, pccc.repositioning) == (10, "inertia")


def test_options_override_the_settings_of_the_paper():
    assert methods.create("S_MDEClust", 3, population_size=5).population_size == 5
    assert methods.create("COPKM", 3, init="random").init == "random"
