"""Whatever is changed in a certificate, its file or the data, the checker says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kempe.exceptions import CertificateError, FileFormatError
from kempe.proof import OptimalityCertificate
from kempe.proof.certificate import Cuts, Deduction, Node, Part
from kempe.proof.checking import check, prove
from random_certificates import Tiny, TreeMaker, random_certificate, random_tiny

NO_PAIRS = np.empty((0, 2), dtype=np.int64)
Case = tuple[OptimalityCertificate, Tiny]


def verified(certificate: OptimalityCertificate, problem: Tiny) -> Any:
    """Check a certificate against the data of a problem."""
    return check(certificate, *problem.data[:4])


def cases(n_cases: int = 150) -> list[Case]:
    """Certificates of a single tree that hold."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(n_cases):
        problem = random_tiny(rng)
        certificate, _ = random_certificate(rng, problem)
        if len(certificate.parts) == 1:
            found.append((certificate, problem))
    return found


CASES = cases()


def with_node(certificate: OptimalityCertificate, number: int, **changes: Any):
    """The certificate with another node."""
    (part,) = certificate.parts
    nodes = list(part.nodes)
    nodes[number] = replace(nodes[number], **changes)
    return replace(certificate, parts=(replace(part, nodes=tuple(nodes)),))


def with_cuts(certificate: OptimalityCertificate, number: int, **changes: Any):
    """The certificate with other cuts in a node."""
    multipliers = certificate.parts[0].nodes[number].multipliers
    cuts = replace(multipliers.cuts, **changes)
    return with_node(certificate, number, multipliers=replace(multipliers, cuts=cuts))


def with_slack(certificate: OptimalityCertificate, number: int, slack: Any):
    """The certificate with another slack in a node."""
    multipliers = certificate.parts[0].nodes[number].multipliers
    return with_node(certificate, number, multipliers=replace(multipliers, slack=slack))


def refused(reason: str, change: Callable[[OptimalityCertificate, Tiny, int, Node], Any]) -> None:
    """Make the change to every node of every case that allows it; all must be refused."""
    tried = 0
    for certificate, problem in CASES:
        for number, node in enumerate(certificate.parts[0].nodes):
            changed = change(certificate, problem, number, node)
            if changed is not None:
                tried += 1
                with pytest.raises(CertificateError, match=reason):
                    verified(changed, problem)
    assert tried > 3


def test_what_is_tampered_with_holds_before():
    for certificate, problem in CASES:
        proven = verified(certificate, problem)
        assert proven.lower_bound == certificate.lower_bound
        assert proven.inertia == certificate.inertia


def test_the_sign_of_a_slack():
    def change(certificate, problem, number, node):
        if node.multipliers is None or not (node.multipliers.slack > 0).any():
            return None
        slack = node.multipliers.slack.copy()
        i, j = np.argwhere(slack > 0)[0]
        slack[i, j] = slack[j, i] = -slack[i, j]
        # On a cannot-link pair either sign is right.
        changed = with_slack(certificate, number, slack)
        return changed if i == j else None

    refused("is negative", change)


def test_half_of_a_symmetric_pair():
    def change(certificate, problem, number, node):
        if node.multipliers is None or len(node.multipliers.slack) < 2:
            return None
        slack = node.multipliers.slack.copy()
        slack[0, 1] += 1
        return with_slack(certificate, number, slack)

    refused("symmetric", change)


def test_a_slack_of_another_size():
    def change(certificate, problem, number, node):
        if node.multipliers is None:
            return None
        return with_slack(certificate, number, node.multipliers.slack[1:, 1:])

    refused("slack of shape", change)


def test_the_sign_of_the_multiplier_of_a_cut():
    def change(certificate, problem, number, node):
        if node.multipliers is None or not node.multipliers.cuts.centres.size:
            return None
        cuts = node.multipliers.cuts
        if np.diff(cuts.offsets)[0] == problem.n_clusters:
            return None  # perhaps an equality, for which either sign is right
        multipliers = cuts.multipliers.copy()
        multipliers[0] = -abs(multipliers[0])
        return with_cuts(certificate, number, multipliers=multipliers)

    refused("multiplier of cut 0 is negative", change)


@pytest.mark.parametrize(
    ("index", "reason"), [(-1, "not in"), (1000, "not in"), (None, "names a group twice")]
)
def test_the_index_of_a_cut(index, reason):
    def change(certificate, problem, number, node):
        if node.multipliers is None or not node.multipliers.cuts.centres.size:
            return None
        members = node.multipliers.cuts.members.copy()
        members[0] = members[1] if index is None else index
        return with_cuts(certificate, number, members=members)

    refused(reason, change)


def test_cuts_that_do_not_fit_together():
    def change(certificate, problem, number, node):
        if node.multipliers is None or not node.multipliers.cuts.centres.size:
            return None
        return with_cuts(certificate, number, offsets=node.multipliers.cuts.offsets[1:])

    refused("malformed", change)


def test_a_scale_that_is_no_power_of_two():
    def change(certificate, problem, number, node):
        if node.multipliers is None:
            return None
        return with_node(certificate, number, multipliers=replace(node.multipliers, scale=3.0))

    refused("power of two", change)


def test_the_clique_of_a_deduction():
    def change(certificate, problem, number, node):
        if not node.deductions or not node.deductions[0].clique:
            return None
        first = node.deductions[0]
        clique = (first.pair[0], *first.clique[1:])  # a row is not apart from itself
        deductions = (Deduction(first.kind, first.pair, clique), *node.deductions[1:])
        return with_node(certificate, number, deductions=deductions)

    refused("need not be", change)


