"""Fixtures that several test modules use."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared():
    """Folder with the reference data; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("KEMPE_SHARED") or Path(__file__).parents[1].parent / "shared")
    if not (folder / "data").is_dir():
        pytest.skip("reference data is absent")
    return folder
