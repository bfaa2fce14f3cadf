"""PCKMeans: greedy k-means in which pairs may be broken at a price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from kempe import _core
from kempe.problem import Centroids, Colours, Problem
from kempe.rivals.alternation import Step, alternate, descend, not_improved, rows_or_given
from kempe.rivals.copkm import completed
from kempe.rivals.soft import WeightedPairs
from kempe.rivals.soft_rival import SoftRival
from kempe.search.callbacks import Callbacks
from kempe.search.recorder import Recorder
from kempe.search.result import Result

# What follows from pairs may be far more than they are.
MOST_ENTAILED = 20_000_000


class PCKMeans(SoftRival):
    """PCKMeans (Basu, Banerjee and Mooney 2004): one row after the other, broken pairs at a price.

    Neighbourhoods, which are the rows that must-link pairs join, give the first centroids, the
    largest ones first. Then rows go, in random order, to the cluster of the lowest squared
    distance and price of the pairs that this breaks with rows that have a cluster by then, the
    centroids follow, and so on until that no longer pays. Hard pairs hold: those that are joined
    move as one, and clusters with a cannot-linked row are closed. The publication has none; where
    they leave no cluster in the first round, the run ends with ``NoSolutionFoundError``.

    Parameters
    ----------
    n_clusters
        Number of clusters.
    init
        Starting centroids: ``"neighbourhoods"`` as above, ``"k-means++"``, ``"random"`` rows or an
        array (n_clusters, n_features). Where there are fewer neighbourhoods than clusters, a row
        that is cannot-linked to all of them is next; all others lie about the mean of the data at
        random, with its variances.
    entailed
        Whether pairs that follow from others count as well, as the publication has it: all pairs
        within a neighbourhood, and all between two that a cannot-link pair joins. It takes for
        granted that no pair is wrong. What is given is not overruled by what follows, and each that
        follows weighs as much as those that were given do on average.
    max_iter
        Rounds after which a descent that has not settled ends.
    soft_price
        Price of breaking a soft pair of confidence 1, in units of the inertia: twice the weight of
        the publication, which halves squared distances. It leaves the weight to its users. ``None``
        for the mean squared distance of rows from their mean, which does not depend on the scale.
    time_limit
        Seconds of wall time, ``None`` for no limit.
    random_state
        Seed of the run.
    verbose
        0 is silent, 1 shows a progress bar, 2 logs every new best.
    callbacks
        One ``Callbacks`` or a list of them.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    inertia_ : float
    soft_violation_ : float
        Total confidence of the violated soft pairs, without those that were entailed.
    n_iter_ : int
    result_ : Result

    References
    ----------
    S. Basu, A. Banerjee, R. J. Mooney: Active semi-supervision for pairwise constrained clustering.
    SIAM International Conference on Data Mining, 2004.

    Examples
    --------
    >>> from kempe.rivals import PCKMeans
    >>> X = [[0.0], [1.0], [8.0], [9.0]]
    >>> model = PCKMeans(n_clusters=2, random_state=0, soft_price=1.0)
    >>> labels = model.fit(X, soft_must_link=[(0, 1), (2, 3)], soft_cannot_link=[(0, 1)]).labels_
    >>> bool(labels[0] == labels[1]), bool(labels[0] == labels[2])
    (True, False)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SoftRival._parameter_constraints,
        "init": [StrOptions({"neighbourhoods", "k-means++", "random"}), "array-like", callable],
        "entailed": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "soft_price": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "neighbourhoods",
        entailed: bool = True,
        max_iter: int = 300,
        soft_price: float | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Callbacks | Sequence[Callbacks] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.entailed = entailed
        self.max_iter = max_iter
        self.soft_price = soft_price
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def _search(self, problem: Problem, soft: WeightedPairs) -> Result:
        rng = self._generator()
        hoods = neighbourhoods(problem, soft)
        counted = with_entailed(problem, soft, hoods) if self.entailed else soft
        price = self._price(problem)
        with self._recorder(problem) as recorder:

            def search() -> str:
                start = self._start(problem, soft, hoods, rng, recorder)
                return self._descend(problem, counted, price, start, rng, recorder)

            return recorder.follow(search)

    def _start(
        self,
        problem: Problem,
        soft: WeightedPairs,
        hoods: NDArray[np.intp],
        rng: np.random.Generator,
        recorder: Recorder,
    ) -> Centroids:
        if isinstance(self.init, str) and self.init == "neighbourhoods":
            return centroids_of(problem, soft, hoods, rng)
        return rows_or_given(problem, self.init, rng, recorder.stopper)

    def _descend(
        self,
        problem: Problem,
        soft: WeightedPairs,
        price: float,
        start: Centroids,
        rng: np.random.Generator,
        recorder: Recorder,
    ) -> str:
        def objective(colours: Colours, before: Centroids, means: Centroids) -> float:
            return problem.inertia(colours, means) + price * soft.violation(colours)

        def watch(step: Step) -> bool:
            recorder.record(step.solution, "assign")
            return recorder.should_stop()

        assign = PricedAssignment(soft.core(problem.n_supernodes, price), rng)
        steps = alternate(problem, assign, start, recorder.stopper, objective=objective)
        return descend(steps, not_improved, self.max_iter, watch)[1]

    def _price(self, problem: Problem, centroids: Centroids | None = None) -> float:
        if self.soft_price is not None:
            return float(self.soft_price)
        nobody = np.zeros(problem.n_supernodes, dtype=np.int32)
        # Data without any spread has nothing to pay with.
        return problem.inertia(nobody) / float(problem.weight.sum()) or 1.0


