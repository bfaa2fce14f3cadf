"""Run kernels of the core on one instance; ``instructions.py`` starts this under callgrind.

Only NumPy is imported, and the core is loaded from its file without the package around it, because
an interpreter under callgrind runs fifty times slower.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LONG = 1e9  # seconds: the clock must not decide how much work is done


class Inputs:
    """An instance, with centroids and colourings of it; one thread works on it.

    Parameters
    ----------
    core
        The compiled core.
    folder
        Where the arrays of the instance are.
    single
        Whether points are float32.
    """

    def __init__(self, core: Any, folder: Path, single: bool) -> None:
        self.core = core
        self.data = {path.stem: np.load(path) for path in folder.glob("*.npy")}
        dtype = np.float32 if single else np.float64
        self.rows = self.data["rows"].astype(dtype)
        self.merged = np.empty((0, self.rows.shape[1]), dtype=dtype)
        self.n_clusters = len(self.data["centroids"])

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    @cached_property
    def graph(self) -> Any:
        """The cannot-link graph."""
        return self.core.Graph(self["offsets"], self["targets"])

    @cached_property
    def instance(self) -> Any:
        """The instance as kernels want it: every supernode is a row of its own."""
        return self._instance(self.graph)

    @cached_property
    def free_instance(self) -> Any:
        """The same without cannot-link pairs."""
        offsets = np.zeros_like(self["offsets"])
        return self._instance(self.core.Graph(offsets, self["targets"][:0]))

    def _instance(self, graph: Any) -> Any:
        parts = (self.rows, self.merged, self["source"], self["weight"])
        return self.core.Instance(*parts, graph, n_threads=1)

    def search(self, instance: Any = None) -> Any:
        """Give a search with working memory of its own."""
        instance = self.instance if instance is None else instance
        return self.core.SequentialSearch(instance, self.n_clusters)

    def stopper(self) -> Any:
        """Give one that never stops."""
        return self.core.Stopper(LONG)


def supernodes_and_graph(inputs: Inputs) -> None:
    """Merge must-linked rows, then make the cannot-link graph."""
    n_rows = len(inputs["supernode"])
    supernode, size = inputs.core.supernodes(n_rows, inputs["must_link"])
    inputs.core.cannot_link_graph(supernode, size, inputs["cannot_link"])


def kmeans_plus_plus(inputs: Inputs) -> None:
    """Draw starting centroids."""
    inputs.core.kmeans_plus_plus(inputs.instance, inputs["source"], inputs.n_clusters, 1)


def refine_centroids(inputs: Inputs) -> None:
    """Let centroids follow a sample."""
    sample = inputs["source"][::4].copy()
    arguments = (sample, inputs["centroids"], 1e-6, inputs.stopper())
    inputs.core.refine_centroids(inputs.instance, *arguments)


def saturation_assignment(inputs: Inputs) -> None:
    """Assign in saturation order."""
    inputs.core.saturation_assignment(inputs.instance, inputs["centroids"])


def fill_empty(inputs: Inputs) -> None:
    """Fill three clusters that are empty."""
    inputs.core.fill_empty(inputs.instance, inputs["start"], inputs.n_clusters + 3)


def descend(inputs: Inputs) -> None:
    """Descend from the first assignment to a local optimum."""
    inputs.search().descend(inputs["start"], inputs.stopper())


def descend_freely(inputs: Inputs) -> None:
    """Descend where no vertex has an edge."""
    inputs.search(inputs.free_instance).descend(inputs["start"], inputs.stopper())


def settle(inputs: Inputs) -> None:
    """Swap chains at fixed centroids, from a local optimum for others."""
    inputs.search().settle(inputs["optimum"], inputs["centroids"], inputs.stopper())


def relocate(inputs: Inputs) -> Any:
    """Relocate single centroids from a poor local optimum: some trials are kept."""
    tries = 3 if inputs.instance.is_large else 10
    return inputs.search().relocate(
        inputs["optimum"], tries, tries, 0, -np.inf, 1, inputs.stopper()
    )


def relocate_in_vain(inputs: Inputs) -> Any:
    """Relocate single centroids from a good local optimum: all trials are undone."""
    return inputs.search().relocate(inputs["best"], 2, 2, 0, -np.inf, 2, inputs.stopper())


def screen(inputs: Inputs) -> None:
    """Foresee what relocations would change."""
    search = inputs.search()
    for removed in range(inputs.n_clusters):
        search.estimate(inputs["optimum"], removed, 10 * removed)


def assign_by_table(inputs: Inputs) -> None:
    """Recolour by ejection and short chains, at costs in a table."""
    arguments = (inputs["optimum"], inputs["centroids"], False, inputs.stopper())
    inputs.search().assign_by_table(*arguments)


def assign_thoroughly(inputs: Inputs) -> None:
    """Do the same, and bring each vertex where it wants to be."""
    arguments = (inputs["optimum"], inputs["centroids"], True, inputs.stopper())
    inputs.search().assign_by_table(*arguments)


def enumerate_all(inputs: Inputs) -> None:
    """Look at all clusterings."""
    arguments = (inputs["start"], inputs.n_clusters, inputs.stopper())
    inputs.core.best_partition(inputs.instance, *arguments)


def anneal_inertia(inputs: Inputs) -> None:
    """Anneal with centroids that follow."""
    schedule = (100, 0.5, 0.3, 1.5, 5.0, 1, inputs.stopper())
    arguments = (inputs.instance, inputs["start"], inputs.n_clusters)
    inputs.core.anneal_inertia(*arguments, *schedule)


def anneal_costs(inputs: Inputs) -> None:
    """Anneal at fixed costs."""
    costs = inputs.core.squared_distances(inputs.instance, inputs["source"], inputs["centroids"])
    schedule = (100, 2.0, 0.3, 4.0, 6.0, 1, inputs.stopper())
    inputs.core.anneal(inputs.graph, costs / costs.mean(), inputs["start"], *schedule)


def look_at_crowd(inputs: Inputs) -> None:
    """Add up rows at their nearest centroids, and ask who would leave."""
    held, weight = np.arange(0, len(inputs.rows), 7), np.full(inputs.n_clusters, 50.0)
    inputs.core.crowd(inputs.rows, inputs["weight"], held, inputs["centroids"], weight)


def simultaneous_step(inputs: Inputs) -> None:
    """Find all improving chains at fixed centroids and a compatible set of them."""
    inputs.core.simultaneous_step(inputs.instance, inputs["start"], inputs["centroids"])


def simultaneous_settle(inputs: Inputs) -> None:
    """Repeat that until nothing improves."""
    arguments = (inputs["optimum"], inputs["centroids"], inputs.stopper())
    inputs.core.simultaneous_settle(inputs.instance, *arguments)


def simultaneous_descend(inputs: Inputs) -> None:
    """Repeat it with centroids that follow."""
    arguments = (inputs["start"], inputs.n_clusters, inputs.stopper())
    inputs.core.simultaneous_descend(inputs.instance, *arguments)


def three_colour_moves(inputs: Inputs) -> None:
    """Find rotations of three colours."""
    fresh = np.ones(inputs.n_clusters, dtype=np.bool_)
    arguments = (inputs["optimum"], fresh, inputs.stopper())
    inputs.core.three_colour_moves(inputs.instance, *arguments)


class Kernel(NamedTuple):
    """A function and the instance that it is given."""

    run: Callable[[Inputs], Any]
    on: str
    single: bool = False


def _both(name: str, run: Callable[[Inputs], Any], on: str) -> dict[str, Kernel]:
    """Give a kernel in double and in single precision."""
    return {name: Kernel(run, on), f"{name}_float32": Kernel(run, on, single=True)}


# Instances are described in `instructions.py`: few and many are large data of so many features, and
# table has so many values that chains are priced by a table.
KERNELS = {
    "supernodes_and_graph": Kernel(supernodes_and_graph, "small"),
    "kmeans_plus_plus": Kernel(kmeans_plus_plus, "small"),
    "refine_centroids": Kernel(refine_centroids, "few"),
    "saturation_assignment": Kernel(saturation_assignment, "small"),
    "fill_empty": Kernel(fill_empty, "small"),
    **_both("sequential_descent", descend, "small"),
    **_both("unconstrained_descent", descend_freely, "small"),
    **_both("settle", settle, "small"),
    **_both("relocation_search", relocate, "small"),
    **_both("relocation_in_vain", relocate_in_vain, "small"),
    **_both("screening", screen, "small"),
    **_both("chains_descent", descend, "chains"),
    **_both("chains_settle", settle, "chains"),
    **_both("chains_relocation", relocate, "chains"),
    **_both("few_features_descent", descend, "few"),
    **_both("few_features_settle", settle, "few"),
    **_both("few_features_relocation", relocate, "few"),
    **_both("few_features_in_vain", relocate_in_vain, "few"),
    **_both("many_features_descent", descend, "many"),
    **_both("many_features_settle", settle, "many"),
    **_both("many_features_relocation", relocate, "many"),
    **_both("many_features_in_vain", relocate_in_vain, "many"),
    **_both("table_descent", descend, "table"),
    **_both("table_relocation", relocate, "table"),
    **_both("table_assignment", assign_by_table, "table"),
    **_both("table_assignment_thorough", assign_thoroughly, "table"),
    "screening_large": Kernel(screen, "few"),
    "enumeration": Kernel(enumerate_all, "tiny"),
    "annealing_inertia": Kernel(anneal_inertia, "chains"),
    "annealing_costs": Kernel(anneal_costs, "chains"),
    **_both("crowd", look_at_crowd, "few"),
    "simultaneous_step": Kernel(simultaneous_step, "small"),
    "simultaneous_settle": Kernel(simultaneous_settle, "chains"),
    "simultaneous_descend": Kernel(simultaneous_descend, "chains"),
    **_both("simultaneous_many_features", simultaneous_descend, "many"),
    "three_colour_moves": Kernel(three_colour_moves, "chains"),
}
NAMES = list(KERNELS)


def groups(names: list[str]) -> dict[tuple[str, bool], list[str]]:
    """Put kernels together that work on the same instance in the same precision."""
    found: dict[tuple[str, bool], list[str]] = {}
    for name in names:
        found.setdefault(KERNELS[name][1:], []).append(name)
    return found


def inputs_of(core: Any, folder: Path, on: str, single: bool) -> Inputs:
    """Read an instance from its folder in another."""
    return Inputs(core, folder / on, single)


def load_core(path: str) -> Any:
    """Import the compiled core alone."""
    spec = importlib.util.spec_from_file_location("_core", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not an extension module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MARK = "getppid"
"""Function of the C library that does next to nothing: callgrind notes when it is called."""


def run_marked(run: Callable[[Inputs], Any], inputs: Inputs) -> None:
    """Run a kernel twice, with marks about the second time, when everything is warm."""
    run(inputs)
    os.getppid()
    run(inputs)
    os.getppid()


if __name__ == "__main__":
    core_path, given, *wanted = sys.argv[1:]
    ((where, names),) = groups(wanted).items()
    prepared = inputs_of(load_core(core_path), Path(given), *where)
    for name in names:
        run_marked(KERNELS[name].run, prepared)
