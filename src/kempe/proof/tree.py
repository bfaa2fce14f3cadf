"""The proof as it grows: nodes are bounded, pairs fixed, and the weakest node is split.

Best bound first: the value of the whole is the least over the nodes that are still open, so only
splitting the weakest can raise it.
"""

from __future__ import annotations

import heapq
import itertools
import math
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from kempe import _core
from kempe.proof.ascent import THOROUGH, Ascent, Pace
from kempe.proof.dual import Dual
from kempe.proof.facts import Facts, Pair
from kempe.proof.fixing import fixed_apart
from kempe.proof.incumbent import Incumbent, PartIncumbent
from kempe.proof.nodes import Deduction, Multipliers, Node, NodeKind
from kempe.proof.presolve import Presolved, presolve
from kempe.proof.relaxation import Data, Relaxation
from kempe.proof.splitting import dearest_pair, undecided_pair
from kempe.proof.start import dual_start
from kempe.proof.terms import Terms

# Fixing pairs is worth a node only if this share of the groups merges.
LEAST_MERGED = 0.02


@dataclass(eq=False)
class Branch:
    """A node of the tree while it grows.

    Attributes
    ----------
    together, apart
        What it is given by its parent.
    presolved
        What is known here, and how it follows.
    kind
        How it is bounded, see ``Node``.
    value
        Its own bound, without what its children prove.
    relaxation, dual
        Its matrices and the multipliers that prove the value; not for leaves without any.
    children
        One of a fixing, two of a split.
    dearest
        Two groups about which soft pairs say most, where there are so few groups that nothing else
        is open.
    number
        Nodes are numbered as they are made, which settles ties between equal bounds.
    proven
        Lower bound that the node and all below it prove. A clustering as good as the labels may be
        missing from it, so no more than their inertia is proven.
    """

    together: tuple[Pair, ...]
    apart: tuple[Pair, ...]
    presolved: Presolved
    kind: NodeKind = "bound"
    value: float = -math.inf
    relaxation: Relaxation | None = None
    dual: Dual | None = None
    fixed: tuple[Pair, ...] = ()
    pair: Pair | None = None
    children: list[Branch] = field(default_factory=list)
    dearest: Pair | None = None
    number: int = 0
    proven: float = -math.inf
    # Weak: a tree in a circle would keep its matrices until the collector comes.
    _parent: Callable[[], Branch | None] = field(default=lambda: None, repr=False)

    @property
    def facts(self) -> Facts:
        """What is known here."""
        return self.presolved.facts

    @property
    def last(self) -> Branch:
        """The end of the chain of fixings that begins here."""
        branch = self
        while branch.kind == "fixing":
            (branch,) = branch.children
        return branch

    def reach(self, value: float) -> None:
        """Take a bound of its own, and pass on what it changes, as far up as it does."""
        self.value = value
        branch: Branch | None = self
        # Ends at the root; bounds only rise, so what does not change here changes nothing above.
        while branch is not None:
            below = min((child.proven for child in branch.children), default=-math.inf)
            proven = max(branch.value, below)
            if proven == branch.proven:
                return
            branch.proven, branch = proven, branch._parent()

    def adopt(self, children: Sequence[Branch]) -> None:
        """Take children, and what they prove."""
        self.children = list(children)
        for child in children:
            child._parent = weakref.ref(self)
        self.reach(self.value)

    def needs_children(self, inertia: float) -> bool:
        """Whether the children prove more than the node, given the inertia of the labels.

        Where the node has given up its own proof for theirs, they are needed whatever the labels.
        """
        return bool(self.children) and (self.dual is None or min(inertia, self.proven) > self.value)

    def nodes(self, data: Data, inertia: float, *, fixings: bool = True) -> Iterator[Node]:
        """Give the tree in preorder; children that prove no more than their parent are left out.

        Without fixings, what follows from them is left out, too.
        """
        waiting: list[tuple[Branch, int | None]] = [(self, None)]
        for number in itertools.count():
            if not waiting:
                return
            branch, parent = waiting.pop()
            useful = branch.needs_children(inertia) and (fixings or branch.kind != "fixing")
            yield branch.node(data, parent, useful)
            if useful:
                waiting += [(child, number) for child in reversed(branch.children)]

    def node(self, data: Data, parent: int | None, useful: bool) -> Node:
        """Give the node alone; it needs its own multipliers where its children are of no use."""
        kind = self.kind if useful or self.kind in ("few", "contradiction") else "bound"
        proof = self._multipliers(data) if kind in ("bound", "fixing") else None
        return Node(
            parent=parent,
            kind=kind,
            together=self.together,
            apart=self.apart,
            deductions=self.presolved.deductions,
            multipliers=proof,
            fixed=self.fixed if kind == "fixing" else (),
            pair=self.pair if kind == "split" else None,
            witness=self.presolved.witness,
        )

    def _multipliers(self, data: Data) -> Multipliers:
        """Give what proves the value; if it was never bounded, what proves next to nothing."""
        if self.dual is None:
            assert self.relaxation is not None
            return Multipliers(np.zeros((self.relaxation.size,) * 2, dtype=np.float32))
        return self.dual.multipliers(data)

    def settle(self, inertia: float) -> None:
        """Give back the memory that only further work on the node would need."""
        self.relaxation = None
        if self.dual is not None:
            self.dual = self.dual.without_nearest()
        if self.kind == "split" and self.needs_children(inertia):
            self.dual = None  # the children prove more


