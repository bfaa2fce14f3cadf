"""``certify``: a lower bound on the inertia of all clusterings, with its proof."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import _check_sample_weight

from kempe import _core
from kempe.constraints import Constraints
from kempe.data_checks import MOST_BINARY_DIGITS
from kempe.engine import KempeKMeans
from kempe.exceptions import CertificateError
from kempe.fit_arguments import as_constraints, seconds_of
from kempe.problem import Problem
from kempe.proof.certificate import Method, OptimalityCertificate, Verification, data_hash
from kempe.proof.checking import prove
from kempe.proof.checking.rounding import LIGHTEST
from kempe.proof.incumbent import Incumbent
from kempe.proof.nodes import Part, SoftPairs
from kempe.proof.parts import groups_bounded_in, part_size, part_tree
from kempe.proof.presolve import Merged, presolve_problem
from kempe.proof.price_proof import ROOMS, PriceProof, effective_dimension
from kempe.proof.progress import ProofCallbackList, ProofCallbacks, ProofState, display
from kempe.proof.relaxation import Data
from kempe.proof.slowdown import Slowdown
from kempe.proof.soft import priced_pairs, with_prices
from kempe.proof.stratified import Strata
from kempe.proof.terms import PricedPairs, Terms
from kempe.proof.tree import Tree, libraries
from kempe.search.threads import n_threads
from kempe.sizes import SizeLimits
from kempe.soft_pairs import PairPrice

# With more groups than this, after the presolve, some ten matrices of that size would take more
# than a few gigabytes; with more supernodes than that, so would the presolve.
WHOLE_UP_TO, PRESOLVE_UP_TO = 6000, 20_000
# In this share of the time that a bound of the whole needs, bounds of parts add up to more.
WHOLE_TIME_SHARE = 0.5
# Of the time there is, the parts that a search for labels and the presolve may take. Where one
# matrix cannot hold all groups, a better bound is worth more than slightly better labels.
SEARCH_SHARE, LARGE_SEARCH_SHARE, PRESOLVE_SHARE = 0.5, 0.05, 0.2
# The share of the time that prices of groups may take: nearly all where the groups lie in so few
# effective dimensions that boxes cover them, else as much as a trial needs. Where they leave a
# larger gap than this, parts are bounded too.
PRICE_SHARE, PRICE_TRIAL, FEW_DIMENSIONS, PARTS_FROM = 0.9, 0.05, 6.0, 0.02
# A matrix of more groups than this takes minutes for what prices may do in seconds: they come first
# where there are few dimensions, for this share of the time.
PRICED_FIRST, FIRST_SHARE = 3500, 0.25
# Of the time there is, what exchanges between parts may take.
EVENING_SHARE = 0.03
# Seconds after the limit in which parts are still begun: some bound is better than none.
GRACE = 0.2
# Seconds that dealing a group into parts takes; those that the checker takes for a row and for a
# pair, whatever is proven; and those that either takes for each value of a row.
DEAL_SECONDS, ROW_SECONDS, PAIR_SECONDS, VALUE_SECONDS = 1e-6, 3e-7, 3.5e-7, 3e-8


def certify(
    X: ArrayLike,
    labels: Any = None,
    *,
    must_link: object = None,
    cannot_link: object = None,
    soft_must_link: object = None,
    soft_cannot_link: object = None,
    constraints: Constraints | None = None,
    n_clusters: int | None = None,
    sample_weight: ArrayLike | None = None,
    size_min: ArrayLike | None = None,
    size_max: ArrayLike | None = None,
    soft_price: float | None = None,
    time_limit: float | None = 60.0,
    gap: float = 1e-4,
    n_jobs: int | None = None,
    random_state: Any = None,
    callbacks: ProofCallbacks | Sequence[ProofCallbacks] | None = None,
    verbose: int = 0,
) -> OptimalityCertificate:
    """Prove how far a clustering can be from the best one that obeys the constraints.

    It works for as long as it is given, and returns the best bound so far when the time is up, at
    Ctrl-C, when a callback says so, or when the gap is closed. The bound that it returns is that of
    the checker, ``kempe/proof/checking``, which shares no code with what finds it.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features).
    labels
        Cluster of each row, or a fitted model, whose ``labels_`` are taken. ``None``: a search by
        ``KempeKMeans`` comes first, for half of the time at most.
    must_link, cannot_link, constraints
        The pairs that the labels obey, as in ``KempeKMeans.fit``.
    soft_must_link, soft_cannot_link
        Pairs that the labels may break, at a price; confidences are given in ``constraints``.
    n_clusters
        Number of clusters; by default that of the labels.
    sample_weight
        Weight of each row; all 1 by default.
    size_min, size_max
        Fewest and most rows of a cluster, as in ``KempeKMeans``; by default those of a model. The
        labels keep these limits, and the bound is one on the clusterings that do. Where data is too
        large for one matrix, it is one on all clusterings, and knows nothing of what limits cost.
    soft_price
        What breaking a soft pair costs that says nothing of its confidence. By default what it cost
        a model, or what the labels suggest by the rule of ``KempeKMeans``. With soft pairs the
        bound is one on the inertia and the prices of broken pairs together.
    time_limit
        Seconds of wall time, ``None`` for no limit.
    gap
        Relative gap between bound and inertia at which the labels count as optimal.
    n_jobs
        Threads.
    random_state
        Seed of all randomness.
    callbacks
        Called while the proof is sought, see ``kempe.proof.ProofCallbacks``.
    verbose
        1 shows a progress bar with the gap.

    Returns
    -------
    OptimalityCertificate
        The bound, its proof, and the labels: better ones than those given if any were met.

    Raises
    ------
    ValueError
        If the labels do not obey the constraints.
    InfeasibleConstraintsError
        If no clustering does.

    Examples
    --------
    >>> from kempe import certify
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0]]
    >>> certificate = certify(X, [0, 0, 1, 1, 1], cannot_link=[(2, 3)])
    Traceback (most recent call last):
    ValueError: the labels violate the cannot-link pair (2, 3)
    >>> certificate = certify(X, [0, 0, 1, 2, 2], cannot_link=[(2, 3)])
    >>> certificate.is_optimal
    True
    """
    stopper = _core.Stopper(seconds_of(time_limit))
    rows: NDArray[np.float64] = check_array(X, dtype=np.float64, order="C")
    weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
    _check_weights(weights)
    pairs = as_constraints(
        must_link,
        cannot_link,
        constraints,
        soft_must_link=soft_must_link,
        soft_cannot_link=soft_cannot_link,
    )
    rng = np.random.default_rng(int(check_random_state(random_state).randint(2**31 - 1)))
    given, k = _labels(labels, n_clusters, rows.shape[0])
    if size_min is None and size_max is None:
        size_min, size_max = (getattr(labels, name, None) for name in ("size_min", "size_max"))
    limits = SizeLimits.of(size_min, size_max, rows.shape[0], k)
    problem = Problem.build(rows, pairs, n_clusters=k, sample_weight=weights, limits=limits)
    price = _price_of(labels)
    if given is None:
        given, price = _searched(problem, rows, n_jobs, rng, stopper, soft_price)
    _check_labels(problem, given)
    soft = priced_pairs(problem, given, price, soft_price, rng) if pairs.soft.count else None
    own = [callbacks] if isinstance(callbacks, ProofCallbacks) else list(callbacks or ())
    heard = ProofCallbackList([*own, *display(verbose, time_limit, gap)])
    proof = _Proof(problem, given, gap, n_threads(n_jobs), rng, stopper, heard, soft)
    try:
        proof.run()
        certificate = proof.certificate(rows)
        heard.on_end(certificate)
    finally:
        heard.on_close()
    return certificate


def _labels(
    labels: Any, n_clusters: int | None, n_rows: int
) -> tuple[NDArray[np.int32] | None, int]:
    """Labels without gaps, if any were given, and the number of clusters."""
    if labels is None:
        if n_clusters is None:
            raise ValueError("give labels, or n_clusters for a search to start with")
        return None, n_clusters
    if hasattr(labels, "labels_"):
        n_clusters = n_clusters or getattr(labels, "n_clusters", None)
        labels = labels.labels_
    known = np.asarray(labels)
    if known.shape != (n_rows,):
        raise ValueError(f"{n_rows} rows need as many labels, got shape {known.shape}")
    names, numbers = np.unique(known, return_inverse=True)
    k = names.size if n_clusters is None else int(n_clusters)
    if names.size > k:
        raise ValueError(f"the labels have {names.size} clusters, more than n_clusters={k}")
    return numbers.astype(np.int32), k


def _searched(
    problem: Problem,
    rows: NDArray[np.float64],
    n_jobs: int | None,
    rng: np.random.Generator,
    stopper: _core.Stopper,
    soft_price: float | None,
) -> tuple[NDArray[np.int32], PairPrice | None]:
    is_large = problem.n_supernodes > WHOLE_UP_TO
    share = (LARGE_SEARCH_SHARE if is_large else SEARCH_SHARE) * stopper.remaining
    limit = None if np.isinf(share) else max(share, 1e-3)
    sizes = problem.limits
    model = KempeKMeans(
        min(problem.n_clusters, rows.shape[0]),
        size_min=None if sizes is None else sizes.least,
        size_max=None if sizes is None else sizes.most,
        soft_price=soft_price,
        n_jobs=n_jobs,
        time_limit=limit,
        random_state=int(rng.integers(2**31 - 1)),
    )
    model.fit(rows, constraints=problem.constraints, sample_weight=problem.row_weight)
    if model.result_.stop_reason == "interrupted":
        stopper.stop()  # the search has kept Ctrl-C to itself
    return model.labels_, _price_of(model)


def _price_of(model: Any) -> PairPrice | None:
    """Give what a soft pair cost a fitted model; ``None`` if it is no model or had none."""
    broken = getattr(getattr(model, "result_", None), "broken", None)
    return None if broken is None else broken.pair_price


def _check_weights(weights: NDArray[np.float64]) -> None:
    positive = weights[weights > 0]
    if positive.size and positive.min() < 2 * LIGHTEST * positive.max():
        raise ValueError(
            f"weights from {positive.min():.3g} to {positive.max():.3g} differ by too much for a "
            "proof in double precision"
        )


def _check_scale(data: Data) -> None:
    """Refuse data whose inertia is no number in double precision."""
    digits = 2 * data.length + data.mass
    if abs(digits) > MOST_BINARY_DIGITS:
        flows = "overflow" if digits > 0 else "underflow"
        raise ValueError(f"the inertia would {flows}; scale X, for example by StandardScaler")


def _check_labels(problem: Problem, labels: NDArray[np.int32]) -> None:
    pairs, limits = problem.constraints, problem.limits
    if limits is not None:
        sizes = limits.sizes_of(labels)
        for c in np.flatnonzero(limits.excess(sizes))[:1].tolist():
            raise ValueError(f"cluster {c} of the labels has {sizes[c]} rows, not {limits}")
    for name, given, equal in (
        ("must-link", pairs.must_link, True),
        ("cannot-link", pairs.cannot_link, False),
    ):
        wrong = (labels[given[:, 0]] == labels[given[:, 1]]) != equal
        for a, b in given[wrong][:1].tolist():
            raise ValueError(f"the labels violate the {name} pair ({a}, {b})")


def _check_seconds(n_groups: int, n_soft: int = 0) -> float:
    """Estimate how long the check of a node takes."""
    return 2e-3 + 2e-10 * n_groups**3 + 2e-6 * n_soft


def _first_seconds(n_groups: int) -> float:
    """Estimate how long it takes to begin a part: its matrices and its first multipliers."""
    return 2e-3 + 6e-10 * n_groups**3


class _Proof:
    """One run: grows the trees, listens to the clock and the callbacks, has the result checked."""

    def __init__(
        self,
        problem: Problem,
        labels: NDArray[np.int32],
        gap: float,
        n_jobs: int,
        rng: np.random.Generator,
        stopper: _core.Stopper,
        callbacks: ProofCallbacks,
        soft: SoftPairs | None = None,
    ) -> None:
        assert problem.row_weight is not None
        self._problem = problem if soft is None else with_prices(problem, soft)
        self._soft = soft
        self._data = Data.centred(problem.rows, problem.row_weight)
        _check_scale(self._data)
        scaled = None if soft is None else PricedPairs.scaled(soft, self._data.unit)
        self._incumbent = Incumbent(self._problem, self._data, labels, rng, stopper, scaled)
        self._terms = Terms.of(self._data.heavy.weight, problem.limits, scaled)
        self._gap = gap
        self._n_jobs = n_jobs
        self._rng = rng
        self._stopper = stopper
        self._callbacks = callbacks
        self._started = time.perf_counter()
        self._slowdown = Slowdown()
        pairs = problem.constraints
        n_pairs = len(pairs.must_link) + len(pairs.cannot_link)
        # What a check takes even if there is nothing to be proven.
        values = VALUE_SECONDS * problem.rows.size
        self._reading = ROW_SECONDS * problem.n_rows + PAIR_SECONDS * n_pairs + values
        self._history: list[tuple[float, float, float]] = []
        self._trees: list[tuple[NDArray[np.int64], Tree]] = []
        self._merged = Merged.nothing(problem)
        self._priced: PriceProof | None = None
        self._method: Method = "sdp"
        self._ended = False
        self._lock = threading.Lock()

    def run(self) -> None:
        """Grow the proof until the gap is closed, or something ends it."""
        try:
            whole = self._whole()
            groups = whole.size if whole else self._problem.n_supernodes
            self._callbacks.on_start(self._problem.n_rows, groups, self._problem.n_clusters)
            if whole is None:
                self._price(PRICE_SHARE, PRICE_TRIAL)
                self._method = "parts"
                if self._priced is None or self._priced.gap > PARTS_FROM:
                    self._grow_parts()
            else:
                if whole.size > PRICED_FIRST:
                    self._price(FIRST_SHARE, 0.0)
                # What prices of groups prove knows nothing of limits and soft pairs.
                closed = self._priced is not None and self._priced.gap <= self._gap
                if not closed or self._terms is not None:
                    self._trees.append((np.arange(self._problem.n_rows), whole))
                    whole.grow(self._n_jobs)
        except KeyboardInterrupt:
            pass  # what is there is a proof

    def _whole(self) -> Tree | None:
        """One tree for all rows, unless that takes too much memory or time."""
        if self._problem.n_supernodes > PRESOLVE_UP_TO:
            return None
        left = self._stopper.remaining
        most = min(WHOLE_UP_TO, groups_bounded_in(left / WHOLE_TIME_SHARE))
        limit = self._stopper.child(PRESOLVE_SHARE * left)
        self._merged = Merged.of(self._problem, limit)
        known = presolve_problem(self._problem, self._merged, int(most))
        if known is None:
            return None
        return Tree(
            self._data.heavy,
            known,
            self._problem.n_clusters,
            self._incumbent,
            self._gap,
            self._should_stop,
            self._report,
            self._stopper,
            terms=self._terms,
        )

    def _price(self, few: float, many: float) -> None:
        """Bound all rows at once by prices, in a share of the time, if that is enough for one.

        ``few`` is the share where the rows lie in few dimensions, ``many`` that elsewhere.
        """
        # No share of a time without end would be a number.
        left = self._stopper.remaining * few
        needed = PriceProof.first_seconds(self._problem)
        if needed <= left and effective_dimension(self._data.heavy) > FEW_DIMENSIONS:
            left = self._stopper.remaining * many if many else 0.0
        if needed > left:
            return
        share = self._stopper.child(left)
        self._priced = PriceProof(
            self._problem,
            self._merged,
            self._data.heavy,
            self._incumbent.labels,
            self._gap,
            self._n_jobs,
            self._rng,
            self._any_of(share),
            lambda: self._report(None),
            share,
        )
        self._priced.run()

    def _grow_parts(self) -> None:
        """Bound part after part, each with its share of the time that is left.

        A part for which none is left gets the bound that it starts with, while the grace lasts;
        after that it proves nothing.
        """
        n_groups, k = self._problem.n_supernodes, self._problem.n_clusters
        slowdown = self._slowdown()
        grace = self._stopper.child(self._stopper.remaining + GRACE, overtime=True)
        dealing = n_groups * (DEAL_SECONDS + VALUE_SECONDS * self._problem.rows.shape[1])
        if grace.remaining < slowdown * dealing + self._check_time():
            return
        size = part_size(n_groups, k, self._stopper.remaining / slowdown)
        parts = self._strata(-(-n_groups // size)).rows(self._problem)
        first, check = slowdown * _first_seconds(size), slowdown * _check_seconds(size)
        for number, rows in enumerate(parts):
            to_come = len(parts) - number
            overhead = to_come * first + len(parts) * check + slowdown * self._reading
            left = max(0.0, self._stopper.remaining - overhead)
            share = self._stopper.child(first + left / to_come)
            if self._ended or grace.look() or grace.remaining < self._check_time() + first + check:
                return
            tree = part_tree(
                self._problem,
                self._data.heavy,
                self._incumbent.labels,
                rows,
                self._gap,
                self._any_of(share),
                self._report,
                grace,
            )
            self._trees.append((rows, tree))
            tree.grow(self._n_jobs)

    def _strata(self, n_parts: int) -> Strata:
        """Deal the groups, so that all parts look alike."""
        weight, sums = self._data.heavy.sums(self._problem.supernode, self._problem.n_supernodes)
        means = sums / np.where(weight > 0, weight, 1.0)[:, None]
        row = np.unique(self._problem.supernode, return_index=True)[1]
        colours = self._incumbent.labels[row]
        limit = self._stopper.child(EVENING_SHARE * self._stopper.remaining)
        strata = Strata.of(means, colours, n_parts, self._rng)
        return strata.evened(means, weight, colours, limit.look)

    def _any_of(self, share: _core.Stopper) -> Callable[..., bool]:
        """Stop at the end of a share; what the next step needs is not asked: others have it."""
        return lambda *_: share.look() or self._should_stop()

    def _report(self, _: Tree | None) -> None:
        """Note the bound and tell the callbacks."""
        with self._lock:
            self._note()

    def _note(self) -> None:
        inertia = self._incumbent.objective * self._data.unit
        bound = min(self._bound() * self._data.unit, inertia)
        elapsed = time.perf_counter() - self._started
        if not self._history or self._history[-1][1:] != (bound, inertia):
            self._history.append((elapsed, bound, inertia))
        nodes = sum(tree.n_nodes for _, tree in self._trees)
        n_open = sum(tree.n_open for _, tree in self._trees)
        state = ProofState(elapsed, bound, inertia, nodes, n_open)
        if not self._ended and self._callbacks.on_bound(state):
            self._ended = True

    def _bound(self) -> float:
        return max(self._bound_of_trees(), self._priced.bound if self._priced else 0.0)

    def _bound_of_trees(self) -> float:
        return sum(max(tree.proven(), 0.0) for _, tree in self._trees)

    def _should_stop(self, needed: float = 0.0) -> bool:
        """Whether a callback, Ctrl-C or the clock says so; the check needs its time too.

        ``needed`` is what the next step takes.
        """
        if self._ended or self._stopper.look():
            return True
        return self._stopper.remaining < self._check_time() + needed

    def _check_time(self) -> float:
        if self._priced is not None and self._priced.bound > self._bound_of_trees():
            return self._priced.check_seconds + self._slowdown() * self._reading
        n_soft = 0 if self._soft is None else len(self._soft.pairs)
        work = sum(tree.n_nodes * _check_seconds(tree.size, n_soft) for _, tree in self._trees)
        return self._slowdown() * (work + self._reading)

    def _bounded(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those rows whose weight was not too small to compute with."""
        kept = self._data.heavy.weight[rows] == self._data.weight[rows]
        return rows[np.flatnonzero(kept)]

    def certificate(self, X: NDArray[np.float64]) -> OptimalityCertificate:
        """Have the proof checked, and hand over what the checker proves."""
        problem, labels = self._problem, self._incumbent.labels.astype(np.int32)
        assert problem.row_weight is not None
        pairs = problem.constraints
        inputs = X, problem.row_weight, pairs.must_link, pairs.cannot_link, problem.n_clusters
        sizes = None if problem.limits is None else (problem.limits.least, problem.limits.most)
        with libraries().limit(limits=self._n_jobs):
            method, parts, proven = self._proven(
                lambda parts: prove(*inputs, labels, parts, sizes, self._soft)
            )
        seconds = time.perf_counter() - self._started
        self._history.append((seconds, proven.lower_bound, proven.objective))
        return OptimalityCertificate(
            labels=labels,
            n_clusters=problem.n_clusters,
            parts=parts,
            lower_bound=proven.lower_bound,
            inertia=proven.inertia,
            data_hash=data_hash(*inputs, sizes, self._soft),
            gap_wanted=self._gap,
            history=np.array(self._history),
            seconds=seconds,
            method=method,
            soft=self._soft,
        )

    def _proven(
        self, check: Callable[[tuple[Part, ...]], Verification]
    ) -> tuple[Method, tuple[Part, ...], Verification]:
        """Have that checked which proves most: prices of all groups, or trees."""
        if self._priced is not None and self._priced.bound > self._bound_of_trees():
            rows = self._bounded(np.arange(self._problem.n_rows))
            for room in ROOMS:
                parts = (Part(rows, self._priced.nodes(room)),)
                with suppress(CertificateError):  # rounding takes more than there is room for
                    return "prices", parts, check(parts)
        trees = self._parts()
        # A pair that was fixed by less than rounding costs is no reason to lose the rest.
        with suppress(CertificateError):
            return self._method, trees, check(trees)
        trees = self._parts(fixings=False)
        return self._method, trees, check(trees)

    def _parts(self, *, fixings: bool = True) -> tuple[Part, ...]:
        return tuple(
            Part(self._bounded(rows), tree.nodes(rows, fixings=fixings))
            for rows, tree in self._trees
        )
