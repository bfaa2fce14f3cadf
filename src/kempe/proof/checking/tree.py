"""The tree of a proof: nodes replayed from the root, values combined from the leaves.

What holds for the value of a node: every clustering that agrees with its facts has at least that
inertia on the rows of the part, or is no better than the labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from kempe.exceptions import CertificateError
from kempe.proof.checking.facts import Facts
from kempe.proof.checking.groups import Problem
from kempe.proof.checking.prices import price_bound
from kempe.proof.checking.rounding import require
from kempe.proof.checking.spectrum import spectral_bound
from kempe.proof.checking.terms import Terms
from kempe.proof.nodes import Node, RowPair


def value_of_tree(
    nodes: Sequence[Node],
    facts: Facts,
    problem: Problem,
    report: Callable[[float], None],
    terms: Terms | None = None,
) -> float:
    """Replay a tree from the root, then combine the values of children from the leaves.

    What is reported is how many nodes are done, and which share of the next one.
    """
    children = _children(nodes)
    known = {0: facts}
    values = np.zeros(len(nodes))
    for number, node in enumerate(nodes):
        own = known.pop(number).copy()
        report(number)
        try:
            _check_given(node, [nodes[child] for child in children[number]])
            values[number] = _value_of_node(node, own, problem, _after(number, report), terms)
        except CertificateError as error:
            raise CertificateError(f"node {number}: {error}") from None
        known.update(dict.fromkeys(children[number], own))
    for number in reversed(range(len(nodes))):
        below = min((values[child] for child in children[number]), default=0.0)
        values[number] = max(values[number], min(problem.upper, below))
    return float(values[0])


def _after(done: int, report: Callable[[float], None]) -> Callable[[float], None]:
    return lambda share: report(done + share)


def _children(nodes: Sequence[Node]) -> list[list[int]]:
    """Children of each node; the first node is the only root and is given nothing."""
    rooted = bool(nodes) and (nodes[0].parent, nodes[0].together, nodes[0].apart) == (None, (), ())
    require(rooted, "the first node is no root")
    children: list[list[int]] = [[] for _ in nodes]
    for number, node in enumerate(nodes[1:], start=1):
        parent = -1 if node.parent is None else node.parent
        require(0 <= parent < number, f"node {number} has no parent before it")
        children[parent].append(number)
    return children


def _check_given(node: Node, children: Sequence[Node]) -> None:
    """Children together cover every clustering of the node that is not excluded by its bound."""
    covering: list[tuple[tuple[RowPair, ...], tuple[RowPair, ...]]] = []
    if node.kind == "split" and node.pair is not None:
        covering = [((), (node.pair,)), ((node.pair,), ())]
    elif node.kind == "fixing":
        covering = [((), node.fixed)]
    given = sorted((child.together, child.apart) for child in children)
    require(given == covering, f"the children of a {node.kind} are not given what covers it")


def _value_of_node(
    node: Node,
    facts: Facts,
    problem: Problem,
    report: Callable[[float], None],
    terms: Terms | None,
) -> float:
    """Take in the facts of a node and bound it, apart from what its children show."""
    for pair in node.together:
        facts.join(*pair)
    for pair in node.apart:
        facts.separate(*pair)
    for deduction in node.deductions:
        facts.deduce(deduction, problem.k)
    if node.kind == "split":
        require(node.pair is not None, "a split needs a pair")
        return 0.0
    if node.kind == "contradiction":
        excluded = terms is not None and terms.exclude(facts)
        impossible = excluded or facts.is_contradiction(node.witness, problem.k)
        require(impossible, "there is no contradiction")
        return math.inf
    groups = problem.groups(facts)
    if node.kind == "few":
        require(groups.n <= problem.k, f"there are {groups.n} groups, more than {problem.k}")
        return groups.inertia_at_least(None if terms is None else terms.at(facts, groups).paid)
    require(groups.n > problem.k, f"there are only {groups.n} groups")
    if node.kind == "prices" and node.prices is not None:
        return price_bound(node.prices, facts, groups, report)
    if node.multipliers is None:
        raise CertificateError(f"a {node.kind} needs multipliers")
    return spectral_bound(node.multipliers, node.fixed, facts, groups, terms)
