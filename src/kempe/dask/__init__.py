"""Constrained k-means of rows that fit into no single memory, on a cluster of Dask.

Rows in no constraint stay where they are; only centroids and sums travel. Rows in constraints are
gathered once, and Kempe chains are swapped in one place. Needs the extra ``kempe[dask]``.
"""

from kempe.dask.kempe_kmeans import KempeKMeans

__all__ = ["KempeKMeans"]
