"""Fixtures for the tests of searches."""

from __future__ import annotations

import pytest

from kempe.search.stop import SearchState


@pytest.fixture
def make_state():
    """State of a search, with defaults for what a test does not care about."""

    def make(**known) -> SearchState:
        defaults = {
            "iteration": 1,
            "inertia": 2.0,
            "best_inertia": 1.0,
            "objective": 2.0,
            "best_objective": 1.0,
            "since_best": 1,
            "elapsed": 0.1,
            "kind": "perturb",
        }
        return SearchState(**{**defaults, **known})

    return make