@dataclass(frozen=True)
class PricedAssignment:
    """Give supernodes, in random order, the cluster of lowest distance and price of broken pairs.

    Attributes
    ----------
    soft
        Pairs with their prices.
    rng
        Draws an order for each round.
    """

    soft: _core.SoftPairs
    rng: np.random.Generator

    def __call__(
        self,
        problem: Problem,
        centroids: Centroids,
        previous: Colours | None,
        stopper: _core.Stopper,
    ) -> Colours:
        """Assign all supernodes; only the first round can end with ``NoSolutionFoundError``."""
        order = self.rng.permutation(problem.n_supernodes).astype(np.int32)
        colours, stuck = _core.priced_assignment(
            problem.core, self.soft, centroids, order, previous
        )
        return completed(problem, centroids, colours, stuck)


def neighbourhoods(problem: Problem, soft: WeightedPairs) -> NDArray[np.intp]:
    """Give the number of the neighbourhood of each supernode: what must-link pairs join."""
    n, joined = problem.n_supernodes, soft.together
    ends = (soft.first[joined], soft.second[joined])
    graph = sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))
    _, number = sparse.csgraph.connected_components(graph, directed=False)
    return np.asarray(number, dtype=np.intp)


def centroids_of(
    problem: Problem, soft: WeightedPairs, hoods: NDArray[np.intp], rng: np.random.Generator
) -> Centroids:
    """Centroids of the largest neighbourhoods, and what takes the place of those that lack."""
    k, rows = problem.n_clusters, np.bincount(hoods, problem.size)
    largest = np.argsort(-rows, kind="stable")
    largest = largest[rows[largest] > 1][:k]
    weight = np.bincount(hoods, problem.weight)
    found = []
    for hood in largest:
        members = np.flatnonzero(hoods == hood).astype(np.int32)
        share = problem.weight[members] if weight[hood] > 0 else None
        found.append(np.average(problem.points(members), axis=0, weights=share))
    if len(found) < k:
        apart = apart_from_all(problem, soft, hoods, largest)
        found += [problem.points(apart[:1])[0]] if apart.size else []
    about = problem.rows.astype(np.float64)
    drawn = rng.normal(about.mean(axis=0), about.std(axis=0), size=(k - len(found), about.shape[1]))
    return np.ascontiguousarray(np.vstack([*found, drawn]), dtype=np.float64)


def apart_from_all(
    problem: Problem, soft: WeightedPairs, hoods: NDArray[np.intp], chosen: NDArray[np.intp]
) -> NDArray[np.int32]:
    """Supernodes that a cannot-link pair keeps apart from each of these neighbourhoods."""
    ends = _apart(problem, soft)
    both = np.concatenate([ends, ends[:, ::-1]])
    seen = sparse.csr_array(
        (np.ones(len(both)), (both[:, 0], hoods[both[:, 1]])),
        shape=(problem.n_supernodes, int(hoods.max(initial=0)) + 1),
    )
    kept = (seen[:, chosen] > 0).sum(axis=1) == chosen.size
    return np.flatnonzero(kept & ~np.isin(hoods, chosen)).astype(np.int32)


def _apart(problem: Problem, soft: WeightedPairs) -> NDArray[np.int64]:
    """Two supernodes of each cannot-link pair, soft or hard."""
    told = np.column_stack([soft.first[~soft.together], soft.second[~soft.together]])
    return np.concatenate([told, _hard(problem)])


def _hard(problem: Problem) -> NDArray[np.int64]:
    """Two supernodes of each edge."""
    return np.column_stack(sparse.triu(problem.graph.matrix).nonzero()).astype(np.int64)


def with_entailed(problem: Problem, soft: WeightedPairs, hoods: NDArray[np.intp]) -> WeightedPairs:
    """Add the pairs that follow from those that were given, each two supernodes once."""
    if not soft.count:
        return soft
    joined = hoods[_apart(problem, soft)]
    two = np.unique(np.sort(joined[joined[:, 0] != joined[:, 1]], axis=1), axis=0)
    members = np.bincount(hoods).astype(np.int64)
    many = (members * (members - 1) // 2).sum() + members[two].prod(axis=1).sum()
    if many > MOST_ENTAILED:
        raise ValueError(
            f"{many:,} pairs follow from the {soft.count:,} that were given, more than "
            f"{MOST_ENTAILED:,}; leave them out by entailed=False"
        )
    of = np.split(np.argsort(hoods, kind="stable"), np.cumsum(members)[:-1])
    together = _stack([one[np.column_stack(np.triu_indices(len(one), 1))] for one in of])
    apart = _stack([np.stack(np.meshgrid(of[a], of[b]), axis=-1).reshape(-1, 2) for a, b in two])
    return _extended(problem, soft, together, apart)


def _extended(
    problem: Problem, soft: WeightedPairs, together: NDArray[np.int64], apart: NDArray[np.int64]
) -> WeightedPairs:
    """Add pairs of which nothing was said; they weigh what the others weigh on average."""
    ends = np.sort(np.concatenate([together, apart]), axis=1)
    said = np.concatenate([np.column_stack([soft.first, soft.second]), _hard(problem)])
    place = [problem.n_supernodes, 1]
    new = ~np.isin(ends @ place, np.sort(said, axis=1) @ place)
    first, second = ends[new].T
    return WeightedPairs(
        np.concatenate([soft.first, first]),
        np.concatenate([soft.second, second]),
        np.concatenate([soft.confidence, np.full(first.size, soft.confidence.mean())]),
        np.concatenate([soft.together, (np.arange(len(ends)) < len(together))[new]]),
        soft.unavoidable,
    )


def _stack(parts: list[NDArray[np.intp]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *parts])
