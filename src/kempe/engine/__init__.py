"""Our own search: a population of clusterings, descended by sequential Kempe swaps."""

from kempe.engine.annealing import AnnealingDescent
from kempe.engine.kempe_kmeans import KempeKMeans
from kempe.engine.memetic import memetic_search
from kempe.engine.params import MemeticParams, SearchPlan
from kempe.engine.sequential import SequentialDescent

__all__ = [
    "AnnealingDescent",
    "KempeKMeans",
    "MemeticParams",
    "SearchPlan",
    "SequentialDescent",
    "memetic_search",
]
