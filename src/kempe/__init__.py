"""K-means clustering under must-link and cannot-link constraints."""

from kempe.constraints import Constraints
from kempe.estimators import KempeKMeans
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError

__all__ = ["Constraints", "InfeasibleConstraintsError", "KempeKMeans", "NoSolutionFoundError"]
__version__ = "0.1.0"
