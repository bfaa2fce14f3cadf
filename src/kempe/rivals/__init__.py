"""The methods that the paper compares with, and PCKMeans, each with its own assignment step."""

from kempe.rivals.blpkmcc import BLPKMCC
from kempe.rivals.clckm import CLCKM
from kempe.rivals.copkm import COPKM
from kempe.rivals.copkm_p import COPKM_P
from kempe.rivals.icopkm import ICOPKM
from kempe.rivals.pccc import PCCC
from kempe.rivals.pckmeans import PCKMeans
from kempe.rivals.s_mdeclust import S_MDEClust

__all__ = [
    "BLPKMCC",
    "CLCKM",
    "COPKM",
    "COPKM_P",
    "ICOPKM",
    "PCCC",
    "PCKMeans",
    "S_MDEClust",
]
