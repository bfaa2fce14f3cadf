"""Pictures of clusterings. Needs matplotlib: ``pip install "kempe[plot]"``."""

from kempe.plotting.certificate import CertificateDisplay
from kempe.plotting.choice import plot_choice
from kempe.plotting.clusters import plot_clusters
from kempe.plotting.convergence import plot_convergence
from kempe.plotting.graph import plot_constraint_graph

__all__ = [
    "CertificateDisplay",
    "plot_choice",
    "plot_clusters",
    "plot_constraint_graph",
    "plot_convergence",
]
