"""What a certificate claims, its labels and its parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.exceptions import CertificateError
from kempe.proof.certificate import OptimalityCertificate, Verification, data_hash
from kempe.proof.checking import rounding
from kempe.proof.checking.facts import Facts
from kempe.proof.checking.groups import Problem, inertia_at_most
from kempe.proof.checking.rounding import TINY, Floats, require
from kempe.proof.checking.terms import Limits, Terms
from kempe.proof.checking.tree import value_of_tree
from kempe.proof.nodes import Part, SoftPairs

# What a claim may differ from what is proven, since libraries round in different ways.
CLAIM = 1e-9


def check(
    certificate: OptimalityCertificate,
    X: Floats,
    weights: Floats,
    must_link: NDArray[Any],
    cannot_link: NDArray[Any],
    limits: Limits | None = None,
    soft: SoftPairs | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> Verification:
    """Prove the bound of a certificate, or raise ``CertificateError`` with the reason.

    Parameters
    ----------
    certificate
        What is to be proven.
    X
        Data of shape (n_rows, n_features).
    weights
        Weight of each row.
    must_link, cannot_link
        Pairs of row numbers, of shape (m, 2).
    limits
        Fewest and most rows of each cluster, if there are any.
    soft
        Pairs that may be broken, and their prices, if there are any.
    report
        Told now and then which share of the proof is checked.
    """
    k = certificate.n_clusters
    inputs = X, weights, must_link, cannot_link, k
    if data_hash(*inputs, limits, soft) != certificate.data_hash:
        raise CertificateError(
            "the certificate is for other data, weights, constraints, sizes or number of clusters"
        )
    proven = prove(*inputs, certificate.labels, certificate.parts, limits, soft, report)
    claimed, inertia = certificate.lower_bound, certificate.inertia
    require(
        abs(inertia - proven.inertia) <= CLAIM * proven.inertia,
        f"the inertia of the labels is {proven.inertia!r}, not {inertia!r}",
    )
    require(
        claimed <= proven.lower_bound + CLAIM * proven.objective,
        f"the proof gives a bound of {proven.lower_bound!r}, not {claimed!r}",
    )
    return proven


def prove(
    X: Floats,
    weights: Floats,
    must_link: NDArray[Any],
    cannot_link: NDArray[Any],
    n_clusters: int,
    labels: NDArray[Any],
    parts: Sequence[Part],
    limits: Limits | None = None,
    soft: SoftPairs | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> Verification:
    """Prove what labels and trees show: an inertia, rounded up, and a lower bound, rounded down.

    With soft pairs the bound is one on the inertia and the prices of broken pairs. Prices are not
    negative, so a bound on the inertia alone, as that of several parts is, bounds both.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features).
    weights
        Weight of each row.
    must_link, cannot_link
        Pairs of row numbers, of shape (m, 2).
    n_clusters
        Number of clusters.
    labels
        Cluster of each row.
    parts
        The tree of each part of the data.
    limits
        Fewest and most rows of each cluster, if there are any.
    soft
        Pairs that may be broken, and their prices, if there are any.
    report
        Told now and then which share of the proof is checked.
    """
    require(n_clusters >= 1, f"{n_clusters} clusters")
    require(bool(np.isfinite(X).all()), "the data is not finite")
    require(bool((np.isfinite(weights) & (weights >= 0)).all()), "weights must be at least 0")
    _check_labels(labels, X.shape[0], n_clusters, must_link, cannot_link)
    if limits is not None:
        _check_sizes(labels, n_clusters, limits)
    inertia = inertia_at_most(X, weights, labels)
    upper = inertia if soft is None else _with_prices(inertia, soft, labels)
    facts = Facts.given(X.shape[0], must_link, cannot_link)
    _check_disjoint(parts, X.shape[0])
    values, done, n_nodes = [], 0, sum(len(part.nodes) for part in parts)
    for part in parts:
        own = np.zeros_like(weights)
        own[part.rows] = weights[part.rows]
        problem = Problem(X, own, n_clusters, upper)
        own_report = _shares(done, n_nodes, report)
        terms = _terms(problem, limits, soft if len(parts) == 1 else None)
        values.append(value_of_tree(part.nodes, facts, problem, own_report, terms))
        done += len(part.nodes)
    total = math.fsum(values) * (1 - rounding.EPSILON)
    require(not math.isnan(total), "the bound is no number")
    return Verification(min(upper, total), inertia, n_nodes, upper, n_clusters)


def _terms(problem: Problem, limits: Limits | None, soft: SoftPairs | None) -> Terms | None:
    """Limits and soft pairs in the unit of a problem; none if there are neither."""
    if limits is None and soft is None:
        return None
    if soft is not None:
        prices = np.ldexp(soft.prices, -problem.unit)
        require(bool((prices < 1 / TINY).all()), "prices are too large")
        soft = replace(soft, prices=prices)
    return Terms(limits, soft, np.ldexp(problem.all_weights, -problem.mass))


def _with_prices(inertia: float, soft: SoftPairs, labels: NDArray[Any]) -> float:
    """Inertia and prices of broken pairs, rounded up."""
    m = len(soft.pairs)
    shapes = (soft.pairs.shape, soft.together.shape, soft.prices.shape) == ((m, 2), (m,), (m,))
    require(shapes and soft.together.dtype == bool, "every soft pair needs a kind and a price")
    valid = np.isfinite(soft.prices) & (soft.prices >= 0)
    require(bool(valid.all()), "prices of soft pairs must be at least 0")
    inside = (soft.pairs >= 0) & (soft.pairs < labels.size)
    require(bool(inside.all()), "a soft pair has rows that do not exist")
    same = labels[soft.pairs[:, 0]] == labels[soft.pairs[:, 1]]
    total = math.fsum([inertia, *soft.prices[same != soft.together].tolist()])
    require(math.isfinite(total), "the objective is too large for a double")
    return math.nextafter(total, math.inf)


def _shares(done: int, n_nodes: int, report: Callable[[float], None]) -> Callable[[float], None]:
    return lambda nodes: report((done + nodes) / n_nodes)


def _check_labels(
    labels: NDArray[Any], n_rows: int, k: int, must_link: NDArray[Any], cannot_link: NDArray[Any]
) -> None:
    """Labels are a clustering into at most k clusters that obeys the pairs."""
    whole = labels.shape == (n_rows,) and labels.dtype.kind in "iu"
    require(whole, f"labels must be {n_rows} whole numbers")
    require(bool(((labels >= 0) & (labels < k)).all()), f"labels must be in 0, ..., {k - 1}")
    for pairs, equal, name in ((must_link, True, "must-link"), (cannot_link, False, "cannot-link")):
        for a, b in pairs[(labels[pairs[:, 0]] == labels[pairs[:, 1]]) != equal][:1]:
            raise CertificateError(f"the labels violate the {name} pair ({a}, {b})")


def _check_sizes(labels: NDArray[Any], k: int, limits: Limits) -> None:
    """Every cluster has as many rows as it needs, and no more than it may have."""
    for c in range(k):
        rows, least, most = int((labels == c).sum()), int(limits[0][c]), int(limits[1][c])
        require(least <= rows <= most, f"cluster {c} has {rows} rows, not {least} to {most}")


def _check_disjoint(parts: Sequence[Part], n_rows: int) -> None:
    whole = all(part.rows.ndim == 1 and part.rows.dtype.kind == "i" for part in parts)
    require(whole, "the rows of a part are no whole numbers")
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in parts)])
    require(bool(((rows >= 0) & (rows < n_rows)).all()), "a part has rows that do not exist")
    require(np.unique(rows).size == rows.size, "two parts share a row")
