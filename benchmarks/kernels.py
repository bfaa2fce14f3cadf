"""Run one kernel of the core a number of times; ``instructions.py`` starts this under callgrind.

Only NumPy is imported, and the core is loaded from its file without the package around it, because
an interpreter under callgrind runs fifty times slower.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np

LONG = 1e9  # seconds: the clock must not decide how much work is done


class Kernels:
    """Kernels on fixed inputs, one method each."""

    def __init__(self, core: Any, folder: Path) -> None:
        self.core = core
        self.data = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        self.instance = self._instance("offsets", "targets")
        self.free_instance = self._instance("no_offsets", "no_targets")
        self.n_clusters = len(self.data["centroids"])

    def _instance(self, *edges: str) -> Any:
        graph = self.core.Graph(*[self.data[name] for name in edges])
        parts = ("rows", "merged", "source", "weight")
        return self.core.Instance(*[self.data[name] for name in parts], graph)

    def supernodes_and_graph(self) -> None:
        """Merge must-linked rows, then make the cannot-link graph."""
        n_rows = len(self.data["supernode"])
        supernode, size = self.core.supernodes(n_rows, self.data["must_link"])
        self.core.cannot_link_graph(supernode, size, self.data["cannot_link"])

    def kmeans_plus_plus(self) -> None:
        """Draw starting centroids."""
        candidates = np.arange(self.data["weight"].size, dtype=np.int32)
        self.core.kmeans_plus_plus(self.instance, candidates, self.n_clusters, 1)

    def saturation_assignment(self) -> None:
        """Assign in saturation order."""
        self.core.saturation_assignment(self.instance, self.data["centroids"])

    def sequential_descent(self) -> None:
        """Descend from the first assignment to a local optimum."""
        search = self.core.SequentialSearch(self.instance, self.n_clusters)
        search.descend(self.data["start"], self.core.Stopper(LONG))

    def unconstrained_descent(self) -> None:
        """Descend where no vertex has an edge."""
        search = self.core.SequentialSearch(self.free_instance, self.n_clusters)
        search.descend(self.data["start"], self.core.Stopper(LONG))

    def relocation_search(self) -> None:
        """Relocate single centroids from a local optimum."""
        search = self.core.SequentialSearch(self.instance, self.n_clusters)
        stopper = self.core.Stopper(LONG)
        search.relocate(self.data["optimum"], 10, 10, 0, -np.inf, 1, stopper)

    def simultaneous_step(self) -> None:
        """All improving chains at fixed centroids and a compatible set of them."""
        self.core.simultaneous_step(self.instance, self.data["start"], self.data["centroids"])


NAMES = [name for name in vars(Kernels) if not name.startswith("_")]


def load_core(path: str) -> Any:
    """Import the compiled core alone."""
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not an extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    core_path, inputs, kernel, repetitions = sys.argv[1:]
    run = getattr(Kernels(load_core(core_path), Path(inputs)), kernel)
    for _ in range(int(repetitions)):
        run()
