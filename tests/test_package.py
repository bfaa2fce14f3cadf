"""What the package says about itself, and its rules about imports."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import kempe

ROOT = Path(__file__).parents[1]


def modules():
    found = [kempe.__name__]
    found += [m.name for m in pkgutil.walk_packages(kempe.__path__, "kempe.")]
    return [name for name in found if not name.endswith(("._core", ".__main__"))]


def test_all_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert kempe.__version__ == project["version"] == metadata.version("kempe")
    assert f"version: {kempe.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## [{kempe.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_package_is_typed():
    folder = Path(kempe.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


def test_public_names_exist():
    for name in kempe.__all__:
        assert hasattr(kempe, name)


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_are_true(name):
    results = doctest.testmod(
        importlib.import_module(name),
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert results.failed == 0


def test_layers_import_only_what_is_below_them():
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
