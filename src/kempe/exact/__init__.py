"""Exact assignment to fixed centroids, the graph colouring problem (7) of the paper.

Several methods use it: KSKM_E, BLPKM-CC, PCCC and S-MDEClust.
"""

from kempe.exact.annealing import anneal
from kempe.exact.assigner import ExactAssigner, ExactResult, Mode, Status
from kempe.exact.knowledge import SOLVERS, Aids, Solver

__all__ = ["SOLVERS", "Aids", "ExactAssigner", "ExactResult", "Mode", "Solver", "Status", "anneal"]