@dataclass(frozen=True)
class StallRule:
    """When a bound has stalled: it rose by too small a share of what is missing.

    Attributes
    ----------
    looks
        How far to look back.
    share
        The share of the distance to the target that it must have risen by.
    """

    looks: int
    share: float

    def is_over(self, history: list[float], target: float) -> bool:
        """Whether the bound has stalled."""
        if len(history) <= self.looks:
            return False
        return history[-1] - history[-1 - self.looks] < self.share * (target - history[-1])


ROOT = StallRule(looks=8, share=0.05)
CHILD = StallRule(looks=3, share=0.2)
# Steps of the root at which its matrix is rounded to a clustering.
ROUND_AT = (100, 200, 400, 800, 1600)
# Seconds after which a worker without a node looks whether time is up.
WAIT = 0.1


class Tree:
    """Grows a tree until the bound is near enough to the labels, or until it is told to stop.

    Parameters
    ----------
    data, known, n_clusters
        The problem, after a presolve.
    incumbent
        The labels, which may become better on the way.
    gap
        Relative gap at which a node is closed.
    stop
        Asked at every step, with the seconds that the next one may take.
    report
        Told of every change of the bound.
    stopper
        Ends a presolve, and a search for cuts.
    pace
        How the ascent of a node spends its time.
    terms
        What limits on sizes and soft pairs add; ``None`` where there are neither.

    Attributes
    ----------
    size
        Number of groups at the root; 0 if they need no matrix.
    """

    def __init__(
        self,
        data: Data,
        known: Presolved,
        n_clusters: int,
        incumbent: Incumbent | PartIncumbent,
        gap: float,
        stop: Callable[[float], bool],
        report: Callable[[Tree], None],
        stopper: _core.Stopper | None = None,
        pace: Pace = THOROUGH,
        terms: Terms | None = None,
    ) -> None:
        self.data = data
        self.n_clusters = n_clusters
        self.incumbent = incumbent
        self.gap = gap
        self.n_nodes = 0
        self._stop = stop
        self._report = report
        self._stopper = stopper
        self._pace = pace
        self._terms = terms
        self._open: list[tuple[float, int, Branch]] = []
        self._changed = threading.Condition()
        self._busy = 0
        self._ended = False
        self.root = self._branch((), (), known)
        self.size = self.root.relaxation.size if self.root.relaxation else 0

    @property
    def n_open(self) -> int:
        """Number of nodes that still need a better bound."""
        return len(self._open) + self._busy

    @property
    def target(self) -> float:
        """Bound at which a node is closed, with a little to spare for rounding."""
        return self.incumbent.objective * (1 - 0.98 * self.gap)

    def proven(self) -> float:
        """Lower bound that the tree proves now."""
        return min(self.incumbent.objective, self.root.proven)

    def nodes(self, rows: NDArray[np.int64], *, fixings: bool = True) -> tuple[Node, ...]:
        """Give the tree in preorder; its row ``i`` is row ``rows[i]`` of the certificate."""
        nodes = self.root.nodes(self.data, self.incumbent.objective, fixings=fixings)
        return tuple(renumbered(node, rows) for node in nodes)

    def grow(self, n_jobs: int) -> None:
        """Bound the root, then split open nodes."""
        with libraries().limit(limits=n_jobs):
            self._begin()
        # The nodes of the tree are many and small: one thread for each worker is best.
        with libraries().limit(limits=1):
            if n_jobs == 1:
                self._work()
            else:
                self._work_in_threads(n_jobs)

    def _work(self) -> None:
        """Split the weakest open node, until none is left or time is up."""
        while (branch := self._next()) is not None:
            try:
                self._split(branch)
                with self._changed:
                    for side in branch.children:
                        self._push(side)
                    branch.settle(self.incumbent.objective)
            except BaseException:
                self._end()
                raise
            finally:
                self._release()
            self._report(self)

    def _release(self) -> None:
        """Be idle again; those who wait for nodes look whether there are any to wait for."""
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def _end(self) -> None:
        """Let all workers end at their next step."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _work_in_threads(self, n_jobs: int) -> None:
        with ThreadPoolExecutor(n_jobs) as pool:
            workers = [pool.submit(self._work) for _ in range(n_jobs)]
            try:
                for worker in workers:
                    worker.result()
            except BaseException:
                self._end()
                raise

    def _should_stop(self, needed: float = 0.0) -> bool:
        return self._ended or self._stop(needed)

    def _begin(self) -> None:
        root = self.root
        if root.relaxation is not None:
            colours = root.relaxation.colours(self.incumbent.labels)
            start = dual_start(root.relaxation, colours, self._pace.penalty(self.n_clusters))
            self._bound(root, start, ROOT)
            leaf = root.last
            if leaf.value < self.target and not self._should_stop():
                self.incumbent.search(leaf.facts)
        self._push(root)
        self._report(self)

    def _presolved(self, facts: Facts) -> Presolved:
        return presolve(facts, self.n_clusters, self._stopper)

    def _branch(
        self, together: tuple[Pair, ...], apart: tuple[Pair, ...], known: Presolved
    ) -> Branch:
        """Make a node of what is known there, which includes what it is given."""
        branch = Branch(together, apart, known)
        with self._changed:  # workers count at the same time
            self.n_nodes += 1
            branch.number = self.n_nodes
        excluded = self._terms is not None and self._terms.exclude(branch.facts)
        if branch.presolved.witness or excluded:
            branch.kind = "contradiction"
            branch.reach(math.inf)
            return branch
        relaxation = Relaxation(self.data, branch.facts, self.n_clusters, self._terms)
        if relaxation.size <= self.n_clusters:
            branch.kind = "few"
            branch.dearest = dearest_pair(relaxation)
            branch.reach(relaxation.within)
            self.incumbent.take_groups(relaxation)
        else:
            branch.relaxation = relaxation
        return branch

    def _bound(self, branch: Branch, start: Dual, patience: StallRule) -> None:
        """Raise the bound of a node; where it stalls, fix pairs and go on with its child.

        Every fixing merges a share of the groups, so that there are few in a row.
        """
        node: Branch | None = branch
        while node is not None:
            self._climb(node, start, patience)
            fixed = self._fixed(node)
            if fixed is None:
                return
            node, start = fixed

    def _climb(self, branch: Branch, start: Dual, patience: StallRule) -> None:
        """Raise the bound of a node by its own multipliers."""
        assert branch.relaxation is not None
        ascent = Ascent(branch.relaxation, start, self._pace, self._stopper)

        def stalled(running: Ascent) -> bool:
            self._raise(branch, running)
            self._report(self)
            if branch is self.root and running.steps in ROUND_AT:
                self.incumbent.round(running.relaxation, running.Y)
            return patience.is_over(running.history, self.target)

        ascent.run(lambda: self.target, self._should_stop, stalled)
        self._raise(branch, ascent)
        if branch.value < self.target and ascent.steps and not self._should_stop():
            self.incumbent.round(ascent.relaxation, ascent.Y)

    def _raise(self, branch: Branch, ascent: Ascent) -> None:
        """Take over what an iteration has reached."""
        with self._changed:  # what it changes above is also changed by others
            branch.dual = ascent.best
            branch.reach(ascent.value)

    def _fixed(self, branch: Branch) -> tuple[Branch, Dual] | None:
        """Fix pairs apart; where cliques then merge groups, give the child and its start."""
        relaxation, dual = branch.relaxation, branch.dual
        assert relaxation is not None
        assert dual is not None
        if branch.value >= self.target or not self.incumbent.is_whole:
            return None
        if self._should_stop(0.0 if relaxation.is_dense else relaxation.exact_seconds):
            return None
        fixed = fixed_apart(relaxation, dual, self.incumbent.objective)
        if not fixed:
            return None
        child = self._branch((), fixed, self._presolved(branch.facts.with_apart(fixed)))
        size = child.relaxation.size if child.relaxation else 0
        if size > (1 - LEAST_MERGED) * relaxation.size:
            return None
        with self._changed:
            branch.kind, branch.fixed = "fixing", fixed
            branch.adopt([child])
        if child.relaxation is None:
            return None
        return child, dual.carried_over(relaxation, child.relaxation)

    def _push(self, branch: Branch) -> None:
        """Put the end of a chain of fixings among the open nodes, unless it is closed."""
        leaf = branch.last
        while branch is not leaf:
            branch.settle(self.incumbent.objective)
            branch = branch.children[0]
        is_open = leaf.relaxation is not None or leaf.dearest is not None
        if is_open and leaf.value < self.target:
            heapq.heappush(self._open, (leaf.value, leaf.number, leaf))
        else:
            leaf.settle(self.incumbent.objective)

    def _next(self) -> Branch | None:
        """Take the weakest open node, and wait for one while other workers may make some."""
        with self._changed:
            while not self._should_stop():
                while self._open:
                    _, _, branch = heapq.heappop(self._open)
                    if branch.value < self.target:
                        self._busy += 1
                        return branch
                if not self._busy:
                    break
                self._changed.wait(WAIT)
            return None

    def _split(self, branch: Branch) -> None:
        relaxation, dual, pair = branch.relaxation, branch.dual, branch.dearest
        if relaxation is not None and dual is not None:
            pair = undecided_pair(relaxation, dual.nearest, self.target - branch.value)
        assert pair is not None
        sides = (
            self._branch((pair,), (), self._presolved(branch.facts.with_together([pair]))),
            self._branch((), (pair,), self._presolved(branch.facts.with_apart([pair]))),
        )
        for side in sides:
            if side.relaxation is not None and relaxation is not None and dual is not None:
                self._bound(side, dual.carried_over(relaxation, side.relaxation), CHILD)
        with self._changed:
            branch.kind, branch.pair = "split", pair
            branch.adopt(sides)


@cache
def libraries() -> ThreadpoolController:
    """Libraries of linear algebra; to look for them takes longer than to begin a small part."""
    return ThreadpoolController()


def renumbered(node: Node, rows: NDArray[np.int64]) -> Node:
    """Name a node's rows by other numbers."""

    def named(numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(int(rows[number]) for number in numbers)

    def pairs(given: Iterable[Pair]) -> tuple[Pair, ...]:
        return tuple((int(rows[a]), int(rows[b])) for a, b in given)

    return replace(
        node,
        together=pairs(node.together),
        apart=pairs(node.apart),
        deductions=tuple(
            Deduction(d.kind, pairs([d.pair])[0], named(d.clique)) for d in node.deductions
        ),
        fixed=pairs(node.fixed),
        pair=pairs([node.pair])[0] if node.pair else None,
        witness=named(node.witness),
    )
