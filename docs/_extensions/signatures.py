"""Signatures as the source has them: ``ArrayLike``, not the dozen types that it stands for."""

from __future__ import annotations

import inspect
import re
from typing import Any

from sphinx.application import Sphinx

TITLED = re.compile(r":(?:ref|term):`([^<`]+?)\s*<[^`]*>`")
SHARED = re.compile(r"(?<![\w.~])KempeKMeans\b")
"""``kempe`` and ``kempe.dask`` have an estimator of this name each."""
BARE = re.compile(r":(?:ref|term):`[^`]*`")


class Written(str):
    """An annotation that prints without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _written(annotation: Any, module: str) -> Any:
    """Give what stands in the source of a module, and say whose estimator a shared name means."""
    if not isinstance(annotation, str):
        return annotation
    owner = "kempe.dask" if module.startswith("kempe.dask") else "kempe"
    return Written(SHARED.sub(f"~{owner}.KempeKMeans", annotation))


def as_written(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, given: str, returned: str
) -> tuple[str, str] | None:
    """Give the signature with annotations unevaluated."""
    if what not in ("class", "exception", "function", "method") or not given:
        return None
    try:
        signature = inspect.signature(obj)
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())
    if what == "method" and parameters and parameters[0].name == "self":
        parameters = parameters[1:]
    module = getattr(obj, "__module__", None) or ""
    plain = signature.replace(
        parameters=[p.replace(annotation=_written(p.annotation, module)) for p in parameters],
        return_annotation=inspect.Signature.empty,
    )
    result = _written(signature.return_annotation, module)
    shown = result if isinstance(result, str) and what in ("function", "method") else ""
    return str(plain), shown


def drop_references(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Keep only the words of references in what is inherited: they lead into other manuals."""
    module = inspect.getmodule(inspect.unwrap(obj)) if callable(obj) else None
    if module is not None and not module.__name__.startswith("kempe"):
        lines[:] = [BARE.sub("scikit-learn's manual", TITLED.sub(r"\1", line)) for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with autodoc."""
    app.connect("autodoc-process-signature", as_written)
    app.connect("autodoc-process-docstring", drop_references, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
