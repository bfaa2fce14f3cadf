"""Clusterers with scikit-learn's interface."""

from kempe.estimators.clckm import CLCKM
from kempe.estimators.copkm import COPKM
from kempe.estimators.copkm_p import COPKM_P
from kempe.estimators.icopkm import ICOPKM

__all__ = ["CLCKM", "COPKM", "COPKM_P", "ICOPKM"]
