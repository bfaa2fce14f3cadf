"""A session of questions: proposes pairs, takes answers, and has clusters that obey them."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from kempe.ask.answers import Answer, AnswerBook, Conflict, answers_of
from kempe.ask.cobras import SuperInstances
from kempe.ask.events import SAID, Said, check_event, check_header
from kempe.ask.export import export_session
from kempe.ask.knowledge import Knowledge
from kempe.ask.log import Event, Log
from kempe.ask.mending import hard_pairs, mended_labels
from kempe.ask.npu import NormalisedUncertainty
from kempe.ask.simple import ExploreConsolidate, RandomPairs, Uncertainty
from kempe.ask.spread import AnswerSpread
from kempe.ask.spreading import Spreading
from kempe.ask.strategy import Strategy, View
from kempe.constraints import Constraints
from kempe.engine import KempeKMeans
from kempe.exceptions import FileFormatError

if TYPE_CHECKING:
    from kempe.studio.widget import Widget

STRATEGIES: dict[str, Callable[[], Strategy]] = {
    "auto": Spreading,
    "spreading": Spreading,
    "super-instances": SuperInstances,
    "normalised-uncertainty": NormalisedUncertainty,
    "uncertainty": Uncertainty,
    "explore-consolidate": ExploreConsolidate,
    "random": RandomPairs,
}
"""Strategies by their names."""

Model = Literal["auto", "plain", "spread"]

# The first search is short where every mutation takes long: rows x features x clusters.
LONG_SEARCH = 5_000_000
SHORT_SEARCH = 20

# Spread labels are taken unless plain ones predict known rows better by more than this.
SLACK = 0.05


@dataclass(frozen=True)
class Question:
    """Two rows, and why they are asked about.

    Attributes
    ----------
    pair
        Their ids, or their numbers if there are no ids.
    rows
        Their numbers.
    why
        The reason, in words.
    number
        How many answers came before it, and one.
    """

    pair: tuple[Any, Any]
    rows: tuple[int, int]
    why: str
    number: int


class Session:
    """Asks a person about pairs of rows, and clusters by the answers.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features); the page shows the names of a data frame's columns.
    n_clusters
        Number of clusters.
    ids
        Id of each row, by which pairs are named; row numbers from 0 by default.
    strategy
        Which pair is asked about: a name of ``kempe.ask.STRATEGIES``, or an object with a method
        ``propose``, see ``kempe.ask.Strategy``. ``"auto"`` is the best of ours.
    constraints
        Pairs that are known already.
    log
        File to which everything is written at once. If it is there, the session goes on from it.
    random_state
        Seed of all randomness. A log keeps it.
    model
        Where clusters come from: ``"plain"``, constrained k-means; ``"spread"``, every row joins
        the known rows that it is most similar to; ``"auto"``, whichever predicts known rows better.

    Examples
    --------
    >>> from kempe.ask import Session
    >>> X = [[0.0], [0.1], [5.0], [5.1], [9.0]]
    >>> session = Session(X, 2, ids=["a", "b", "c", "d", "e"], random_state=0)
    >>> session.answer(("a", "c"), "together")
    >>> session.answer(("c", "d"), "apart")
    >>> labels = dict(zip("abcde", session.labels_.tolist()))
    >>> labels["a"] == labels["c"], labels["c"] == labels["d"]
    (True, False)
    """

    def __init__(
        self,
        X: ArrayLike,
        n_clusters: int,
        *,
        ids: ArrayLike | Sequence[Hashable] | None = None,
        strategy: str | Strategy = "auto",
        constraints: Constraints | None = None,
        log: str | Path | None = None,
        random_state: int | None = None,
        model: Model = "auto",
    ) -> None:
        self.X = _rows(X)
        self.feature_names = [
            str(name) for name in getattr(X, "columns", range(1, self.X.shape[1] + 1))
        ]
        self.n_clusters = _clusters(n_clusters, len(self.X))
        self.ids = _ids(ids, len(self.X))
        if model not in ("auto", "plain", "spread"):
            raise ValueError(f"model must be 'auto', 'plain' or 'spread', got {model!r}")
        self.model = model
        self._row_of = None if self.ids is None else {n: row for row, n in enumerate(self.ids)}
        self._strategy, self._strategy_name = _strategy(strategy)
        none = Constraints(n_rows=len(self.X))
        self._given = none if constraints is None else none | constraints
        self._lock = threading.RLock()
        self._book, self._taken = AnswerBook(self.n_clusters, self._given, self.ids), 0
        self._spread: AnswerSpread | None = None
        self._preparing: threading.Thread | None = None
        self._question: Question | None = None
        self._labels: NDArray[np.int32] | None = None
        self._plain: NDArray[np.int32] | None = None
        self._chosen = "plain"
        self.version = 0
        self._log = Log(log)
        try:
            self._seed = self._open(random_state)
            self._base = self._search(None, self._given)
            self._replay()
        except BaseException:
            self._log.close()
            raise

    # Begin and go on

    def _open(self, random_state: int | None) -> int:
        """Write the first line of the log, or check that it belongs to this data."""
        print_ = hashlib.sha256(np.ascontiguousarray(self.X).tobytes()).hexdigest()
        header = self._log.header
        if header is None:
            seed = int(np.random.default_rng(random_state).integers(2**31))
            shape = {"n_rows": len(self.X), "n_clusters": self.n_clusters}
            self._log.begin({**shape, "data": print_, "seed": seed, "model": self.model})
            return seed
        for name, own in (("n_clusters", self.n_clusters), ("data", print_)):
            if header.get(name) != own:
                what = "other data" if name == "data" else f"{header.get(name)} clusters"
                raise ValueError(f"{self._log.path} belongs to a session on {what}")
        try:
            check_header(header)
            for event in self._log.events:
                check_event(event, len(self.X))
        except ValueError as error:
            raise FileFormatError(f"{self._log.path} is no log of a session: {error}") from error
        return int(header["seed"])

    def _replay(self) -> None:
        """Let happen again what the log says."""
        before, self._log.events = self._log.events, []
        for event in before:
            if event["event"] == "search":
                self._base = self._search(self.labels_, self.constraints)
            self._log.events.append(event)
            self._changed()

    @property
    def _ledger(self) -> AnswerBook:
        """What follows from the log.

        The log may be ahead: Ctrl-C comes between a line and what it says, or while that is
        worked out.
        """
        events = self._log.events
        new = events[self._taken :]
        if any(event["event"] != "answer" for event in new):
            self._book = self._book.rebuilt(*answers_of(events))
            self._taken = len(events)
        for event in events[self._taken :]:
            self._book.add(answers_of([event])[0][0])
            self._taken += 1
        return self._book

    def _changed(self) -> None:
        self._question = self._labels = self._plain = None
        self.version += 1

    def _search(
        self, labels: NDArray[np.int32] | None, constraints: Constraints
    ) -> NDArray[np.int32]:
        """Search for a clustering to go on from, which all later ones are mended from."""
        long = self.X.size * self.n_clusters > LONG_SEARCH
        model = KempeKMeans(
            self.n_clusters, max_mutations=SHORT_SEARCH if long else None, random_state=self._seed
        )
        found: NDArray[np.int32] = model.fit(self.X, constraints=constraints, init=labels).labels_
        return found

    # Questions and answers

    def next(self) -> Question | None:
        """Give the pair to ask about next, the same until something is said; nothing if none."""
        with self._lock:
            if self._question is None:
                found = self._strategy.propose(self._view())
                if found is None:
                    return None
                rows = (found.first, found.second)
                number = len(self._ledger.answers) + 1
                self._question = Question(self._named(rows), rows, found.why, number)
            return self._question

    def _view(self) -> View:
        return View(
            X=self.X,
            n_clusters=self.n_clusters,
            known=self._ledger.believed,
            parts=self,
            rng=np.random.default_rng([self._seed, len(self._ledger.answers)]),
            skipped=self._ledger.skipped,
        )

    def answer(self, pair: Sequence[Any], said: Said, *, confidence: float | None = None) -> None:
        """Take an answer, to a question or about a pair of the person's own.

        Parameters
        ----------
        pair
            Two ids, or row numbers if there are no ids.
        said
            ``"together"``, ``"apart"`` or ``"unsure"``.
        confidence
            Probability that the answer is right, above one half. Below one it makes a soft pair:
            clusters may break it where too much speaks against it, and it never contradicts other
            answers. By default an answer is certain.
        """
        if said not in SAID:
            raise ValueError(f"an answer is one of {', '.join(SAID)}, not {said!r}")
        if confidence is not None and not 0.5 < confidence <= 1:
            raise ValueError(
                f"confidence must be above 0.5 and at most 1, got {confidence!r}; "
                "if you cannot tell, the answer is 'unsure'"
            )
        with self._lock:
            rows = self._rows_of(pair)
            asked = self._question is not None and set(self._question.rows) == set(rows)
            self._happen(
                "answer",
                rows=list(rows),
                said=said,
                predicted=self._predicts(rows, said),
                confidence=confidence,
                asked=asked,
            )

    def _predicts(self, rows: tuple[int, int], said: Said) -> bool | None:
        """Whether the present clusters say the same; nothing where it follows from answers."""
        if said == "unsure" or self._ledger.known.relation(*rows) is not None:
            return None
        labels = self.labels_
        return bool((labels[rows[0]] == labels[rows[1]]) == (said == "together"))

    def label(self, rows: Sequence[Any], name: str) -> None:
        """Say that rows belong to the class of a name, and not to those of other names.

        Parameters
        ----------
        rows
            Ids, or row numbers if there are no ids.
        name
            Name of the class.
        """
        with self._lock:
            numbers = [self._row(one) for one in rows]
            if not numbers:
                raise ValueError("a label needs at least one row")
            self._happen("label", rows=numbers, label=str(name))

    def skip(self, pair: Sequence[Any]) -> None:
        """Do not ask about a pair.

        Parameters
        ----------
        pair
            Two ids, or row numbers if there are no ids.
        """
        with self._lock:
            self._happen("skip", rows=list(self._rows_of(pair)))

    def undo(self) -> bool:
        """Take back what happened last; whether there was anything."""
        with self._lock:
            if not _left(self._log.events):
                return False
            self._happen("undo")
            return True

    def retract(self, pair: Sequence[Any], said: Said | None = None) -> None:
        """Take back what was said about a pair, whenever that was.

        Parameters
        ----------
        pair
            Two ids, or row numbers if there are no ids.
        said
            Take back this answer alone, where a pair has contradicting ones; all by default.
        """
        with self._lock:
            rows = self._rows_of(pair)
            key = (min(rows), max(rows))
            told = [one for one in self._ledger.answers if one.key == key]
            if not any(said in (None, one.said) for one in told):
                raise ValueError(f"nothing like that was said about {self._named(rows)}")
            self._happen("retract", rows=list(rows), said=said)

    def search(self) -> None:
        """Search on from the present clusters; what follows is mended from the result."""
        with self._lock:
            found = self._search(self.labels_, self.constraints)
            self._happen("search")
            self._base = found
            self._changed()

    def _happen(self, event: str, **what: Any) -> None:
        line = {"event": event, **what, "time": round(time.time(), 3)}
        if "rows" in what and self.ids is not None:
            line["ids"] = [self.ids[row] for row in what["rows"]]
        check_event(line, len(self.X))
        self._log.append(line)
        self._changed()

    # Clusters

    @property
    def labels_(self) -> NDArray[np.int32]:
        """Cluster of each row; every answer that is certain and holds is obeyed."""
        with self._lock:
            if self._labels is None:
                self._labels = self._choose()
            return self._labels

    @property
    def plain_labels(self) -> NDArray[np.int32]:
        """Clusters by constrained k-means alone."""
        with self._lock:
            return self._plain_labels()

    @property
    def spread(self) -> AnswerSpread:
        """What spreads answers to rows that nobody was asked about."""
        with self._lock:
            return self._spreading()

    @property
    def chosen_(self) -> str:
        """Where the clusters come from at present: ``"plain"`` or ``"spread"``."""
        with self._lock:
            _ = self.labels_
            return self._chosen

    def _choose(self) -> NDArray[np.int32]:
        plain = self._plain_labels()
        self._chosen = "plain"
        known = self._ledger.believed
        if self.model == "plain" or len(known.classes) < 2:
            return plain
        votes = self._spreading().votes(known, plain)
        if votes is None:
            return plain
        if self.model == "auto" and votes.accuracy < self._plain_accuracy(plain, known) - SLACK:
            return plain
        self._chosen = "spread"
        labels = self._spreading().labels(votes, known, self._ledger.confidences())
        found = mended_labels(self.X, self.constraints, labels, self.n_clusters, self._seed)
        return _numbered_like(found, self._base, self.n_clusters)

    def _plain_labels(self) -> NDArray[np.int32]:
        if self._plain is None:
            model = KempeKMeans(self.n_clusters, max_mutations=0, random_state=self._seed)
            model.fit(self.X, constraints=self.constraints, init=self._base)
            self._plain, self._centres = model.labels_, model.cluster_centers_
        return self._plain

    def _plain_accuracy(self, plain: NDArray[np.int32], known: Knowledge) -> float:
        """Share of known rows that are nearest to the centre of the cluster of their class."""
        rows, classes = known.labelled()
        shared = np.zeros((len(known.classes), self.n_clusters), dtype=np.int64)
        np.add.at(shared, (classes, plain[rows]), 1)
        away = cdist(self.X[rows], self._centres, "sqeuclidean")
        return float((away.argmin(axis=1) == shared.argmax(axis=1)[classes]).mean())

    def prepare(self) -> None:
        """Make ready, while a person reads, what the first answer would have to wait for."""
        with self._lock:
            if self.model == "plain" or self._spread is not None or self._preparing is not None:
                return
            self._preparing = threading.Thread(target=self._make_spread, daemon=True)
            self._preparing.start()

    def _make_spread(self) -> None:
        rng = np.random.default_rng([self._seed, 1])
        self._spread = AnswerSpread(self.X, self.n_clusters, rng)

    def _spreading(self) -> AnswerSpread:
        if self._preparing is not None:
            self._preparing.join()
            self._preparing = None
        if self._spread is None:
            self._make_spread()
        assert self._spread is not None
        return self._spread

    # What there is to tell

    @property
    def answers(self) -> list[Answer]:
        """All answers that were not taken back, in their order."""
        return list(self._ledger.answers)

    @property
    def conflicts(self) -> list[Conflict]:
        """Answers that cannot hold, each with a proof and with the answers to look at again."""
        return list(self._ledger.conflicts)

    @property
    def constraints(self) -> Constraints:
        """Pairs that were known, and those of all answers that hold; uncertain ones are soft."""
        return self._ledger.constraints()

    @property
    def log(self) -> Path | None:
        """The file that keeps everything."""
        return self._log.path

    def score(self) -> float:
        """Share of the answers that the clusters predicted before; NaN if there were none.

        Answers that followed from others do not count. What was asked was in doubt, so this is
        lower than the share of all pairs that the clusters have right.
        """
        told = [one.predicted for one in self._ledger.answers if one.predicted is not None]
        return float(np.mean(told)) if told else float("nan")

    def curve(self) -> list[float]:
        """Give the score after each answer that counts."""
        told = [one.predicted for one in self._ledger.answers if one.predicted is not None]
        return [float(share) for share in np.cumsum(told) / np.arange(1, len(told) + 1)]

    def reproducing_constraints(self) -> Constraints:
        """Give pairs under which a fit finds these clusters.

        Spread clusters, and those that soft pairs have a part in, hold every row by pairs.
        """
        pairs = self.constraints
        if self.chosen_ == "plain" and not pairs.soft.count:
            return pairs
        return hard_pairs(pairs) | Constraints.from_labels(self.labels_)

    def export(self, folder: str | Path) -> list[Path]:
        """Write answers, pairs and labels into a folder; give the files.

        ``must_link.csv`` and ``cannot_link.csv`` have the pairs that hold, ``answers.csv`` all that
        was said, ``labels.csv`` the clusters, and ``constraints.json`` pairs under which
        ``kempe fit --constraints constraints.json --init-labels labels.csv --max-mutations 0``
        finds the same clusters.

        Parameters
        ----------
        folder
            Made if it is not there.
        """
        with self._lock:
            return export_session(self, Path(folder))

    def widget(self) -> Widget:
        """Show the page of ``kempe studio`` in a notebook: ``pip install "kempe[widget]"``."""
        from kempe.studio.widget import widget_of

        return widget_of(self)

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Names of rows

    def name(self, row: int) -> Any:
        """Give the id of a row, or its number if there are no ids.

        Parameters
        ----------
        row
            Row number.
        """
        return row if self.ids is None else self.ids[row]

    def _named(self, rows: tuple[int, int]) -> tuple[Any, Any]:
        return self.name(rows[0]), self.name(rows[1])

    def _row(self, name: Any) -> int:
        if self._row_of is not None:
            if name not in self._row_of:
                raise ValueError(f"there is no row {name!r}")
            return self._row_of[name]
        if not isinstance(name, Integral) or not 0 <= int(name) < len(self.X):
            raise ValueError(f"there is no row {name!r}")
        return int(name)

    def _rows_of(self, pair: Sequence[Any]) -> tuple[int, int]:
        if len(pair) != 2:
            raise ValueError(f"a pair has two rows, got {pair!r}")
        first, second = (self._row(one) for one in pair)
        if first == second:
            raise ValueError(f"a pair has two different rows, got {pair[0]!r} twice")
        return first, second


def _numbered_like(
    labels: NDArray[np.int32], others: NDArray[np.int32], k: int
) -> NDArray[np.int32]:
    """Give clusters the numbers of those that they share most rows with."""
    shared = np.bincount(labels * np.int64(k) + others, minlength=k * k).reshape(k, k)
    _, number = linear_sum_assignment(-shared)
    return np.asarray(number[labels], dtype=np.int32)


def _left(events: list[Event]) -> int:
    """How many things could be taken back."""
    left = 0
    for event in events:
        if event["event"] == "undo":
            left = max(0, left - 1)
        elif event["event"] != "search":
            left += 1
    return left


def _rows(X: ArrayLike) -> NDArray[np.float64]:
    from sklearn.utils import check_array

    rows: NDArray[np.float64] = check_array(X, dtype=np.float64, order="C")
    return rows


def _clusters(n_clusters: int, n_rows: int) -> int:
    if not isinstance(n_clusters, Integral) or not 2 <= int(n_clusters) <= n_rows:
        raise ValueError(f"n_clusters must be between 2 and {n_rows}, got {n_clusters!r}")
    return int(n_clusters)


def _ids(ids: Any, n_rows: int) -> list[Any] | None:
    if ids is None:
        return None
    names = np.asarray(ids).tolist() if not isinstance(ids, list | tuple) else list(ids)
    if len(names) != n_rows:
        raise ValueError(f"there are {len(names)} ids for {n_rows} rows")
    if len(set(names)) < len(names):
        raise ValueError("an id must name one row, but some stand for several")
    return names


def _strategy(strategy: str | Strategy) -> tuple[Strategy, str]:
    if not isinstance(strategy, str):
        return strategy, type(strategy).__name__
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}")
    return STRATEGIES[strategy](), strategy
