"""Exact assignment to fixed centroids, the graph colouring problem (7) of the paper."""

from kempe.assign.exact.assigner import ExactAssigner, ExactResult, exact_assignment
from kempe.assign.exact.descent import ExactDescent

__all__ = ["ExactAssigner", "ExactDescent", "ExactResult", "exact_assignment"]
