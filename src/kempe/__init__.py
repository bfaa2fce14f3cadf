"""K-means clustering under must-link and cannot-link constraints."""

from typing import TYPE_CHECKING, Any

from kempe.constraints import Constraints
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError

if TYPE_CHECKING:
    from kempe.estimators import KempeKMeans

__all__ = ["Constraints", "InfeasibleConstraintsError", "KempeKMeans", "NoSolutionFoundError"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import the estimator when it is first asked for: scikit-learn takes a second or two."""
    if name == "KempeKMeans":
        from kempe.estimators import KempeKMeans

        return KempeKMeans
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
