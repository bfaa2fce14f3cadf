"""What a person has said, what of it holds at present, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from kempe import _core
from kempe.ask.knowledge import Knowledge
from kempe.ask.log import Event
from kempe.constraints import Constraints
from kempe.graph import CannotLinkGraph
from kempe.graph.colouring import colour_graph

Said: TypeAlias = Literal["together", "apart", "unsure"]
SAID: tuple[Said, ...] = ("together", "apart", "unsure")

# Seconds that a proof of a contradiction may take; the smallest one known is shown then.
PROOF_SECONDS = 5.0


@dataclass(frozen=True)
class Answer:
    """What was said about two rows.

    Attributes
    ----------
    rows
        Row numbers, in the order in which they were shown.
    said
        ``"together"``, ``"apart"`` or ``"unsure"``.
    predicted
        Whether the clusters said the same before; ``None`` if there is no telling.
    confidence
        How sure the person was, between 0 and 1, if that was asked.
    asked
        Whether the session asked, or the person came up with the pair.
    label
        Name of the class, if the pair follows from a label that was given.
    """

    rows: tuple[int, int]
    said: Said
    predicted: bool | None = None
    confidence: float | None = None
    asked: bool = True
    label: str | None = None

    @property
    def key(self) -> tuple[int, int]:
        """The pair, the smaller row first."""
        return min(self.rows), max(self.rows)


@dataclass(frozen=True, eq=False)
class Conflict:
    """An answer that cannot hold together with others, and is left out until one is taken back.

    Attributes
    ----------
    answer
        The one that is left out.
    proof
        Why, in words and ids.
    certificate
        The proof for programs, in row numbers.
    others
        Answers that it cannot hold together with; taking back any one of them helps.
    """

    answer: Answer
    proof: str
    certificate: object
    others: tuple[Answer, ...]


@dataclass(eq=False)
class Ledger:
    """All answers, which of them hold, and what follows.

    Answers are taken in their order; one that contradicts those before it is put aside.

    Attributes
    ----------
    n_clusters
        Number of clusters.
    given
        Pairs that were known before the first question.
    answers, conflicts, skipped
        All answers that were not taken back; those that cannot hold; pairs not to ask about.
    known
        What follows from the answers that hold.
    """

    n_clusters: int
    given: Constraints
    names: Sequence[Any] | None = None
    answers: list[Answer] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    skipped: set[tuple[int, int]] = field(default_factory=set)
    known: Knowledge = field(init=False)
    _start: Knowledge = field(init=False)
    _held: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._start = Knowledge(self.n_clusters)
        self._start.add_pairs(self.given.must_link, together=True)
        self._start.add_pairs(self.given.cannot_link, together=False)
        self.known = self._start.copy()

    @property
    def held(self) -> list[Answer]:
        """The answers that hold."""
        return self._held

    def rebuild(self, answers: Iterable[Answer], skipped: Iterable[tuple[int, int]]) -> None:
        """Forget everything and take other answers in."""
        self.known = self._start.copy()
        self.answers, self.conflicts, self._held = [], [], []
        self.skipped = set(skipped)
        for answer in answers:
            self.add(answer)

    def add(self, answer: Answer) -> None:
        """Take one more answer in, or put it aside."""
        self.answers.append(answer)
        if answer.said == "unsure":
            self.skipped.add(answer.key)
            return
        if self.known.relation(*answer.rows) is (answer.said == "together"):
            self._hold(answer)  # it followed already
        elif self._fits(answer):
            self._hold(answer)
        else:
            self.conflicts.append(self._conflict(answer))

    def _hold(self, answer: Answer) -> None:
        self.known.add(*answer.rows, together=answer.said == "together")
        self._held.append(answer)

    def _fits(self, answer: Answer) -> bool:
        if self.known.relation(*answer.rows) is not None:
            return False
        trial = self.known.copy()
        trial.add(*answer.rows, together=answer.said == "together")
        return is_feasible(trial)

    def _conflict(self, answer: Answer) -> Conflict:
        others = self._minimal(answer)
        everything = self.constraints([*others, answer])
        report = everything.check(self.n_clusters, time_limit=PROOF_SECONDS)
        return Conflict(answer, str(report.certificate), report.certificate, tuple(others))

    def _minimal(self, answer: Answer) -> list[Answer]:
        """Drop answers one by one as long as the rest still contradicts the new one."""
        kept = list(self._held)
        for candidate in list(reversed(kept)):
            rest = [one for one in kept if one is not candidate]
            if not self._feasible_with(rest, answer):
                kept = rest
        return kept

    def _feasible_with(self, answers: list[Answer], last: Answer) -> bool:
        trial = self._start.copy()
        for one in [*answers, last]:
            together = one.said == "together"
            relation = trial.relation(*one.rows)
            if relation is not None and relation is not together:
                return False
            trial.add(*one.rows, together=together)
        return is_feasible(trial)

    def constraints(self, answers: Sequence[Answer] | None = None) -> Constraints:
        """Give the known pairs and those of some answers, of all that hold by default.

        This is where confidences would make soft pairs of unsure answers.
        """
        answers = self._held if answers is None else answers
        must = [one.rows for one in answers if one.said == "together"]
        cannot = [one.rows for one in answers if one.said == "apart"]
        own = Constraints(
            np.array(must, dtype=np.int64).reshape(-1, 2),
            np.array(cannot, dtype=np.int64).reshape(-1, 2),
            n_rows=self.given.n_rows,
            row_names=self.names,
        )
        return self.given | own


def is_feasible(known: Knowledge) -> bool:
    """Whether groups that are apart can be given to the clusters."""
    edges = known.edges()
    if not len(edges):
        return True
    vertices, ends = np.unique(edges, return_inverse=True)
    graph = CannotLinkGraph.from_edges(vertices.size, ends.reshape(-1, 2))
    if graph.degree.max(initial=0) < known.n_clusters:
        return True
    if _core.dsatur(graph.core, known.n_clusters)[1] < 0:
        return True
    rng, stopper = np.random.default_rng(0), _core.Stopper(PROOF_SECONDS)
    return colour_graph(graph, known.n_clusters, rng, stopper).core is None


def answers_of(events: Iterable[Event]) -> tuple[list[Answer], list[tuple[int, int]]]:
    """Give the answers that are left of what happened, and the pairs that were skipped.

    ``undo`` takes back the last thing that was not taken back yet, a retraction as well.
    """
    done: list[Event] = []
    for event in events:
        if event["event"] != "undo":
            if event["event"] != "search":
                done.append(event)
        elif done:
            done.pop()
    answers: list[Answer] = []
    skipped = []
    leaders: dict[str, int] = {}
    for event in done:
        if event["event"] == "retract":
            key, said = tuple(sorted(event["rows"])), event.get("said")
            answers = [one for one in answers if one.key != key or said not in (None, one.said)]
        elif event["event"] == "skip":
            skipped.append((min(event["rows"]), max(event["rows"])))
        elif event["event"] == "label":
            answers += _of_label(event, leaders)
        else:
            answers.append(_answer(event))
    return answers, skipped


def _answer(event: Event) -> Answer:
    first, second = event["rows"]
    return Answer(
        (first, second),
        event["said"],
        event.get("predicted"),
        event.get("confidence"),
        event.get("asked", True),
    )


def _of_label(event: Event, leaders: dict[str, int]) -> list[Answer]:
    """Make pairs of a label: its rows with each other, and with a row of each other label.

    Parameters
    ----------
    leaders
        The first row of each label so far; a new label is added.
    """
    name, rows = event["label"], list(event["rows"])
    leader = leaders.setdefault(name, rows[0])
    made = [
        Answer((leader, row), "together", asked=False, label=name) for row in rows if row != leader
    ]
    made += [
        Answer((leader, other), "apart", asked=False, label=name)
        for label, other in leaders.items()
        if label != name
    ]
    return made
