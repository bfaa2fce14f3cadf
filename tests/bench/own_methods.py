"""Estimators that behave, and estimators that do not, for tests of the runner."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

from kempe import _core
from kempe.exceptions import InfeasibleConstraintsError, NoSolutionFoundError
from kempe.problem import Problem
from kempe.search.seeding import starting_centroids


class Steady:
    """Assign once in saturation order; with the same centroids always the same outcome."""

    def __init__(self, n_clusters, init, time_limit, random_state, pause=0.0):
        self.n_clusters = n_clusters
        self.init = init
        self.time_limit = time_limit
        self.random_state = random_state
        self.pause = pause

    def fit(self, X, *, constraints):
        problem = Problem.build(X, constraints, n_clusters=self.n_clusters)
        centroids = starting_centroids(problem, self.init, np.random.default_rng(0))
        self.labels_ = problem.labels(_core.saturation_assignment(problem.core, centroids)[0])
        self.n_iter_ = 1
        time.sleep(self.pause)
        return self


class Crash(Steady):
    def fit(self, X, *, constraints):
        os.kill(os.getpid(), signal.SIGSEGV)


class Shot(Steady):
    """Killed from outside, as by a system that runs out of memory."""

    def fit(self, X, *, constraints):
        subprocess.run(["kill", "-KILL", str(os.getpid())])
        time.sleep(1000)


class Starved(Steady):
    """Gets no more memory from the system."""

    def fit(self, X, *, constraints):
        import resource  # not on Windows

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**24, used + 2**24))
        super().fit(np.ones((2**20, 64)), constraints=constraints)


class Hang(Steady):
    def fit(self, X, *, constraints):
        time.sleep(1000)


class Hog(Steady):
    def fit(self, X, *, constraints):
        self.hoard = [np.ones((64, 2**20 // 8)) for _ in range(100)]


class Violator(Steady):
    def fit(self, X, *, constraints):
        self.labels_ = np.zeros(len(X), dtype=int)


class Infeasible(Steady):
    def fit(self, X, *, constraints):
        raise InfeasibleConstraintsError("no way", certificate="because")


class Unlucky(Steady):
    def fit(self, X, *, constraints):
        raise NoSolutionFoundError("stuck")


class Late(Steady):
    def fit(self, X, *, constraints):
        time.sleep(self.time_limit)
        raise NoSolutionFoundError("too late")


class Broken(Steady):
    def fit(self, X, *, constraints):
        raise KeyError("oops")