def test_a_shorter_clique():
    def change(certificate, problem, number, node):
        if not node.deductions or not node.deductions[0].clique:
            return None
        first = node.deductions[0]
        deduction = Deduction(first.kind, first.pair, first.clique[1:])
        return with_node(certificate, number, deductions=(deduction, *node.deductions[1:]))

    refused("need not be", change)


def test_a_fact_that_nobody_proved():
    def change(certificate, problem, number, node):
        return with_node(certificate, number, apart=(*node.apart, (0, len(problem.X) - 1)))

    refused("no root|covers", change)


def test_a_fixed_pair():
    X = np.array([[0.0], [0.5], [8.0], [8.5]])
    problem = Tiny(X, np.ones(4), NO_PAIRS, NO_PAIRS, 2)
    labels = np.array([0, 0, 1, 1], dtype=np.int32)
    rng = np.random.default_rng(0)
    trees = [TreeMaker(rng, problem, upper=0.25).tree() for _ in range(40)]
    trees = [tree for tree in trees if tree[0].kind == "fixing"]
    assert trees
    for root, *others in trees:
        fixed = (*root.fixed, (0, 1))  # the labels have these two together
        child = replace(others[0], apart=fixed)
        part = Part(np.arange(4), (replace(root, fixed=fixed), child, *others[1:]))
        prove(*problem.data, labels, (replace(part, nodes=(root, *others)),))
        with pytest.raises(CertificateError, match="fixed pair"):
            prove(*problem.data, labels, (part,))


def test_a_child_less():
    def change(certificate, problem, number, node):
        (part,) = certificate.parts
        if node.kind != "split" or part.nodes[-1].parent != number:
            return None
        return replace(certificate, parts=(replace(part, nodes=part.nodes[:-1]),))

    refused("covers", change)


def test_a_witness():
    def change(certificate, problem, number, node):
        if node.kind != "contradiction":
            return None
        return with_node(certificate, number, witness=node.witness[:-1])

    refused("no contradiction", change)


@pytest.mark.parametrize("kind", ["bound", "few"])
def test_a_node_of_the_wrong_kind(kind):
    def change(certificate, problem, number, node):
        wrong = {"few": "bound", "bound": "few"}
        return with_node(certificate, number, kind=kind) if wrong.get(node.kind) == kind else None

    refused("there are", change)


def test_a_row_that_does_not_exist():
    def change(certificate, problem, number, node):
        if not node.deductions:
            return None
        first = replace(node.deductions[0], pair=(0, len(problem.X)))
        return with_node(certificate, number, deductions=(first, *node.deductions[1:]))

    refused("there is no row|need not be", change)


def same_inertia(certificate: OptimalityCertificate, problem: Tiny) -> bool:
    """Whether the labels have the inertia that the certificate claims."""
    labels = np.unique(certificate.labels, return_inverse=True)[1]
    (inertia,) = problem.inertias(labels[None])
    return bool(abs(inertia - certificate.inertia) <= 1e-8 * certificate.inertia)


def test_a_label():
    for certificate, problem in CASES:
        for row, label in enumerate(certificate.labels):
            labels = certificate.labels.copy()
            labels[row] = (label + 1) % (problem.n_clusters + 1)
            changed = replace(certificate, labels=labels)
            if labels[row] == problem.n_clusters or not same_inertia(changed, problem):
                with pytest.raises(CertificateError, match=r"label|fixed pair"):
                    verified(changed, problem)


def test_a_claim():
    for certificate, problem in CASES:
        if certificate.inertia > 0:
            for name, claim in (("lower_bound", "bound"), ("inertia", "inertia")):
                value = getattr(certificate, name) + 1e-6 * certificate.inertia
                with pytest.raises(CertificateError, match=claim):
                    verified(replace(certificate, **{name: value}), problem)


@pytest.mark.parametrize("name", ["X", "weights", "must_link", "cannot_link"])
def test_the_data(name):
    tried = 0
    for certificate, problem in CASES:
        array = getattr(problem, name).copy()
        if not len(array):
            continue
        tried += 1
        array[-1] = array[-1] + 1 if array.dtype.kind == "i" else np.nextafter(array[-1], np.inf)
        with pytest.raises(CertificateError, match="other data"):
            verified(certificate, replace(problem, **{name: array}))
    assert tried > 5


def test_two_parts_with_a_common_row():
    certificate, problem = CASES[0]
    doubled = replace(certificate, parts=certificate.parts * 2)
    with pytest.raises(CertificateError, match="share a row"):
        verified(doubled, problem)


def test_no_cuts_prove_less_but_are_no_error():
    for certificate, problem in CASES:
        for number, node in enumerate(certificate.parts[0].nodes):
            if node.kind == "bound":
                multipliers = replace(node.multipliers, cuts=Cuts.none())
                changed = with_node(certificate, number, multipliers=multipliers)
                verified(replace(changed, lower_bound=0.0), problem)


def test_a_bit_of_the_file(tmp_path):
    certificate, problem = max(CASES, key=lambda case: case[0].n_nodes)
    path = tmp_path / "proof.kempe"
    certificate.save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refusals = 0
    for position in rng.integers(8 * len(content), size=300).tolist():
        damaged = bytearray(content)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        try:
            proven = verified(OptimalityCertificate.load(path), problem)
        except (FileFormatError, CertificateError):
            refusals += 1
        else:  # a bit that carries nothing, such as the time in an entry of the archive
            assert proven == verified(certificate, problem)
    assert refusals > 150
