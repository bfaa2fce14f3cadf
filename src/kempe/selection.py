"""Choosing the number of clusters, and scores on pairs that were held out.

Rows cannot be held out where pairs bind them, but pairs can: a model that is fitted with some of
them is judged by the others.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import silhouette_score

from kempe import cards
from kempe.clusterer import ConstrainedClusterer
from kempe.constraints import Constraints
from kempe.engine.kempe_kmeans import KempeKMeans
from kempe.exceptions import InfeasibleConstraintsError, Interrupted, NoSolutionFoundError
from kempe.fit_arguments import as_constraints
from kempe.storage import replacing
from kempe.words import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The silhouette looks at all pairs of rows, so that of more rows is estimated from so many.
SILHOUETTE_ROWS = 4000
# Seconds for the smallest number of clusters that the pairs permit.
CHECK_SECONDS = 10.0


def pair_score(labels: ArrayLike, pairs: Constraints) -> float:
    """Share of the pairs that a clustering respects, both kinds counting equally.

    Nearly all cannot-link pairs hold by chance where there are many clusters, and nearly all
    must-link pairs where there are few, so the mean of both shares is taken. NaN without pairs. A
    soft pair counts as much as it says: twice its confidence less 1, or 1 if it has none.

    Parameters
    ----------
    labels
        Cluster of each row.
    pairs
        For example the second part that ``Constraints.split`` gives.

    Examples
    --------
    >>> pair_score([0, 0, 1], Constraints([(0, 1), (1, 2)], [(0, 2)]))
    0.75
    """
    broken = pairs.violations(labels)
    shares = [
        1 - _said(broken, kind) / total
        for kind in ("must_link", "cannot_link")
        if (total := _said(pairs, kind))
    ]
    return float(np.mean(shares)) if shares else math.nan


def _said(pairs: Constraints, kind: str) -> float:
    """Count the pairs of a kind, soft ones as far as they are sure."""
    confidence = getattr(pairs.soft, f"{kind}_confidence")
    sure = np.where(np.isnan(confidence), 1.0, 2 * confidence - 1)
    return len(getattr(pairs, kind)) + float(sure.sum())


def pair_scorer(pairs: Constraints) -> Callable[..., float]:
    """Make a scorer for scikit-learn's searches: :func:`pair_score` of the fitted ``labels_``.

    Parameters
    ----------
    pairs
        Pairs of rows of the data that is searched with, which ``fit`` does not get.
    """

    def score(estimator: Any, X: object, y: object = None) -> float:
        return pair_score(estimator.labels_, pairs)

    return score


class AllRows:
    """A splitter for scikit-learn's searches that leaves all rows together, and holds out none.

    Pairs of row numbers need all rows. Hold out pairs, by ``Constraints.split``, and score with
    :func:`pair_scorer`.

    Examples
    --------
    >>> [(fitted.tolist(), scored.tolist()) for fitted, scored in AllRows().split([[1], [2]])]
    [([0, 1], [0, 1])]
    """

    def split(
        self, X: ArrayLike, y: object = None, groups: object = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Give all rows to fit on and all rows to score on, once.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features).
        y, groups
            Ignored.
        """
        rows = np.arange(np.shape(X)[0])
        yield rows, rows

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Give the number of splits, which is 1.

        Parameters
        ----------
        X, y, groups
            Ignored.
        """
        return 1


def held_out_scores(
    estimator: ConstrainedClusterer,
    X: ArrayLike,
    constraints: Constraints,
    *,
    n_splits: int = 5,
    held_out: float = 0.2,
    random_state: int = 0,
) -> NDArray[np.float64]:
    """Score an estimator on pairs that it did not get, once for each of several splits.

    Parameters
    ----------
    estimator
        What to fit; it is cloned and stays as it is.
    X
        Data of shape (n_rows, n_features).
    constraints
        All pairs.
    n_splits
        Number of times that pairs are held out.
    held_out
        Share of the pairs to hold out.
    random_state
        Seed of the splits.

    Returns
    -------
    array of shape (n_splits,)
        A :func:`pair_score` for each split; NaN where every pair that was held out follows from
        the others.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C ended one of the fits: its score would be that of a search cut short.
    """
    scores = []
    for rng in np.random.default_rng(random_state).spawn(n_splits):
        fitting, scoring = constraints.split(held_out, random_state=rng)
        model = clone(estimator).fit(X, constraints=fitting)
        if _is_cut(model):
            raise Interrupted
        scores.append(pair_score(model.labels_, scoring))
    return np.array(scores)


def _is_cut(model: ConstrainedClusterer) -> bool:
    """Whether Ctrl-C ended a fit, which then has the best clustering so far."""
    return model.result_.stop_reason == "interrupted"


@dataclass(frozen=True)
class Candidate:
    """One number of clusters.

    Attributes
    ----------
    n_clusters
        The number.
    status
        ``"ok"``; ``"infeasible"`` if the pairs need more clusters; ``"not found"``;
        ``"interrupted"`` if Ctrl-C came meanwhile, and there is no more than an inertia, if any.
    inertia, silhouette
        Of the clustering with all pairs.
    held_out, held_out_error
        Mean of the scores on held-out pairs, and its standard error.
    """

    n_clusters: int
    status: str
    inertia: float = math.nan
    silhouette: float = math.nan
    held_out: float = math.nan
    held_out_error: float = math.nan


@dataclass(frozen=True)
class Choice:
    """What is known about several numbers of clusters.

    Attributes
    ----------
    candidates
        In ascending order; after Ctrl-C, as far as they were tried.
    needed, known_to_work
        The smallest number that the pairs permit lies between these; both are 1 without
        cannot-link pairs.
    """

    candidates: Sequence[Candidate]
    needed: int
    known_to_work: int

    @property
    def suggested(self) -> int | None:
        """The number to begin with, ``None`` if no candidate works.

        That is the smallest whose score on held-out pairs is within a standard error of the
        highest; where no pairs were held out, that with the highest silhouette.
        """
        judged = [item for item in self.candidates if not math.isnan(item.held_out)]
        if judged:
            best = max(judged, key=lambda item: item.held_out)
            enough = best.held_out - best.held_out_error
            return next(item.n_clusters for item in judged if item.held_out >= enough)
        judged = [item for item in self.candidates if not math.isnan(item.silhouette)]
        return max(judged, key=lambda item: item.silhouette).n_clusters if judged else None

    def summary(self) -> str:
        """Say in two lines what the pairs permit and which number is suggested."""
        permitted = f"the pairs permit {counted(self.needed, 'cluster')} or more"
        if self.needed < self.known_to_work:
            least = counted(self.needed, "cluster")
            permitted = f"the pairs need at least {least}, {self.known_to_work} do"
        if self.suggested is None:
            return f"{permitted}\nnone of the numbers that were tried works"
        by = "held-out pairs" if self._has_held_out else "the silhouette"
        suggested = counted(self.suggested, "cluster")
        return f"{permitted}\n{by} suggest{'s' * (by[-1] != 's')} {suggested}"

    @property
    def _has_held_out(self) -> bool:
        return any(not math.isnan(item.held_out) for item in self.candidates)

    def to_csv(self, path: str | Path) -> None:
        """Write a line per candidate to a CSV file.

        Parameters
        ----------
        path
            The file; an existing one is replaced.
        """
        with replacing(path) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(item.name for item in fields(Candidate))
            for candidate in self.candidates:
                writer.writerow("" if _is_nan(cell) else cell for cell in astuple(candidate))

    def to_frame(self) -> Any:
        """Give a data frame of pandas with a row per candidate."""
        return cards.frame([asdict(candidate) for candidate in self.candidates])

    def _repr_html_(self) -> str:
        """Show the candidates in a notebook, the suggested one in bold."""
        columns = [("inertia", ",.6g"), ("silhouette", ".3f"), ("held_out", ".3f")]
        lines = [["clusters", "status", "inertia", "silhouette", "held-out pairs"]] + [
            [str(item.n_clusters), item.status]
            + [_shown(getattr(item, name), form) for name, form in columns]
            for item in self.candidates
        ]
        numbers = [item.n_clusters for item in self.candidates]
        marked = None if self.suggested is None else numbers.index(self.suggested)
        words = [cards.note(line) for line in self.summary().splitlines()]
        return cards.card("Number of clusters", cards.table(lines, marked), *words)

    def plot(self) -> Figure:
        """Draw inertia, silhouette and held-out pairs against the number of clusters."""
        from kempe.plotting import plot_choice

        return plot_choice(self)


def choose_k(
    X: ArrayLike,
    candidates: Iterable[int] = range(2, 11),
    *,
    must_link: object = None,
    cannot_link: object = None,
    constraints: Constraints | None = None,
    estimator: ConstrainedClusterer | None = None,
    n_splits: int = 5,
    held_out: float = 0.2,
    random_state: int = 0,
) -> Choice:
    """Try several numbers of clusters.

    For each of them the data is clustered once with all pairs, for inertia and silhouette, and
    ``n_splits`` times with a part of the pairs, for the score on the others. Ctrl-C ends it with
    the numbers that were tried by then, if there are any.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features).
    candidates
        Numbers of clusters.
    must_link, cannot_link, constraints
        The pairs, as for ``fit``.
    estimator
        What to fit, with any number of clusters; a ``KempeKMeans`` by default.
    n_splits, held_out
        How often pairs are held out, and which share of them; 0 splits for no such scores.
    random_state
        Seed of the fits, if no estimator is given, and of the splits.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]]
    >>> choose_k(X, [2, 3, 4], cannot_link=[(0, 2), (2, 4), (0, 4)], n_splits=0).suggested
    3
    """
    pairs = as_constraints(must_link, cannot_link, constraints)
    wanted = sorted({int(k) for k in candidates})
    if not wanted:
        raise ValueError("there are no candidates")
    known = pairs.check(wanted[0], time_limit=CHECK_SECONDS)
    if known.upper_bound is None:
        raise InfeasibleConstraintsError(str(known), known.certificate)
    model = KempeKMeans(random_state=random_state) if estimator is None else estimator
    any_pairs = bool(pairs.must_link.size or pairs.cannot_link.size or pairs.soft.count)
    splits = {"n_splits": n_splits if any_pairs else 0, "held_out": held_out}
    tried: list[Candidate] = []
    for k in wanted:
        if k < known.lower_bound:
            tried.append(Candidate(k, "infeasible"))
            continue
        own = clone(model).set_params(n_clusters=k)
        tried.append(_candidate(own, X, pairs, splits, random_state))
        if tried[-1].status == "interrupted":
            break
    cut = tried[-1].status == "interrupted"
    if cut and all(item.status in ("infeasible", "interrupted") for item in tried):
        raise Interrupted  # nothing is known yet
    return Choice(tried, known.lower_bound, known.upper_bound)


def _candidate(
    model: ConstrainedClusterer,
    X: ArrayLike,
    pairs: Constraints,
    splits: dict[str, Any],
    seed: int,
) -> Candidate:
    try:
        model.fit(X, constraints=pairs)
        if _is_cut(model):
            return Candidate(model.n_clusters, "interrupted", model.inertia_)
        scores = held_out_scores(model, X, pairs, **splits, random_state=seed)
    except Interrupted:
        inertia = getattr(model, "inertia_", math.nan)
        return Candidate(model.n_clusters, "interrupted", inertia)
    except InfeasibleConstraintsError:
        return Candidate(model.n_clusters, "infeasible")
    except NoSolutionFoundError:
        return Candidate(model.n_clusters, "not found")
    scores = scores[~np.isnan(scores)]
    error = scores.std(ddof=1) / math.sqrt(scores.size) if scores.size > 1 else math.nan
    return Candidate(
        model.n_clusters,
        "ok",
        model.inertia_,
        _silhouette(X, model.labels_, seed),
        float(scores.mean()) if scores.size else math.nan,
        float(error),
    )


def _silhouette(X: ArrayLike, labels: NDArray[np.int32], seed: int) -> float:
    """Mean silhouette, NaN where it is not defined."""
    if not 1 < np.unique(labels).size < labels.size:
        return math.nan
    rows = min(labels.size, SILHOUETTE_ROWS)
    try:
        return float(silhouette_score(X, labels, sample_size=rows, random_state=seed))
    except ValueError:  # all rows of the sample are in one cluster
        return math.nan


def _shown(value: float, form: str) -> str:
    return "–" if math.isnan(value) else f"{value:{form}}"


def _is_nan(cell: object) -> bool:
    return isinstance(cell, float) and math.isnan(cell)
