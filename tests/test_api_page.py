"""The reference has everything that is public, and explains every argument."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import kempe

PAGE = (Path(__file__).parents[1] / "docs" / "api.rst").read_text(encoding="utf-8")
LISTED = re.compile(r"^\.\. (?:current)?module:: ([\w.]+)|^   ([\w.]+)$", re.MULTILINE)
SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w[^\n:]*?)(?: *:.*)?$", re.MULTILINE)


def listed(page: str) -> list[str]:
    """Full names of what a page lists."""
    names, module = [], ""
    for new_module, name in LISTED.findall(page):
        module = new_module or module
        if name:
            names.append(f"{module}.{name}")
    return names


# What recurs in the inner parts is explained once, in a table.
_, _INNER = PAGE.split("\nInside\n")
COMMON = set(re.findall(r"\* - ``(\w+)``", _INNER))
INSIDE = set(listed(_INNER))


def found(name: str) -> Any:
    """The thing of this name."""
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            thing = getattr(thing, part)
        return thing
    raise LookupError(name)


def methods(cls: type) -> dict[str, list[Any]]:
    """Public methods of a class, each as it stands in the classes that have it.

    Those that come from other packages are documented there.
    """
    found: dict[str, list[Any]] = {}
    for base in cls.__mro__:
        if base.__module__.startswith("kempe"):
            for name, value in vars(base).items():
                if not name.startswith("_") and isinstance(value, (FunctionType, classmethod)):
                    found.setdefault(name, []).append(getattr(base, name))
    return found


def explained(text: str) -> set[str]:
    """Names that have an entry among the parameters or attributes of a docstring."""
    _, *parts = SECTION.split(inspect.cleandoc(text))
    entries = "".join(
        body
        for title, body in zip(parts[::2], parts[1::2], strict=True)
        if title in ("Parameters", "Attributes")
    )
    return {name.strip(" *") for line in ENTRY.findall(entries) for name in line.split(",")}


def is_plain_exception(thing: Any) -> bool:
    """Whether it takes a message as all exceptions do."""
    return (
        isinstance(thing, type) and issubclass(thing, Exception) and "__init__" not in vars(thing)
    )


def silent_about(versions: list[Any], known: set[str]) -> set[str]:
    """Arguments of the first that no docstring explains."""
    arguments = set(inspect.signature(versions[0]).parameters) - {"self", "args", "kwargs"}
    return arguments.difference(known, *(explained(thing.__doc__ or "") for thing in versions))


@pytest.mark.parametrize("name", listed(PAGE))
def test_every_argument_is_explained(name):
    thing = found(name)
    known = COMMON if name in INSIDE else set()
    versions = methods(thing) if inspect.isclass(thing) else {}
    if not is_plain_exception(thing):
        versions[name] = [thing]
    silent = {key: silent_about(value, known) for key, value in versions.items()}
    assert not {key: names for key, names in silent.items() if names}


def test_everything_public_is_listed():
    names = {name.rpartition(".")[2] for name in listed(PAGE)}
    assert set(kempe.__all__) <= names
