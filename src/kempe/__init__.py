"""K-means clustering under must-link and cannot-link constraints."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from kempe.exceptions import FileFormatError, InfeasibleConstraintsError, NoSolutionFoundError

if TYPE_CHECKING:
    from kempe.bench.comparison import compare
    from kempe.constraints import Constraints
    from kempe.contradictions import relax
    from kempe.engine import KempeKMeans
    from kempe.kskm import KSKM
    from kempe.methods import load
    from kempe.proof.certify import certify
    from kempe.selection import choose_k

__all__ = [
    "KSKM",
    "Constraints",
    "FileFormatError",
    "InfeasibleConstraintsError",
    "KempeKMeans",
    "NoSolutionFoundError",
    "certify",
    "choose_k",
    "compare",
    "load",
    "relax",
]
__version__ = "0.1.0"

# NumPy and scikit-learn take a second to import, so what needs them is loaded on first use.
_LOADED_LATE = {
    "Constraints": "kempe.constraints",
    "KSKM": "kempe.kskm",
    "KempeKMeans": "kempe.engine",
    "certify": "kempe.proof.certify",
    "choose_k": "kempe.selection",
    "compare": "kempe.bench.comparison",
    "datasets": "kempe.datasets",
    "load": "kempe.methods",
    "methods": "kempe.methods",
    "plotting": "kempe.plotting",
    "relax": "kempe.contradictions",
    "rivals": "kempe.rivals",
    "selection": "kempe.selection",
}


def __getattr__(name: str) -> object:
    if name not in _LOADED_LATE:
        raise AttributeError(f"module 'kempe' has no attribute {name!r}")
    module = importlib.import_module(_LOADED_LATE[name])
    return module if module.__name__ == f"kempe.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LOADED_LATE})
