"""Clusterers with scikit-learn's interface."""

from kempe.estimators.kempe_kmeans import KempeKMeans

__all__ = ["KempeKMeans"]
