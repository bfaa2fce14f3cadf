"""A session of questions: proposes pairs, takes answers, and has clusters that obey them."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe.ask.answers import Answer, AnswerBook, Conflict, answers_of
from kempe.ask.clusters import Model, SessionClusters
from kempe.ask.cobras import SuperInstances
from kempe.ask.events import SAID, Said, check_event, check_header
from kempe.ask.export import export_session
from kempe.ask.log import Event, Log
from kempe.ask.mending import hard_pairs
from kempe.ask.names import RowNames
from kempe.ask.npu import NormalisedUncertainty
from kempe.ask.simple import ExploreConsolidate, RandomPairs, Uncertainty
from kempe.ask.spread import AnswerSpread
from kempe.ask.spreading import Spreading
from kempe.ask.strategy import Strategy, View
from kempe.constraints import Constraints
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
        self._names = RowNames(ids, len(self.X))
        if model not in ("auto", "plain", "spread"):
            raise ValueError(f"model must be 'auto', 'plain' or 'spread', got {model!r}")
        self.model = model
        self._strategy, self._strategy_name = _strategy(strategy)
        none = Constraints(n_rows=len(self.X))
        self._given = none if constraints is None else none | constraints
        self._lock = threading.RLock()
        self._book, self._taken = AnswerBook(self.n_clusters, self._given, self.ids), 0
        self._question: Question | None = None
        self.version = 0
        self._log = Log(log)
        try:
            self._seed = self._open(random_state)
            self._clusters = SessionClusters(self.X, self.n_clusters, self._seed, model)
            self._clusters.go_on_from(self._clusters.searched(None, self._given))
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
                found = self._clusters.searched(self.labels_, self.constraints)
                self._clusters.go_on_from(found)
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
        self._question = None
        self._clusters.forget()
        self.version += 1

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
                self._question = Question(self._names.names(rows), rows, found.why, number)
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
            rows = self._names.rows(pair)
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
            numbers = [self._names.row(one) for one in rows]
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
            self._happen("skip", rows=list(self._names.rows(pair)))

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
            rows = self._names.rows(pair)
            key = (min(rows), max(rows))
            told = [one for one in self._ledger.answers if one.key == key]
            if not any(said in (None, one.said) for one in told):
                raise ValueError(f"nothing like that was said about {self._names.names(rows)}")
            self._happen("retract", rows=list(rows), said=said)

    def search(self) -> None:
        """Search on from the present clusters; what follows is mended from the result."""
        with self._lock:
            found = self._clusters.searched(self.labels_, self.constraints)
            self._happen("search")
            self._clusters.go_on_from(found)
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
            return self._clusters.labels(self._ledger)

    @property
    def plain_labels(self) -> NDArray[np.int32]:
        """Clusters by constrained k-means alone."""
        with self._lock:
            return self._clusters.plain(self.constraints)

    @property
    def spread(self) -> AnswerSpread:
        """What spreads answers to rows that nobody was asked about."""
        with self._lock:
            return self._clusters.spread()

    @property
    def chosen_(self) -> str:
        """Where the clusters come from at present: ``"plain"`` or ``"spread"``."""
        with self._lock:
            return self._clusters.chosen(self._ledger)

    def prepare(self) -> None:
        """Make ready, while a person reads, what the first answer would have to wait for."""
        with self._lock:
            self._clusters.prepare()

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
        return self._names.name(row)

    @property
    def ids(self) -> list[Any] | None:
        """Id of each row, if there are ids."""
        return self._names.ids


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


def _strategy(strategy: str | Strategy) -> tuple[Strategy, str]:
    if not isinstance(strategy, str):
        return strategy, type(strategy).__name__
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}, got {strategy!r}")
    return STRATEGIES[strategy](), strategy
