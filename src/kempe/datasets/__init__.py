"""The four benchmark collections of the Kempe swap k-means paper, with their constraints.

Seventy data sets in all: 25 small real ones (``COL1``), 15 small and densely constrained ones
(``COL2``), 24 of medium size (``COL3``) and 6 large ones (``COL4``). Collections 2 and 3 are
generated and need nothing; the others are read from a folder or downloaded.
"""

from kempe.datasets.catalogue import DatasetFacts, describe, levels, names
from kempe.datasets.constraint_sets import make_constraints
from kempe.datasets.loading import Dataset, load
from kempe.datasets.scaling import standardise
from kempe.datasets.sources import DataNotFoundError

__all__ = [
    "DataNotFoundError",
    "Dataset",
    "DatasetFacts",
    "describe",
    "levels",
    "load",
    "make_constraints",
    "names",
    "standardise",
]
