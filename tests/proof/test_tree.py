"""The tree of a proof while it grows: workers that fail, depths, ties, what is passed up."""

from __future__ import annotations

import math
import sys
import threading

import numpy as np
import pytest

from kempe import certify
from kempe.proof import tree as tree_module
from kempe.proof.certificate import Cuts
from kempe.proof.dual import Dual
from kempe.proof.facts import Facts
from kempe.proof.presolve import Presolved
from kempe.proof.relaxation import Data
from kempe.proof.tree import Branch, Tree
from random_certificates import overlapping

NOTHING = Presolved(Facts(np.zeros(1, np.int32), np.zeros((1, 1), bool)), ())
DATA = Data(np.zeros((1, 1)), np.ones(1))
DUAL = Dual(np.zeros((1, 1), np.float32), Cuts.none(), np.zeros((1, 1), np.float32), 1.0)


def branch(value: float, children: tuple[Branch, ...] = ()) -> Branch:
    made = Branch((), (), NOTHING, dual=DUAL)
    made.reach(value)
    if children:
        made.kind, made.pair = "split", (0, 0)
        made.adopt(children)
    return made


def slowly_proven(node: Branch, inertia: float) -> float:
    """The bound by its definition, a walk over the whole tree."""
    if not node.children:
        return node.value
    below = min(slowly_proven(child, inertia) for child in node.children)
    return max(node.value, min(inertia, below))


class Failed(Exception):
    """What the split of a node raises in a test."""


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_worker_that_fails_ends_the_proof_with_its_error(monkeypatch, n_jobs):
    splits, lock = [], threading.Lock()

    def fails(*_: object) -> object:
        with lock:
            splits.append(1)
            if len(splits) == 3:
                raise Failed
        return undecided(*_)

    undecided = tree_module.undecided_pair
    monkeypatch.setattr(tree_module, "undecided_pair", fails)
    outcome: list[BaseException] = []

    def run() -> None:
        problem = overlapping(seed=3, n=60, k=3)
        try:
            certify(**problem, n_jobs=n_jobs, random_state=0, time_limit=None, gap=0.0)
        except Failed as error:
            outcome.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(60)
    assert not worker.is_alive(), "the proof waits for a worker that has failed"
    assert len(outcome) == 1


def test_deep_trees_are_bounded_and_written_without_recursion():
    depth = 4 * sys.getrecursionlimit()
    node = branch(0.0)
    bottom = node
    for level in range(depth):
        node = branch(-1.0 - level, (node, branch(7.0)))
    assert node.proven == 0.0
    bottom.reach(5.0)
    assert node.proven == 5.0
    nodes = list(node.nodes(DATA, 10.0))
    assert len(nodes) == 2 * depth + 1
    assert [made.parent for made in nodes[:3]] == [None, 0, 1]
    assert nodes[-1].parent == 0


def test_long_chains_of_fixings_have_an_end():
    last = node = branch(0.0)
    for _ in range(4 * sys.getrecursionlimit()):
        above = branch(-1.0)
        above.kind = "fixing"
        above.adopt([node])
        node = above
    assert node.last is last


@pytest.mark.parametrize("seed", range(20))
def test_what_is_passed_up_is_what_a_walk_over_the_tree_finds(seed):
    rng = np.random.default_rng(seed)
    every = [branch(float(rng.normal()))]
    for _ in range(60):
        parent = every[int(rng.integers(len(every)))]
        if parent.children:
            parent.reach(parent.value + float(rng.exponential()))
        else:
            kind, count = ("split", 2) if rng.random() < 0.7 else ("fixing", 1)
            parent.kind, parent.pair = kind, (0, 0)
            parent.adopt([branch(float(rng.normal())) for _ in range(count)])
            every += parent.children
        inertia = float(rng.normal()) + 1
        assert min(inertia, every[0].proven) == min(inertia, slowly_proven(every[0], inertia))
        for node in every:
            more = slowly_proven(node, inertia) > node.value
            assert node.needs_children(inertia) == more


def test_a_node_that_gave_up_its_proof_keeps_its_children_when_labels_become_better():
    node = branch(5.0, (branch(7.0), branch(8.0)))
    node.settle(10.0)
    assert node.dual is None
    # Labels of inertia 4.9 are better than anything below this node.
    assert [made.kind for made in node.nodes(DATA, 4.9)] == ["split", "bound", "bound"]


def test_a_report_looks_at_the_root_alone():
    tree = object.__new__(Tree)
    tree.incumbent = type("Known", (), {"objective": 10.0})()
    tree.root = branch(1.0, (branch(3.0), branch(4.0)))
    tree.root.children = None  # whoever walks on fails here
    assert tree.proven() == 3.0


def test_ties_between_open_nodes_go_to_the_one_that_was_made_first():
    tree = object.__new__(Tree)
    tree._open, tree._busy, tree._ended = [], 0, False
    tree._changed, tree._stop = threading.Condition(), lambda _: False
    tree.gap = 0.0
    tree.incumbent = type("Known", (), {"objective": 10.0})()
    made = [branch(1.0) for _ in range(200)]
    for number, node in enumerate(made):
        node.number, node.relaxation = number, object()
    for place in np.random.default_rng(0).permutation(200):
        tree._push(made[place])
    assert [tree._next().number for _ in made] == list(range(200))
    assert not math.isinf(tree.target)
