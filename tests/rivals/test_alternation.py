"""The descent loop that the rivals share."""

from __future__ import annotations

import numpy as np
import pytest

from kempe import NoSolutionFoundError, _core
from kempe.problem import Problem
from kempe.rivals.alternation import alternate, descend, not_improved, same_clusters
from kempe.rivals.icopkm import nearest_assignment

X = np.array([[0.0], [1.0], [8.0], [9.0], [10.0]])


def line(n_clusters=2):
    return Problem.build(X, n_clusters=n_clusters)


def steps(problem, start, assign=None, **options):
    centroids = np.asarray(start)[:, None] - problem.shift
    return alternate(problem, assign or nearest_assignment, centroids, _core.Stopper(), **options)


def test_two_iterations_worked_by_hand():
    problem = line()
    first, second = (step for step, _ in zip(steps(problem, [0.0, 1.0]), range(2), strict=False))
    assert first.colours.tolist() == [0, 1, 1, 1, 1]
    assert first.inertia == pytest.approx(50.0)
    assert second.colours.tolist() == [0, 0, 1, 1, 1]
    assert second.inertia == pytest.approx(2.5)
    np.testing.assert_allclose(second.centroids + problem.shift, [[0.5], [9.0]])


def test_an_empty_cluster_keeps_its_centroid():
    problem = line(3)
    step = next(steps(problem, [0.0, 9.0, 1000.0]))
    assert (step.centroids + problem.shift)[2] == pytest.approx(1000.0)


def test_a_descent_ends_when_the_clusters_stand_still():
    best, reason = descend(steps(line(), [0.0, 1.0]), same_clusters, max_iter=10)
    assert reason == "converged"
    assert best.inertia == pytest.approx(2.5)


def test_a_descent_ends_after_its_last_iteration():
    best, reason = descend(steps(line(), [0.0, 1.0]), not_improved, max_iter=1)
    assert reason == "max_iter"
    assert best.inertia == pytest.approx(50.0)


def test_a_descent_ends_when_its_watcher_says_so():
    seen = []

    def watch(step):
        seen.append(step.inertia)
        return len(seen) == 1

    _, reason = descend(steps(line(), [0.0, 1.0]), not_improved, watch=watch)
    assert reason == "stopped"
    assert len(seen) == 1


def test_the_best_step_is_that_of_the_lowest_objective_not_inertia():
    # An objective that prefers the first, worse clustering.
    def objective(colours, before, means):
        return float(np.count_nonzero(colours == 0))

    best, _ = descend(steps(line(), [0.0, 1.0], objective=objective), same_clusters, max_iter=5)
    assert best.colours.tolist() == [0, 1, 1, 1, 1]


def test_a_failure_tells_the_iteration():
    def assign(problem, centroids, previous, stopper):
        if previous is not None:
            raise NoSolutionFoundError("row 3 found no cluster")
        return np.array([0, 1, 1, 1, 1], dtype=np.int32)

    with pytest.raises(NoSolutionFoundError, match="in iteration 2, row 3 found no cluster"):
        descend(steps(line(), [0.0, 1.0], assign), same_clusters)
