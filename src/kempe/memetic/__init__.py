"""Our own search: a population of clusterings, descended by sequential Kempe swaps."""

from kempe.memetic.annealing import AnnealingDescent
from kempe.memetic.kempe_kmeans import KempeKMeans
from kempe.memetic.memetic import memetic_search
from kempe.memetic.params import MemeticParams, Plan
from kempe.memetic.sequential import SequentialDescent

__all__ = [
    "AnnealingDescent",
    "KempeKMeans",
    "MemeticParams",
    "Plan",
    "SequentialDescent",
    "memetic_search",
]
