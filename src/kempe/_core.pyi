"""Compiled kernels of kempe: arrays in, arrays out. They release the GIL while they work."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int32]
_Longs: TypeAlias = NDArray[np.int64]

class Graph:
    """An undirected graph in compressed sparse rows, checked when it is made and never changed.

    Targets ascend within each row, and every edge is in the rows of both its ends.
    """

    def __init__(self, offsets: _Longs, targets: _Ints) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def offsets(self) -> _Longs: ...
    @property
    def targets(self) -> _Ints: ...

class Instance:
    """The immutable problem; borrows its arrays and keeps them alive.

    A supernode's point is ``rows[source]`` if ``source >= 0``, else ``merged[~source]``. One that
    is made ``beside`` another shares its threads.
    """

    def __init__(
        self,
        rows: NDArray[Any],
        merged: NDArray[Any],
        source: _Ints,
        weight: _Floats,
        graph: Graph,
        n_threads: int = 1,
        beside: Instance | None = None,
    ) -> None: ...
    def limit_sizes(self, rows: _Ints, least: _Ints, most: _Ints) -> None:
        """Limit the rows of clusters, once, before anything is made of the instance.

        ``rows`` are those of each supernode, ``least`` and ``most`` those of each cluster.
        """
    def with_soft(self, soft: SoftPairs) -> Instance:
        """Give the same problem with pairs that may be broken at a price."""

    @property
    def is_large(self) -> bool:
        """Whether kernels divide loops over the supernodes among threads."""

    def enter(self) -> None:
        """Announce a thread of Python that works on this problem: those of kernels make room."""

    def leave(self) -> None:
        """Take that back."""

class SoftPairs:
    """Pairs of supernodes that may be broken, each pair once.

    The price of breaking one is positive if it belongs together, negative if it belongs apart.
    """

    def __init__(self, size: int, first: _Ints, second: _Ints, price: _Floats) -> None: ...

class Stopper:
    """Tells kernels when to stop: after ``seconds``, on ``stop()``, or on a signal.

    A kernel that runs when a signal handler raises an exception ends as at a deadline. Of Ctrl-C
    ``interrupted`` tells; anything else is kept, and raised by the next ``look`` or
    ``raise_pending`` in the thread of the handler.
    """

    def __init__(self, seconds: float = ...) -> None: ...
    def child(self, seconds: float = ..., overtime: bool = False) -> Stopper:
        """Make one with a deadline of its own that also stops, or is interrupted, with this one.

        In overtime its deadline may lie behind that of this one, and only signals end both.
        """
    def look(self) -> bool:
        """Look at the clock and at pending signals; whether to stop."""
    def raise_pending(self) -> None:
        """Raise what a signal handler has raised while a kernel ran, if anything."""
    def stop(self) -> None:
        """Stop this one and its children, but not its parent."""
    @property
    def stopped(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def remaining(self) -> float: ...

def supernodes(rows: int, must_link: NDArray[Any]) -> tuple[_Ints, int]:
    """Supernode of each row, numbered by first row, and their number."""

def cannot_link_graph(supernode: _Ints, size: int, cannot_link: NDArray[Any]) -> tuple[Graph, int]:
    """Return the graph, and the position of a pair inside one supernode or -1."""

def merge_rows(
    rows: NDArray[Any], members: _Ints, group: _Ints, weight: _Floats, groups: int
) -> tuple[NDArray[Any], float]:
    """Weighted means of groups of rows, given group by group, and the inertia inside them."""

def combine_rows(
    rows: NDArray[Any], labels: _Ints, coefficients: _Floats, centroids: _Floats
) -> _Floats:
    """For each cluster the sum of ``coefficient * (row - centroid)`` over its rows."""

def sum_squares(rows: NDArray[Any], labels: _Ints, weights: _Floats, n_clusters: int) -> _Floats:
    """For each cluster and feature the sum of ``weight * row ** 2`` over its rows."""

def cluster_means(instance: Instance, colours: _Ints, n_clusters: int) -> tuple[_Floats, _Floats]:
    """Mean and weight of each cluster."""

def between_inertia(instance: Instance, colours: _Ints, centroids: _Floats) -> float:
    """Weighted squared distances of all supernodes to their centroids."""

def squared_distances(instance: Instance, vertices: _Ints, centroids: _Floats) -> _Floats:
    """Squared distances of some supernodes to all centroids."""

def points(instance: Instance, vertices: _Ints) -> _Floats:
    """Points of some supernodes."""

def is_proper(graph: Graph, colours: _Ints) -> bool:
    """Whether no edge joins two vertices of one colour."""

def saturation_assignment(
    instance: Instance, centroids: _Floats, stopper: Stopper | None = None
) -> tuple[_Ints, int]:
    """Nearest admissible centroid in saturation order; the vertex that got stuck, or -1.

    What is left when the stopper says so gets any admissible one.
    """

def transport(instance: Instance, centroids: _Floats, stopper: Stopper) -> _Ints:
    """Cheapest assignment of single rows in no pair to fixed centroids within limits on sizes.

    When the stopper says so, rows that are too many go wherever there is room.
    """

def dsatur(graph: Graph, n_clusters: int) -> tuple[_Ints, int]:
    """Classic DSATUR colouring; the vertex that got stuck, or -1."""

def ordered_assignment(
    instance: Instance, centroids: _Floats, order: _Ints, relaxed: bool = False
) -> tuple[_Ints, int]:
    """Nearest admissible centroid in the given order; the vertex that got stuck, or -1.

    With ``relaxed`` a vertex without an admissible centroid takes the nearest of all instead.
    """

def priced_assignment(
    instance: Instance,
    soft: SoftPairs,
    centroids: _Floats,
    order: _Ints,
    previous: _Ints | None = None,
) -> tuple[_Ints, int]:
    """Cheapest admissible cluster in the given order; the vertex that got stuck, or -1.

    What counts is the squared distance and the prices of soft pairs with those that have a cluster
    by then: those before in the order, and all others if there is a previous assignment.
    """

def breadth_first_order(graph: Graph) -> _Ints:
    """Constrained vertices breadth first, component by component, then the free ones."""

def clique_cover(graph: Graph, stopper: Stopper | None = None) -> tuple[_Longs, _Ints]:
    """Maximal cliques that cover all edges, as offsets and members (ascending in each).

    A stopper that strikes leaves the rest of the edges to cliques of two.
    """

def largest_clique(graph: Graph, wanted: int, stopper: Stopper) -> tuple[_Ints, bool]:
    """Return a clique, and whether it is maximum or has ``wanted`` vertices."""

def peel(graph: Graph, n_clusters: int) -> _Ints:
    """Vertices removed, in order, while one has fewer than ``n_clusters`` neighbours left."""

def unpeel(graph: Graph, order: _Ints, colours: _Ints, n_clusters: int) -> _Ints:
    """Colour the vertices of ``order``, last first; ``colours`` is -1 where there is none yet."""

def colour_exactly(
    graph: Graph, n_clusters: int, nodes: int, stopper: Stopper
) -> tuple[int, _Ints, NDArray[np.uint8]]:
    """Search at most ``nodes`` nodes.

    Returns 1 if there is a colouring, 0 if there is none, -1 if that is not known; the colours; and
    which vertices were looked at (if there is no colouring, these alone have none).
    """

def tabu_colouring(
    graph: Graph,
    n_clusters: int,
    start: _Ints,
    allowed: NDArray[np.uint8] | None,
    seed: int,
    iterations: int,
    stopper: Stopper,
) -> tuple[_Ints, int]:
    """Fewest conflicts that tabu search finds from ``start``: the colours and their number."""

def fewest_broken(
    pairs: SoftPairs, n_clusters: int, start: _Ints, seed: int, iterations: int, stopper: Stopper
) -> _Ints:
    """Clustering of least price of broken pairs that tabu search meets from ``start``."""

def cheapest_colouring(graph: Graph, costs: _Floats) -> tuple[_Ints, bool]:
    """Cheapest admissible cluster, vertices with the fewest left first; whether all got one."""

def chain_descent(graph: Graph, costs: _Floats, colours: _Ints, stopper: Stopper) -> _Ints:
    """Swap Kempe chains as long as that lowers the total cost."""

def anneal_inertia(
    instance: Instance,
    colours: _Ints,
    n_clusters: int,
    sweeps: int,
    hot: float,
    cold: float,
    cheap: float,
    expensive: float,
    seed: int,
    stopper: Stopper,
) -> _Ints:
    """Proper colouring of lowest objective met by annealing, or the last one if none was proper.

    As ``anneal``, but the centroids follow after every sweep. Costs are in units of the mean cost
    above the nearest cluster at the start, which need not be proper.
    """

def begin_dropping_stray_lines() -> None:
    """Drop a line that HiGHS prints whatever its options say, from now on and in any thread.

    All else that compiled code prints goes on to the standard output at once.
    """

def end_dropping_stray_lines() -> None:
    """Leave the standard output alone again, unless others still want that line dropped."""

def anneal(
    graph: Graph,
    costs: _Floats,
    colours: _Ints,
    sweeps: int,
    hot: float,
    cold: float,
    cheap: float,
    expensive: float,
    seed: int,
    stopper: Stopper,
    soft: SoftPairs | None = None,
) -> _Ints:
    """Cheapest proper colouring met by simulated annealing; ``colours`` if there was none.

    The temperature falls from ``hot`` to ``cold`` while the price of an edge within a cluster rises
    from ``cheap`` to ``expensive``; a sweep tries as many moves as there are vertices. Prices of
    broken soft pairs are costs.
    """

def kmeans_plus_plus(
    instance: Instance,
    candidates: _Ints,
    n_clusters: int,
    seed: int,
    stopper: Stopper | None = None,
) -> _Ints:
    """Supernodes drawn by greedy k-means++ from ``candidates``.

    Those that are missing when the stopper says so are any others.
    """

def refine_centroids(
    instance: Instance, vertices: _Ints, centroids: _Floats, share: float, stopper: Stopper
) -> _Floats:
    """Centroids after k-means steps on some supernodes.

    The first step that lowers the cost by less than a share of it is the last.
    """

def crowd(
    rows: NDArray[Any],
    weight: _Floats,
    held: _Longs,
    centroids: _Floats,
    cluster_weight: _Floats,
) -> tuple[_Floats, _Floats, _Floats, _Longs, _Floats]:
    """Add up rows at their nearest centroids, those in ``held`` left out.

    Per cluster the weight, the weighted sum of differences to the centroid, and the cost; rows that
    another cluster would take for less once means follow, and how much less. An empty ``weight``
    means 1 for each row; with an empty ``cluster_weight`` nobody asks for those rows.
    """

def nearest_centroids(rows: NDArray[Any], centroids: _Floats) -> tuple[_Ints, _Floats]:
    """Nearest centroid of each row, and the squared distance to it."""

def own_costs(instance: Instance, colours: _Ints, centroids: _Floats) -> _Floats:
    """Weighted squared distance of every supernode to its centroid."""

def improving_chains(
    instance: Instance, colours: _Ints, centroids: _Floats
) -> tuple[_Longs, _Ints, _Ints, _Floats]:
    """All Kempe chains whose swap lowers the cost at fixed centroids.

    Offsets into the vertices of the chains, the vertices, the colour each gets by the swap, and the
    gain of every chain.
    """

def move_conflicts(
    graph: Graph, offsets: _Longs, vertices: _Ints, colours: _Ints
) -> tuple[_Longs, _Ints]:
    """Graph of the moves that exclude each other, in compressed sparse rows.

    Two moves do if they share a vertex, or if a cannot-link edge joins them and both its ends would
    have the same colour afterwards.
    """

# Chooses chains by their gains and the graph of conflicts (offsets, targets): a mask.
_Choose: TypeAlias = Callable[[_Floats, _Longs, _Ints], NDArray[np.bool_]]

def simultaneous_step(
    instance: Instance, colours: _Ints, centroids: _Floats, choose: _Choose | None = None
) -> _Ints:
    """One simultaneous Kempe assignment: all improving chains, of which ``choose`` takes some.

    ``None``: the greedy independent set, without the interpreter's lock. Vertices that have no
    cannot-link edge go to their nearest centroids.
    """

def simultaneous_settle(
    instance: Instance,
    colours: _Ints,
    centroids: _Floats,
    stopper: Stopper,
    choose: _Choose | None = None,
) -> _Ints:
    """Repeat ``simultaneous_step`` until no chain improves."""

def simultaneous_descend(
    instance: Instance,
    colours: _Ints,
    n_clusters: int,
    stopper: Stopper,
    choose: _Choose | None = None,
    seed: int | None = None,
) -> _Ints:
    """Alternate centroid update and ``simultaneous_step`` until no chain improves.

    The centroid of an empty cluster is the vertex that costs most, or with a ``seed`` any.
    """

def three_colour_moves(
    instance: Instance, colours: _Ints, fresh: NDArray[np.bool_], stopper: Stopper
) -> tuple[_Longs, _Ints, _Ints, _Floats]:
    """Improved rotations of three-colour components that lower the inertia.

    As ``improving_chains``, but the gain is in inertia, about moving centroids. Only triples with a
    ``fresh`` cluster are looked at, and only components with a supernode that lies closer to the
    centroid of another cluster of the triple than to its own.
    """

def fill_empty(instance: Instance, colours: _Ints, n_clusters: int) -> _Ints:
    """Give each empty cluster the vertex whose move lowers the inertia most."""

def mwis_greedy(weights: _Floats, offsets: _Longs, targets: _Ints) -> NDArray[np.bool_]:
    """Heavy maximal independent set: greedy, then local search."""

def mwis_by_order(
    weights: _Floats, offsets: _Longs, targets: _Ints, score: _Floats
) -> NDArray[np.bool_]:
    """Maximal independent set that takes nodes by descending score."""

def mwis_small(weights: _Floats, offsets: _Longs, targets: _Ints) -> NDArray[np.bool_]:
    """Heaviest independent set of a graph of at most 32 nodes."""

def best_partition(
    instance: Instance, colours: _Ints, n_clusters: int, stopper: Stopper
) -> tuple[_Ints, bool]:
    """Lowest inertia over all proper colourings without empty clusters; at most 64 supernodes.

    Returns ``colours`` unless there is a better one, and whether the search was completed.
    """

class SequentialSearch:
    """Sequential Kempe descent; holds its working memory, so use one per thread."""

    def __init__(self, instance: Instance, n_clusters: int) -> None: ...
    def settle(self, colours: _Ints, centroids: _Floats, stopper: Stopper) -> _Ints:
        """Swap chains that lower the cost to fixed centroids until none is left."""
    def repair(self, colours: _Ints, centroids: _Floats, stopper: Stopper) -> tuple[_Ints, int]:
        """Move vertices at the least cost to fixed centroids until clusters keep their limits.

        Returns by how many rows they still break them.
        """
    def assign_by_table(
        self, colours: _Ints, centroids: _Floats, thorough: bool, stopper: Stopper
    ) -> _Ints:
        """Recolour by ejection chains and short Kempe chains, as ``descend`` does on large data.

        Costs to fixed centroids are rounded to single precision. A thorough search also puts each
        supernode where it wants to be and sees what comes of it.
        """
    def descend(self, colours: _Ints, stopper: Stopper) -> _Ints:
        """Swap chains that lower the inertia, centroids following, until none is left."""
    def work_done(self) -> tuple[int, int]:
        """Count steps of inner loops since the last descent began, where soft pairs have prices.

        Those of single vertices, and those that looking for groups of them took.
        """
    def estimate(self, colours: _Ints, removed: int, onto: int) -> float:
        """Foresee what moving a centroid onto a supernode changes the inertia by.

        Of the dissolved cluster each supernode goes to the nearest centroid that it can join
        alone, or to the new one; others join the new one if it is nearer than their own.
        """
    def relocate(
        self,
        colours: _Ints,
        tries: int,
        patience: int,
        failures: int,
        target: float,
        seed: int,
        stopper: Stopper,
    ) -> tuple[_Ints, int, int]:
        """Relocate single centroids and keep what improves.

        Ends after ``tries``, after ``patience`` failures in a row (``failures`` of them before
        this call), or at an inertia between supernodes of ``target``. Returns the colours, the
        number of tries, and the failures in a row.
        """

class CutPool:
    """Cuts of a relaxation and their multipliers, see ``cpp/proof/cuts.h``; one per thread."""

    def __init__(self, weight: _Floats, cannot: NDArray[np.uint8], n_clusters: int) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        centres: _Ints,
        offsets: NDArray[np.int64],
        members: _Ints,
        multipliers: _Floats,
    ) -> int:
        """Add cuts that are not there yet, and return how many were not."""
    def project(
        self,
        matrix: NDArray[np.float32],
        work: NDArray[np.float32],
        nearest: NDArray[np.float32],
        sweeps: int,
    ) -> float:
        """Approach the nearest matrix that is non-negative, zero where apart, and within the cuts.

        ``work`` becomes the matrix less all multiplied cuts, and ``nearest`` what of it is not
        negative. Returns the largest change in the last sweep.
        """
    def limit_diagonal(self, least: NDArray[np.float32], most: NDArray[np.float32]) -> None:
        """Let projections have no diagonal entry below or above these."""
    def drop(self, patience: int) -> int:
        """Forget cuts without a multiplier at so many calls in a row; returns how many."""
    def scale_multipliers(self, factor: float) -> None: ...
    def arrays(self) -> tuple[_Ints, NDArray[np.int64], _Ints, _Floats]:
        """Centres, offsets, members and multipliers."""

class Pricing:
    """Groups that pay for being in a cluster, see ``cpp/proof/pricing.h``; one per thread."""

    def __init__(self, points: _Floats, weight: _Floats, threads: int) -> None: ...
    def arrange(
        self, unit: _Ints, hubs: _Ints, offsets: NDArray[np.int64], neighbours: _Ints
    ) -> None:
        """Say which groups share what they pay, and which are hubs with which neighbours."""
    def climb(
        self, prices: _Floats, starts: _Floats, steps: int, stopper: Stopper
    ) -> tuple[_Floats, _Floats, _Floats, NDArray[np.int64], _Ints]:
        """Move centres to the means of those that pay there, until these no longer change.

        Returns of each set that pays anything its prices less its cost, its cost, its centre, and
        the offsets and members of all sets.
        """
    def cover(
        self, prices: _Floats, target: float, most_boxes: int, stopper: Stopper
    ) -> tuple[bool, int, int, _Floats]:
        """Show by boxes that nowhere more than the target is paid.

        Returns whether that is shown, the number of boxes, that of looks at a group, and a position
        where more is paid, if one was met.
        """

def violated_cuts(
    matrix: NDArray[np.float32],
    weight: _Floats,
    least: float,
    per_centre: int,
    larger: bool,
    stopper: Stopper,
) -> tuple[_Ints, NDArray[np.int64], _Ints, NDArray[np.float32]]:
    """Triangles and, if wanted, larger cuts that a matrix violates by more than ``least``.

    At most ``per_centre`` of both kinds for each centre, and none of those centres that it has no
    time for. Returns centres, offsets, members and by which share of the centre's diagonal entry
    each is violated.
    """

def clique_deductions(
    graph: Graph, n_clusters: int, stopper: Stopper
) -> tuple[NDArray[np.uint8], _Ints, NDArray[np.int64], _Ints]:
    """Deduce what cliques imply: 0 apart, 1 together, 2 contradiction; pairs; cliques.

    What was deduced before the stopper struck holds as well.
    """

def cliques_of_size(graph: Graph, size: int, most: int) -> _Ints:
    """All cliques of a size, or the first ``most``, one in each row."""
