import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def own_methods(monkeypatch):
    """Let worker processes import the estimators of the tests."""
    monkeypatch.setattr(sys, "path", [str(HERE), *sys.path])
    return HERE


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("KEMPE_DATA", raising=False)
