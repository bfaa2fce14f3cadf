"""What the checker proves is true: never above the optimum, and as large as the theorem allows."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

import numpy as np
import pytest

from kempe.exceptions import CertificateError
from kempe.proof.certificate import Multipliers, Node, Part
from kempe.proof.checking import prove
from random_certificates import (
    Knowledge,
    Theorem,
    Tiny,
    groups_apart,
    random_certificate,
    random_multipliers,
    random_tiny,
)

NO_PAIRS = np.empty((0, 2), dtype=np.int64)


def never_above_the_optimum(seed: int, n_instances: int) -> Counter[str]:
    """Check random certificates; count the kinds of nodes and what the bounds are worth."""
    rng = np.random.default_rng([7, seed])
    seen: Counter[str] = Counter()
    for _ in range(n_instances):
        certificate, optimum = random_certificate(rng, random_tiny(rng))
        assert certificate.lower_bound <= optimum <= certificate.inertia
        nodes = [node for part in certificate.parts for node in part.nodes]
        seen.update(node.kind for node in nodes)
        seen.update(deduction.kind for node in nodes for deduction in node.deductions)
        seen["parts"] += len(certificate.parts) > 1
        seen["tight"] += certificate.lower_bound > (1 - 1e-6) * optimum > 0
        seen["loose"] += 0 < certificate.lower_bound < (1 - 1e-6) * optimum
    return seen


@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_above_the_optimum_of_tiny_problems(seed):
    seen = never_above_the_optimum(seed, 250)
    kinds = {"bound", "fixing", "split", "few", "contradiction", "together", "apart", "parts"}
    assert set(seen) >= kinds | {"tight", "loose"}
    assert min(seen.values()) > 5


@pytest.mark.stress
@pytest.mark.parametrize("seed", range(4, 40))
def test_no_bound_is_above_the_optimum_of_more_tiny_problems(seed):
    never_above_the_optimum(seed, 250)


def test_without_room_for_rounding_some_bounds_would_be_wrong(monkeypatch):
    monkeypatch.setattr("kempe.proof.checking.rounding.EPSILON", 0.0)
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(250):
        with suppress(CertificateError):  # a factorisation without any room does not end
            certificate, optimum = random_certificate(rng, random_tiny(rng))
            wrong += certificate.lower_bound > optimum
    assert wrong


def root_alone(problem: Tiny, labels, multipliers: Multipliers | None):
    """Prove what a single node shows."""
    node = Node(None, "few" if multipliers is None else "bound", multipliers=multipliers)
    return prove(*problem.data, labels, (Part(np.arange(len(problem.X)), (node,)),))


def moderate(seed: int, *, n: int = 60, k: int = 4, d: int = 5) -> tuple[Tiny, np.ndarray]:
    """A planted problem with some pairs and weights, and its hidden labels."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    X = 3 * rng.normal(size=(k, d))[labels] + rng.normal(size=(n, d))
    pairs = rng.integers(n, size=(n // 2, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return Tiny(X, rng.uniform(0.5, 2, n), pairs[same], pairs[~same], k), labels


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 6])
def test_the_bound_is_that_of_the_theorem(seed, k):
    problem, labels = moderate(seed, k=k)
    knowledge = Knowledge(problem)
    groups = knowledge.groups(problem)
    theorem = Theorem(problem, groups)
    rng = np.random.default_rng(seed)
    multipliers = random_multipliers(rng, problem, groups_apart(knowledge, groups), theorem)
    proven = root_alone(problem, labels, multipliers)
    value = max(theorem.value(multipliers)[0], theorem.inside)
    assert value * (1 - 1e-8) <= proven.lower_bound <= value * (1 + 1e-14)


@pytest.mark.parametrize("length", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("mass", [1e-60, 1.0, 1e60])
def test_the_units_of_data_and_weights_do_not_matter(length, mass):
    problem, labels = moderate(0)
    groups = Knowledge(problem).groups(problem)
    slack = np.full((len(groups), len(groups)), 0.01, dtype=np.float32)
    scale = 2.0 ** np.round(np.log2(length) * 2 + np.log2(mass))
    usual = root_alone(problem, labels, Multipliers(slack))
    other = Tiny(
        problem.X * np.sqrt(scale / 2.0 ** np.round(np.log2(mass))),
        problem.weights * 2.0 ** np.round(np.log2(mass)),
        *problem.data[2:],
    )
    scaled = root_alone(other, labels, Multipliers(slack, scale=scale))
    assert scaled.lower_bound / scale == pytest.approx(usual.lower_bound, rel=1e-9)
    assert scaled.inertia / scale == pytest.approx(usual.inertia, rel=1e-9)


def test_an_offset_costs_no_more_digits_than_the_data_has_lost():
    problem, labels = moderate(0)
    far = Tiny(problem.X.round(3) + 1e8, *problem.data[1:])
    near = Tiny(far.X - 1e8, *problem.data[1:])
    groups = Knowledge(near).groups(near)
    multipliers = Multipliers(np.zeros((len(groups), len(groups)), dtype=np.float32))
    proven = [root_alone(p, labels, multipliers).lower_bound for p in (far, near)]
    assert proven[0] == pytest.approx(proven[1], rel=1e-10)
    assert proven[0] > 0


@pytest.mark.parametrize("k", [1, 3, 5])
def test_groups_that_need_not_share_clusters_leave_no_gap(k):
    problem = Tiny(np.array([[1.0], [2.0], [2.0]]), np.ones(3), NO_PAIRS, NO_PAIRS, k)
    labels = np.array([0, 1, 1]) % k
    if k == 1:
        must_link = np.array([[0, 1], [1, 2]])
        problem = Tiny(problem.X, problem.weights, must_link, NO_PAIRS, k)
    proven = root_alone(problem, labels, None)
    assert proven.lower_bound == pytest.approx(proven.inertia, rel=1e-12)
    assert proven.inertia == (0.0 if k > 1 else pytest.approx(2 / 3))


def test_duplicates_have_no_inertia_wherever_they_are():
    X = np.repeat([[0.1, 1e8 + 0.1], [0.3, 1e8]], 3, axis=0)
    problem = Tiny(X, np.array([1, 0.3, 0.7, 1, 1, 3]), NO_PAIRS, NO_PAIRS, 2)
    slack = np.zeros((6, 6), dtype=np.float32)
    assert root_alone(problem, np.repeat([0, 1], 3), Multipliers(slack)).inertia == 0.0


@pytest.mark.parametrize(
    ("weights", "X", "reason"),
    [
        ([1.0, np.nan], [[0.0], [1.0]], "weights"),
        ([1.0, -1.0], [[0.0], [1.0]], "weights"),
        ([1.0, 1.0], [[0.0], [np.inf]], "not finite"),
        ([1.0, 1.0], [[-1e200], [1e200]], "too large"),
        ([1e-200, 1e200], [[0.0], [1.0]], "span"),
    ],
)
def test_numbers_that_cannot_be_bounded_are_refused(weights, X, reason):
    problem = Tiny(np.array(X), np.array(weights), np.array([[0, 1]]), NO_PAIRS, 1)
    with pytest.raises(CertificateError, match=reason):
        root_alone(problem, np.array([0, 0]), None)
