"""Kempe Swap K-Means, the algorithm of the paper: one file for each of its algorithms."""

from kempe.kskm.assignment import SimultaneousDescent
from kempe.kskm.estimator import KSKM
from kempe.kskm.exact import ExactDescent, ExactParams
from kempe.kskm.kskm import KSKMParams, Schedule, iterate, kskm_search
from kempe.kskm.shift import Relocation, Relocator

__all__ = [
    "KSKM",
    "ExactDescent",
    "ExactParams",
    "KSKMParams",
    "Relocation",
    "Relocator",
    "Schedule",
    "SimultaneousDescent",
    "iterate",
    "kskm_search",
]
