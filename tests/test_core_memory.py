"""Memory of kernels, measured in a process of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")

# One cannot-link pair among many rows and many clusters. Runs the line it is given and prints by
# how many megabytes the highest memory use of the process has grown.
SCRIPT = """
import numpy as np
from pathlib import Path
from kempe import Constraints, _core
from kempe.problem import Problem

def highest():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

X = np.random.default_rng(0).normal(size=(200_000, 1))
problem = Problem.build(X, Constraints(None, [[0, 1]]), n_clusters={k})
centroids = np.linspace(-2, 2, {k})[:, None]
before = highest()
colours, stuck = {call}
assert stuck == -1 and colours[0] != colours[1]
print(highest() - before)
"""


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("k", "call"),
    [
        (2000, "_core.dsatur(problem.graph.core, problem.n_clusters)"),
        (200, "_core.saturation_assignment(problem.core, centroids)"),
    ],
)
def test_vertices_without_an_edge_cost_no_memory_per_cluster(k, call):
    script = SCRIPT.format(k=k, call=call)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A byte for every row and cluster would be 380 and 38 megabytes.
    assert float(done.stdout) < 8


MANY_CLUSTERS = """
import numpy as np
from pathlib import Path
from kempe import KempeKMeans

def highest():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024

X = np.random.default_rng(0).normal(size=(4500, 3))
KempeKMeans(2, size_max=8, max_mutations=0, random_state=0).fit(X[:9])
before = highest()
model = KempeKMeans(1500, size_max=3, max_mutations=0, random_state=0).fit(X)
assert (np.bincount(model.labels_) == 3).all()
print(highest() - before)
"""


@pytest.mark.skipif(not STATUS.exists(), reason="needs /proc")
def test_limits_on_sizes_cost_no_memory_per_pair_of_clusters():
    done = subprocess.run([sys.executable, "-c", MANY_CLUSTERS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # A list of moves from each cluster to each other would be 450 megabytes.
    assert float(done.stdout) < 100
