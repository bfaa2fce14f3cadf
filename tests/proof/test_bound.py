"""The parts of the bound: projection, start, relaxation, multipliers of one node and the next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kempe.proof import fantope as fantope_module
from kempe.proof import relaxation as relaxation_module
from kempe.proof.ascent import SWIFT, THOROUGH, Ascent, violated_equalities
from kempe.proof.certificate import Cuts
from kempe.proof.dual import Dual
from kempe.proof.facts import Facts
from kempe.proof.fantope import Fantope, clip_level
from kempe.proof.fixing import fixed_apart
from kempe.proof.presolve import presolve
from kempe.proof.relaxation import Data, Relaxation
from kempe.proof.splitting import undecided_pair
from kempe.proof.start import dual_start
from random_certificates import Tiny, random_tiny


def blobs(seed: int = 0, n: int = 60, k: int = 3, spread: float = 0.3) -> tuple[Data, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    rows = rng.normal(size=(k, 2))[labels] * 3 + spread * rng.normal(size=(n, 2))
    return Data.centred(rows, rng.uniform(0.5, 2, size=n)), labels.astype(np.int32)


def unconstrained(n: int) -> Facts:
    return Facts(np.arange(n, dtype=np.int32), np.zeros((n, n), dtype=bool))


def tiny_relaxation(tiny: Tiny) -> Relaxation | None:
    """The root of a tiny problem, unless the presolve settles it."""
    facts = unconstrained(len(tiny.X)).with_together(tiny.must_link).with_apart(tiny.cannot_link)
    done = presolve(facts, tiny.n_clusters)
    if done.witness or not tiny.weights.any():
        return None
    relaxation = Relaxation(Data.centred(tiny.X, tiny.weights), done.facts, tiny.n_clusters)
    return relaxation if relaxation.size > tiny.n_clusters else None


def matrix_of(relaxation: Relaxation, labels: np.ndarray) -> np.ndarray:
    colours = relaxation.colours(labels)
    total = np.bincount(colours, relaxation.weight)[colours]
    same = colours[:, None] == colours
    return np.where(same, np.sqrt(np.outer(relaxation.weight, relaxation.weight)) / total, 0)


def projected(matrix: np.ndarray, unit: np.ndarray, k: int) -> np.ndarray:
    """Twin by a full decomposition in double precision."""
    n = unit.size
    P = np.eye(n) - np.outer(unit, unit)
    values, vectors = np.linalg.eigh(P @ matrix @ P - 1e6 * np.outer(unit, unit))
    _, clipped = clip_level(values[1:], k - 1)
    return np.outer(unit, unit) + (vectors[:, 1:] * clipped) @ vectors[:, 1:].T


@pytest.mark.parametrize("total", [1, 3, 7])
def test_clipped_values_have_the_wanted_sum(total):
    values = np.random.default_rng(total).normal(size=9)[np.newaxis].ravel()
    level, clipped = clip_level(np.sort(values)[::-1], total)
    assert clipped.sum() == pytest.approx(total)
    np.testing.assert_allclose(clipped, np.clip(np.sort(values)[::-1] - level, 0, 1))


@pytest.mark.parametrize("way", ["full", "filtered", "Lanczos"])
def test_the_projection_is_that_of_a_full_decomposition(way, monkeypatch):
    n, k = 150, 4
    if way == "Lanczos":
        monkeypatch.setattr(fantope_module, "LANCZOS_ABOVE", 100)
    rng = np.random.default_rng(0)
    unit = np.sqrt(rng.dirichlet(np.ones(n)))
    low_rank = rng.normal(size=(n, 6))
    matrix = low_rank @ low_rank.T / 20 + 0.05 * _noise(rng, n)
    fantope = Fantope(unit, k)
    fantope.tolerance = 1e-4
    for _ in range(1 if way == "full" else 6):
        matrix += 0.005 * _noise(rng, n)
        factor = fantope.factor(matrix.astype(np.float32))
        found = np.outer(unit, unit) + factor @ factor.T
        np.testing.assert_allclose(found, projected(matrix, unit, k), atol=2e-3)


def _noise(rng: np.random.Generator, n: int) -> np.ndarray:
    noise = rng.normal(size=(n, n)) / np.sqrt(n)
    return noise + noise.T


@pytest.mark.parametrize("seed", range(5))
def test_lanczos_iterations_and_a_decomposition_give_the_same_bound(seed, monkeypatch):
    data, _ = blobs(seed)
    relaxation = Relaxation(data, unconstrained(60), 3)
    slack = np.abs(_noise(np.random.default_rng(seed), 60)).astype(np.float32)
    dense = relaxation.value(slack, 0.5)
    use_lanczos_iterations(monkeypatch)
    assert relaxation.value(slack, 0.5) == pytest.approx(dense, rel=1e-5)
    assert relaxation.value(slack, 0.5, exactly=True) == dense


def use_lanczos_iterations(monkeypatch):
    monkeypatch.setattr(relaxation_module, "DENSE_UP_TO", 10)
    monkeypatch.setattr(relaxation_module, "DENSE_PER_CLUSTER", 0)


def ascent_that_misses_eigenvalues(monkeypatch):
    data, labels = blobs(seed=2, spread=0.8)
    relaxation = Relaxation(data, unconstrained(60), 3)
    inertia = data.inertia(labels)
    ascent = Ascent(relaxation, dual_start(relaxation, relaxation.colours(labels)))
    use_lanczos_iterations(monkeypatch)
    monkeypatch.setattr(
        Relaxation, "_largest_sparse", lambda self, *to: self._largest_dense(*to) - inertia
    )
    return ascent, inertia


def test_a_gap_that_only_a_missed_eigenvalue_closes_is_not_closed(monkeypatch):
    ascent, inertia = ascent_that_misses_eigenvalues(monkeypatch)
    # Ends between two looks: where it ends at one, there is no time for all eigenvalues.
    ascent.run(lambda: 0.999 * inertia, lambda _: ascent.steps >= 190, lambda _: False)
    assert ascent.value <= inertia * (1 + 1e-6)
    assert ascent.steps > 0


def test_pairs_are_fixed_by_all_eigenvalues(monkeypatch):
    ascent, inertia = ascent_that_misses_eigenvalues(monkeypatch)
    ascent.run(lambda: 0.95 * inertia, lambda _: ascent.steps >= 20, lambda _: False)
    fixed = fixed_apart(ascent.relaxation, ascent.best, inertia)
    monkeypatch.undo()
    assert ascent.relaxation.is_dense
    assert fixed == fixed_apart(ascent.relaxation, ascent.best, inertia)


def test_all_eigenvalues_are_not_begun_without_the_time_for_them(monkeypatch):
    ascent, inertia = ascent_that_misses_eigenvalues(monkeypatch)
    monkeypatch.setattr(relaxation_module, "DENSE_SECONDS", 1.0)
    ascent.run(lambda: 0.999 * inertia, lambda needed: needed > 1000, lambda _: False)
    assert ascent.steps == 0  # closed by what it has, which only the checker can tell


def test_separated_clusters_are_certified_by_the_start_alone():
    data, labels = blobs(seed=1, spread=0.05)
    relaxation = Relaxation(data, unconstrained(60), 3)
    start = dual_start(relaxation, relaxation.colours(labels))
    assert relaxation.value(start.slack, 1.0) == pytest.approx(data.inertia(labels), rel=1e-3)
    assert (start.slack >= 0).all()


def test_the_ascent_closes_the_gap_of_blobs_and_continues_where_it_ended():
    data, labels = blobs(seed=2, spread=0.8)
    relaxation = Relaxation(data, unconstrained(60), 3)
    ascent = Ascent(relaxation, dual_start(relaxation, relaxation.colours(labels)))
    ascent.run(lambda: np.inf, lambda _: ascent.steps >= 50, lambda _: False)
    early = ascent.value
    ascent.run(lambda: np.inf, lambda _: ascent.steps >= 400, lambda _: False)
    assert early < ascent.value <= data.inertia(labels) * (1 + 1e-6)
    assert ascent.history == sorted(ascent.history)


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_a_wrong_penalty_is_mended(factor):
    data, labels = blobs(seed=2, spread=0.8)
    relaxation = Relaxation(data, unconstrained(60), 3)
    start = dual_start(relaxation, relaxation.colours(labels))
    ascent = Ascent(relaxation, replace(start, penalty=factor * start.penalty))
    ascent.run(lambda: np.inf, lambda _: ascent.steps >= 400, lambda _: False)
    change = ascent.penalty / (factor * start.penalty)
    assert change > 10 if factor < 1 else change < 0.1


def test_a_swift_ascent_is_higher_after_few_steps_and_no_less_valid():
    data, labels = blobs(n=300, seed=2, spread=2.5)
    relaxation = Relaxation(data, unconstrained(300), 3)
    start = dual_start(relaxation, relaxation.colours(labels))
    reached = {}
    for pace in (SWIFT, THOROUGH):
        ascent = Ascent(relaxation, start, pace)
        ascent.run(lambda: np.inf, lambda _, ascent=ascent: ascent.steps >= 50, lambda _: False)
        reached[pace] = ascent.value
    assert reached[THOROUGH] < reached[SWIFT] <= data.inertia(labels) * (1 + 1e-6)


@pytest.mark.parametrize("pace", [THOROUGH, SWIFT])
@pytest.mark.parametrize("seed", range(150))
def test_the_bound_of_a_tiny_problem_is_valid_and_nothing_fixed_is_wrong(seed, pace):
    tiny = random_tiny(np.random.default_rng(seed))
    relaxation = tiny_relaxation(tiny)
    feasible = tiny.feasible()
    if relaxation is None or not len(feasible):
        return
    inertias = tiny.inertias(feasible).astype(float)
    inertias /= Data.centred(tiny.X, tiny.weights).unit
    labels = feasible[np.argmax(inertias)]
    ascent = Ascent(relaxation, dual_start(relaxation, relaxation.colours(labels)), pace)
    ascent.run(lambda: np.inf, lambda _: ascent.steps >= 60, lambda _: False)
    room = 1e-5 * (1 + relaxation.total)
    assert ascent.value <= inertias.min() + room
    upper = float(np.median(inertias))
    better = feasible[inertias < upper - room]
    for a, b in fixed_apart(relaxation, ascent.best, upper):
        assert not (better[:, a] == better[:, b]).any()


def test_far_pairs_are_fixed_and_near_ones_are_not():
    data, labels = blobs(seed=1)
    relaxation = Relaxation(data, unconstrained(60), 3)
    ascent = Ascent(relaxation, dual_start(relaxation, relaxation.colours(labels)))
    inertia = data.inertia(labels)
    ascent.run(lambda: (1 - 1e-4) * inertia, lambda _: ascent.steps >= 2000, lambda _: False)
    fixed = fixed_apart(relaxation, ascent.best, inertia)
    assert len(fixed) > 100
    assert all(labels[a] != labels[b] for a, b in fixed)


@pytest.mark.parametrize("together", [True, False])
def test_multipliers_prove_no_less_with_one_fact_more(together):
    data, labels = blobs(seed=3, spread=1.0)
    old = Relaxation(data, unconstrained(60), 3)
    ascent = Ascent(old, dual_start(old, old.colours(labels)))
    ascent.run(lambda: np.inf, lambda _: ascent.steps >= 20, lambda _: False)
    assert ascent.best.cuts.centres.size == 0  # none of them could be lost
    pair = undecided_pair(old, ascent.best.nearest)
    facts = old.facts.with_together([pair]) if together else old.facts.with_apart([pair])
    new = Relaxation(data, facts, 3)
    carried = ascent.best.carried_over(old, new)
    assert new.value(carried.slack, 1.0) >= old.value(ascent.best.slack, 1.0) - 1e-4
    assert (carried.slack >= 0).all()


def test_cuts_are_renamed_or_left_out_where_groups_are_merged():
    data, _ = blobs(n=6)
    old = Relaxation(data, unconstrained(6), 2)
    new = Relaxation(data, old.facts.with_together([(1, 3)]), 2)
    cuts = Cuts.of([0, 0, 1, 5], [[1, 2], [1, 3], [2, 3], [3, 4]], [1.0, 2.0, 3.0, 4.0])
    zeros = np.zeros((6, 6), dtype=np.float32)
    carried = Dual(zeros, cuts, zeros, 1.0).carried_over(old, new).cuts
    assert carried.centres.tolist() == [0, 4]
    assert carried.members.tolist() == [1, 2, 1, 3]
    assert carried.multipliers.tolist() == [1.0, 4.0]


def test_the_unit_of_stored_multipliers_is_a_power_of_two_and_idle_cuts_are_left_out():
    slack = np.array([[0, 3], [3, 0]], dtype=np.float32)
    cuts = Cuts.of([0, 1], [[1], [0]], [0.0, 6.0])
    data = Data(slack.astype(float), np.ones(2), length=1, mass=3)
    stored = Dual(slack, cuts, slack, 3.1).multipliers(data)
    assert stored.scale == 4.0 * data.unit
    np.testing.assert_array_equal(stored.slack * stored.scale, slack * 2.0**5)
    assert stored.cuts.centres.tolist() == [1]
    assert stored.cuts.multipliers.tolist() == [1.5 * 2.0**3]


def test_equalities_of_cliques_are_found_whichever_side_is_larger():
    data, _ = blobs(n=5)
    facts = unconstrained(5).with_apart([(0, 1)])
    relaxation = Relaxation(data, facts, 2)
    clique = np.array([[0, 1]], dtype=np.int32)
    right = matrix_of(relaxation, np.array([0, 1, 0, 1, 1])).astype(np.float32)
    assert violated_equalities(relaxation, clique, right, 0.01).centres.size == 0
    wrong = right.copy()
    wrong[2, 0] *= 0.5
    wrong[3, 1] *= 2.0
    cuts = violated_equalities(relaxation, clique, wrong, 0.01)
    assert cuts.centres.tolist() == [2, 3]
    assert cuts.members.tolist() == [0, 1, 0, 1]


def test_the_pair_to_split_is_one_that_the_matrix_leaves_open():
    data, _ = blobs(n=6)
    relaxation = Relaxation(data, unconstrained(6), 2)
    first = matrix_of(relaxation, np.array([0, 0, 0, 1, 1, 1]))
    second = matrix_of(relaxation, np.array([0, 0, 1, 1, 1, 1]))
    assert 2 in undecided_pair(relaxation, ((first + second) / 2).astype(np.float32))
