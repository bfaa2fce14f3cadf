"""What the charts of a report draw: points, pairs and curves, as plain lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.plotting._plane import Plane
from kempe.report.report import Report

# Paul Tol's bright and vibrant schemes, without what is too pale on white or too dark on black.
COLOURS = (
    "#4477AA",
    "#EE6677",
    "#228833",
    "#CCA633",
    "#33BBEE",
    "#AA3377",
    "#EE7733",
    "#009988",
    "#9970AB",
    "#8C7A5B",
)
# More would be slow to draw and would hide each other.
MOST_POINTS = 4000
MOST_PAIRS = 400
MOST_STEPS = 600
DEAR = 5
# Rows that principal components are computed from.
MOST_PROJECTED = 20_000


def picture(report: Report) -> dict[str, Any]:
    """Everything that is drawn, ready for JSON."""
    rng = np.random.default_rng(0)
    rows, drawn = _chosen(report, rng)
    data = report.problem.rows
    plane = Plane.of(data[_sample(data.shape[0], MOST_PROJECTED, rng)])
    points = plane.place(data[rows])
    where = {row: position for position, row in enumerate(rows.tolist())}
    return {
        "colours": COLOURS,
        "clusters": list(report.cluster_names),
        "sizes": report.sizes.tolist(),
        "plain_sizes": report.beside.shared.sum(axis=0).tolist(),
        "axes": _axes(report, plane),
        "shares": plane.shares,
        "radius": 4 if rows.size <= 500 else 3 if rows.size <= 2000 else 2,
        "map": {
            "x": _rounded(points[:, 0]),
            "y": _rounded(points[:, 1]),
            "id": [report.ids[row] for row in rows],
            "cluster": report.labels[rows].tolist(),
            "plain": report.beside.labels[rows].tolist(),
            "n_must": _counts(report.constraints.must_link, data.shape[0])[rows].tolist(),
            "n_cannot": _counts(report.constraints.cannot_link, data.shape[0])[rows].tolist(),
            "n_broken": _counts(_broken(report), data.shape[0])[rows].tolist(),
        }
        | {name: _placed(pairs, where) for name, pairs in drawn.items()},
        "search": _search(report),
    }


def _chosen(
    report: Report, rng: np.random.Generator
) -> tuple[NDArray[np.intp], dict[str, NDArray[Any]]]:
    """Rows and pairs to draw: expensive and broken pairs, others at random, then other rows."""
    must, cannot = (
        pairs[_sample(len(pairs), MOST_PAIRS, rng)]
        for pairs in (report.constraints.must_link, report.constraints.cannot_link)
    )
    drawn = {
        "must": must,
        "cannot": cannot,
        "dear": _ends([(p.first, p.second) for p in report.prices[:DEAR]]),
        "broken_must": _broken(report, together=True)[:MOST_PAIRS],
        "broken_cannot": _broken(report, together=False)[:MOST_PAIRS],
        "near": _ends([(d.first, d.second) for d in report.nearly_broken[:MOST_PAIRS]]),
    }
    ends = np.unique(np.concatenate([pairs.ravel() for pairs in drawn.values()]))
    others = np.setdiff1d(np.arange(report.problem.n_rows), ends)
    some = others[_sample(others.size, max(MOST_POINTS - ends.size, 0), rng)]
    return np.concatenate([ends, some]).astype(np.intp), drawn


def _ends(pairs: list[tuple[int, int]]) -> NDArray[Any]:
    return np.array(pairs, dtype=int).reshape(-1, 2)


def _broken(report: Report, together: bool | None = None) -> NDArray[Any]:
    """Soft pairs that are broken, dearest first: all, or those of one kind."""
    if report.broken is None:
        return _ends([])
    pairs = report.broken.pairs
    return pairs if together is None else pairs[report.broken.together == together]


def _sample(size: int, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw some positions, all of them if there are not too many."""
    return np.arange(size) if size <= most else np.sort(rng.permutation(size)[:most])


def _axes(report: Report, plane: Plane) -> list[str]:
    if report.problem.n_features > 2:
        return [
            f"component {number} ({100 * share:.0f} %)"
            for number, share in enumerate(plane.shares, start=1)
        ]
    if len(report.feature_names) == report.problem.n_features:
        return [*report.feature_names, ""][:2]
    return ["", ""]


def _rounded(values: NDArray[np.float64]) -> list[float]:
    """Four digits of the range are more than a screen can show."""
    digits = 4 - int(np.floor(np.log10(np.ptp(values) or 1.0))) if values.size else 0
    return [float(value) for value in np.round(values, digits)]


def _counts(pairs: NDArray[Any], n_rows: int) -> NDArray[np.int64]:
    return np.bincount(pairs.ravel(), minlength=n_rows)


def _placed(pairs: NDArray[Any], where: dict[int, int]) -> list[list[int]]:
    return [[where[first], where[second]] for first, second in pairs.tolist()]


def _search(report: Report) -> dict[str, Any]:
    """History, thinned evenly; every improvement of the best stays."""
    history = report.result.statistics
    best = np.asarray(history.best_objective)
    improved = np.flatnonzero(np.diff(best, prepend=np.inf) < 0)
    steps = _sample(len(history.elapsed), MOST_STEPS, np.random.default_rng(0)).tolist()
    kept = sorted({*improved.tolist()[-MOST_STEPS:], *([len(best) - 1] if len(best) else [])})
    return {
        "kind": [history.kind[i] for i in steps],
        "minimised": minimised(report),
        "seen": [_point(history.elapsed[i], history.objective[i]) for i in steps],
        "best": [_point(history.elapsed[i], history.best_objective[i]) for i in kept],
    }


def minimised(report: Report) -> str:
    """Say what the search has minimised."""
    history = report.result.statistics
    return "inertia" if history.best_objective == history.best_inertia else "objective"


def _point(seconds: float, objective: float) -> dict[str, float]:
    return {"x": round(seconds, 6), "y": objective}
