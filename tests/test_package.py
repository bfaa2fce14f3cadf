"""What the package says about itself, and its rules about imports."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import re
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


def test_the_entries_for_bibtex_say_what_the_citation_file_says():
    entries = (ROOT / "README.md").read_text(encoding="utf-8").split("```bibtex")[1].split("```")[0]
    told = " ".join(entries.replace("{", "").replace("}", "").split())
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for title in re.findall(r'title: "(.*)"', cited):
        assert title in told
    for name in re.findall(r"family-names: (.*)", cited):
        assert f"{name}, " in told
    assert f"version = {kempe.__version__}" in told


def test_the_package_is_typed():
    folder = Path(kempe.__file__).parent
    assert (folder / "py.typed").exists()
    assert (folder / "_core.pyi").exists()


def test_public_names_exist():
    for name in kempe.__all__:
        assert hasattr(kempe, name)


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_are_true(name):
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert results.failed == 0
    written = Path(module.__file__).read_text(encoding="utf-8").count(">>> ")
    assert results.attempted == written, "some examples are not found"


def test_the_lines_in_the_readme_work(capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = readme.split("```python\n")[1].split("```")[0]
    namespace = {}
    exec(lines, namespace)
    model, constraints = namespace["model"], namespace["constraints"]
    labels = model.labels_
    assert (labels[constraints.must_link[:, 0]] == labels[constraints.must_link[:, 1]]).all()
    assert (labels[constraints.cannot_link[:, 0]] != labels[constraints.cannot_link[:, 1]]).all()
    assert "inertia" in capsys.readouterr().out


def test_the_picture_of_the_architecture_is_up_to_date():
    path = ROOT / "docs" / "draw_architecture.py"
    spec = importlib.util.spec_from_file_location("draw_architecture", path)
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    assert drawing.PICTURE.read_text(encoding="utf-8") == drawing.draw()


def test_layers_import_only_what_is_below_them():
    lint_imports = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [lint_imports, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
