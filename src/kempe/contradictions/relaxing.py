"""``relax``: which pairs to give up where constraints contradict each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight

from kempe import _core
from kempe.constraints import Constraints
from kempe.contradictions.candidates import Candidates, Graphed
from kempe.contradictions.contradiction import Contradiction
from kempe.contradictions.near_data import NearData
from kempe.contradictions.packing import ROUNDS, pack
from kempe.contradictions.relaxation import ROUNDING, Relaxation, RelaxProgress
from kempe.contradictions.search import CheapColouring, Effort, cheapest_to_break
from kempe.engine import KempeKMeans
from kempe.exceptions import InfeasibleConstraintsError
from kempe.fit_arguments import as_constraints, seconds_of
from kempe.graph.certificates import supernodes_of
from kempe.graph.check import colour_or_explain
from kempe.graph.colouring import colour_graph
from kempe.problem import Colours, contradiction
from kempe.search.threads import n_threads
from kempe.words import counted

# A short look, whose result a proof may already show to be the best; then a long one.
SHORT, LONG = Effort(generations=3), Effort()
FEW_ROUNDS = 3
# Of the time there is, the shares that end the search for pairs, and the proof.
SEARCH_SHARE, PROOF_SHARE = 0.6, 0.5
# Turns of the search for a clustering that keeps all pairs.
TURNS = 2
# Seconds for the last descent where there is no time left.
HURRIED_SECONDS = 0.1
# Of several clusterings that break equally few pairs, so many are brought near the data.
EQUALS = 4


def relax(
    X: ArrayLike | None,
    constraints: Constraints | None = None,
    n_clusters: int = 8,
    *,
    must_link: object = None,
    cannot_link: object = None,
    must_link_weight: ArrayLike | None = None,
    cannot_link_weight: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    callback: Callable[[RelaxProgress], bool | None] | None = None,
    verbose: int = 0,
) -> Relaxation:
    """Find the fewest pairs to give up so that the others can be satisfied.

    Ctrl-C ends the search and returns the best so far.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features). Among sets of pairs that cost the same, it decides by
        the inertia of the clustering. ``None``: pairs alone are looked at.
    constraints
        The pairs. If some are soft, only those may be given up, and the hard ones hold; otherwise
        any may be.
    n_clusters
        Number of clusters.
    must_link, cannot_link
        The pairs, instead of ``constraints``, in the forms that ``fit`` takes.
    must_link_weight, cannot_link_weight
        What giving up a pair costs: one number for all of a kind, or one for each; 1 by default.
        Soft pairs cost the log-odds of their confidence, or 1 if none has one.
    sample_weight
        Weight of each row; all 1 by default.
    time_limit
        Seconds of wall time; ``None``: until looking on is in vain.
    n_jobs
        Threads. The result does not depend on it, unless there is a time limit.
    random_state
        Seed of all randomness.
    callback
        Called with a ``RelaxProgress`` as the search goes on; ``True`` ends it.
    verbose
        1 shows a progress bar.

    Returns
    -------
    Relaxation
        The pairs to give up, the rest, the clustering, and a lower bound with its proof.

    Raises
    ------
    InfeasibleConstraintsError
        If the pairs that may not be given up contradict each other.

    Examples
    --------
    >>> from kempe import relax
    >>> relaxed = relax(None, n_clusters=2, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    >>> relaxed.n_given_up, relaxed.lower_bound, relaxed.is_optimal
    (1, 1.0, True)
    >>> print(relaxed.contradictions[0])
    3 pairs cannot all hold: 0 = 1, 1 = 2, 0 ≠ 2
    """
    if not isinstance(n_clusters, Integral) or n_clusters < 1:
        raise ValueError(f"n_clusters must be a positive whole number, got {n_clusters!r}")
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}")
    given = as_constraints(must_link, cannot_link, constraints)
    rows, weights = _data(X, sample_weight, int(n_clusters))
    n_rows = None if rows is None else rows.shape[0]
    if n_rows is not None:
        given.check_rows(n_rows)
    candidates = Candidates.of(given, must_link_weight, cannot_link_weight, n_rows)
    if not candidates.n_rows:
        raise ValueError("there are neither data nor pairs")
    rng = np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))
    # As many clusters as rows are as good as more, and tables of them would fill the memory.
    k = min(int(n_clusters), max(candidates.n_rows, 3))
    with _Listeners(callback, verbose, time_limit, candidates, k) as heard:
        stopper = _core.Stopper(seconds_of(time_limit))
        run = _Run(candidates, k, rng, stopper, n_threads(n_jobs), heard)
        return replace(run.relaxed(rows, weights), n_clusters=int(n_clusters))


def _data(
    X: ArrayLike | None, sample_weight: ArrayLike | None, n_clusters: int
) -> tuple[NDArray[Any] | None, NDArray[np.float64] | None]:
    if X is None:
        if sample_weight is not None:
            raise ValueError("sample_weight is of the rows of X, which is None")
        return None, None
    rows: NDArray[Any] = check_array(X, dtype=(np.float64, np.float32), order="C")
    if rows.shape[0] < n_clusters:
        raise ValueError(f"n_samples={rows.shape[0]} should be at least n_clusters={n_clusters}")
    if sample_weight is None:
        return rows, None
    return rows, _check_sample_weight(
        sample_weight, rows, dtype=np.float64, ensure_non_negative=True
    )


class _Listeners:
    """Whoever is told how far the search has come, the bar among them."""

    def __init__(
        self,
        callback: Callable[[RelaxProgress], bool | None] | None,
        verbose: int,
        time_limit: float | None,
        candidates: Candidates,
        n_clusters: int,
    ) -> None:
        self._callback = callback
        self._begun = time.perf_counter()
        self._bar: Any = None
        if verbose:
            from kempe.search.bar import live_bar

            self._bar = live_bar(None, seconds_of(time_limit))
            what = f"{counted(len(candidates.pairs), 'pair')}, {counted(n_clusters, 'cluster')}"
            self._task = self._bar.add_task(what, total=None, state="first clusterings")

    def __enter__(self) -> _Listeners:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._begun

    def tell(self, cost: float, bound: float) -> bool:
        """Tell everybody, and ask whether to end."""
        if self._bar is not None:
            state = f"give up {cost:.6g}, at least {bound:.6g}"
            self._bar.update(self._task, state=state)
        if self._callback is None:
            return False
        return bool(self._callback(RelaxProgress(self.elapsed, cost, bound)))


@dataclass
class _Run:
    """One search, from first clusterings to what is returned."""

    candidates: Candidates
    n_clusters: int
    rng: np.random.Generator
    stopper: _core.Stopper
    threads: int
    heard: _Listeners
    proof: tuple[Contradiction, ...] = ()
    ended: bool = False
    interrupted: bool = False
    best: NDArray[np.int32] | None = None
    search_stopper: _core.Stopper | None = None

    def relaxed(self, rows: NDArray[Any] | None, weights: NDArray[np.float64] | None) -> Relaxation:
        """Search, prove, and cluster under the pairs that are left."""
        try:
            self._search(rows, weights)
        except KeyboardInterrupt:  # in kernels, the stopper notices it
            if self.best is None:
                raise
            self.interrupted = True
        assert self.best is not None
        return self._result(self.best, rows, weights)

    def _search(self, rows: NDArray[Any] | None, weights: NDArray[np.float64] | None) -> None:
        supernode, graph = self.candidates.signed_graph()
        limit = self.search_stopper = self.stopper.child(SEARCH_SHARE * self.stopper.remaining)
        near = None
        starts = self._colourings(limit)
        if rows is not None and not limit.look():
            data = (rows, weights, self.candidates, self.n_clusters, self.rng, limit)
            near = NearData.of(*data)
            starts += near.beginnings()
        found: list[CheapColouring] = []
        for effort, rounds in ((SHORT, FEW_ROUNDS), (LONG, ROUNDS)):
            found = cheapest_to_break(
                graph,
                self.n_clusters,
                [*starts, *(one.colours for one in found)],
                self.rng,
                limit,
                threads=self.threads,
                effort=effort,
                enough=lambda best: self._is_enough(best.colours[supernode]),
            )
            best = found[0].colours[supernode]
            if self._is_enough(best):
                break
            self._prove(best, rounds)
            if self._is_enough(best) or limit.look():
                break
        if near is not None and not self.stopper.look():
            self.best = _nearest(near, found, self.candidates)[supernode]

    def _colourings(self, stopper: _core.Stopper) -> list[Colours]:
        """Give a clustering that keeps what may not be given up, and perhaps one that keeps all.

        If there is one of the second kind, colouring graphs is the way to find it.
        """
        candidates, k = self.candidates, self.n_clusters
        certain = Graphed.of(candidates.certain, candidates.n_rows)
        graph = certain.graph
        try:
            if certain.inside >= 0:
                raise contradiction(candidates.certain, certain.inside)
            found = [colour_or_explain(graph, candidates.certain, k, self.rng, stopper)]
        except InfeasibleConstraintsError as error:
            error.advice = "where there are soft pairs, only soft pairs are given up"
            raise
        if stopper.look():
            return found
        everything = candidates.kept(np.zeros(len(candidates.pairs), dtype=bool))
        whole = Graphed.of(everything, candidates.n_rows)
        if whole.inside < 0:
            answer = colour_graph(whole.graph, k, self.rng, stopper, turns=TURNS)
            if answer.colours is not None:
                colours = np.empty(graph.size, dtype=np.int32)
                colours[certain.supernode] = answer.colours[whole.supernode]
                found.append(colours)
        return found

    def _is_enough(self, labels: NDArray[np.int32]) -> bool:
        """Tell how far the search is, keep the best, and ask whether to end."""
        self.best = labels
        cost, bound = self.candidates.cost(labels), _bound(self.proof)
        self.ended = self.heard.tell(cost, bound) or self.ended
        return self.ended or cost <= bound * (1 + ROUNDING)

    def _prove(self, labels: NDArray[np.int32], rounds: int) -> None:
        """Look for a better lower bound."""
        if _bound(self.proof) >= self.candidates.cost(labels) or self.stopper.look():
            return
        limit = self.stopper.child(PROOF_SHARE * self.stopper.remaining)
        found = pack(self.candidates, self.n_clusters, labels, self.rng, limit, rounds)
        self.proof = max(self.proof, found, key=_bound)

    def _result(
        self,
        labels: NDArray[np.int32],
        rows: NDArray[Any] | None,
        weights: NDArray[np.float64] | None,
    ) -> Relaxation:
        model = None
        if rows is None:
            unsaid = np.ones(labels.size, dtype=bool)
            unsaid[self.candidates.rows] = False
            labels = np.where(unsaid, np.int32(-1), labels)
        else:
            kept = self.candidates.kept(self.candidates.broken(labels))
            model = self._fitted(rows, weights, kept, labels)
            labels = model.labels_
        return Relaxation.of(
            self.candidates,
            self.n_clusters,
            labels,
            self.proof,
            model=model,
            stop_reason=self._stop_reason(labels),
            runtime=self.heard.elapsed,
        )

    def _fitted(
        self,
        rows: NDArray[Any],
        weights: NDArray[np.float64] | None,
        kept: Constraints,
        labels: NDArray[np.int32],
    ) -> KempeKMeans:
        """Cluster under the pairs that are left; if time is up, by a descent that is cut short."""
        remaining = self.stopper.remaining
        hurry = self.interrupted or self.stopper.look()
        seconds = HURRIED_SECONDS if hurry else max(remaining, 1e-3)
        # Pairs may leave fewer groups of rows than clusters.
        groups = int(supernodes_of(kept, len(rows)).max()) + 1
        model = KempeKMeans(
            min(self.n_clusters, groups),
            max_mutations=0 if hurry else None,
            time_limit=None if np.isinf(seconds) else seconds,
            n_jobs=self.threads,
            random_state=int(self.rng.integers(2**31 - 1)),
        )
        names = np.unique(labels, return_inverse=True)[1] if groups < self.n_clusters else labels
        model.fit(rows, constraints=kept, sample_weight=weights, init=names)
        return model

    def _stop_reason(self, labels: NDArray[np.int32]) -> str:
        if self.interrupted or self.stopper.interrupted:
            return "interrupted"
        if self.candidates.cost(labels) <= _bound(self.proof) * (1 + ROUNDING):
            return "optimal"
        if self.ended:
            return "callback"
        searched = self.search_stopper
        return "time_limit" if searched is not None and searched.stopped else "patience"


def _bound(proof: tuple[Contradiction, ...]) -> float:
    return float(sum(one.weight for one in proof))


def _nearest(near: NearData, found: list[CheapColouring], candidates: Candidates) -> Colours:
    """Of those that break equally few pairs, give the one of lowest inertia."""
    best = found[0].cost
    equals = [one for one in found if one.cost <= best * (1 + ROUNDING)][:EQUALS]
    supernode = near.context.problem.supernode
    judged = [(*near.nearest(one.colours), one.colours) for one in equals]
    allowed = best * (1 + ROUNDING)
    kept = [
        (inertia, moved)
        for inertia, moved, _ in judged
        if near.context.problem.is_proper(moved) and candidates.cost(moved[supernode]) <= allowed
    ]
    return min(kept, key=lambda each: each[0])[1] if kept else found[0].colours
