"""Clusterers with scikit-learn's interface."""

from kempe.estimators.blpkmcc import BLPKMCC
from kempe.estimators.clckm import CLCKM
from kempe.estimators.copkm import COPKM
from kempe.estimators.copkm_p import COPKM_P
from kempe.estimators.icopkm import ICOPKM
from kempe.estimators.kempe_kmeans import KempeKMeans
from kempe.estimators.pccc import PCCC
from kempe.estimators.s_mdeclust import S_MDEClust

__all__ = [
    "BLPKMCC",
    "CLCKM",
    "COPKM",
    "COPKM_P",
    "ICOPKM",
    "PCCC",
    "KempeKMeans",
    "S_MDEClust",
]
