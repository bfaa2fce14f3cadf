"""What a person has said, what of it holds at present, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe import _core
from kempe.ask.events import Said
from kempe.ask.knowledge import Knowledge
from kempe.ask.log import Event
from kempe.constraints import Constraints
from kempe.graph import CannotLinkGraph
from kempe.graph.colouring import colour_graph
from kempe.pairs import Pairs

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
        Probability that it is right, if the person only thinks so; ``None`` if it is certain.
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

    @property
    def sureness(self) -> float:
        """Probability that it is right: 1 if it is certain."""
        return 1.0 if self.confidence is None else self.confidence

    @property
    def is_soft(self) -> bool:
        """Whether it may be wrong: then clusters may break it at a price."""
        return self.said != "unsure" and self.sureness < 1


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
class AnswerBook:
    """All answers, which of them hold, and what follows.

    Answers are taken in their order; one that contradicts those before it is put aside. Those that
    may be wrong contradict nothing: they become soft pairs.

    Attributes
    ----------
    n_clusters
        Number of clusters.
    given
        Pairs that were known before the first question.
    answers, conflicts, skipped
        All answers that were not taken back; those that cannot hold; pairs not to ask about.
    known
        What follows from the answers that hold, as far as they are certain.
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
    _soft: list[Answer] = field(default_factory=list)
    _believed: Knowledge | None = None

    def __post_init__(self) -> None:
        self._start = Knowledge(self.n_clusters)
        self._start.add_pairs(self.given.must_link, together=True)
        self._start.add_pairs(self.given.cannot_link, together=False)
        self.known = self._start.copy()

    @property
    def believed(self) -> Knowledge:
        """What is known, and what follows from uncertain answers that do not contradict it.

        The surest of them come first. Nothing has to hold because of it; it says what to ask next.
        """
        if not self._soft:
            return self.known
        if self._believed is None:
            believed = self.known.copy()
            for one in sorted(self._soft, key=lambda one: -one.sureness):
                if _fits(believed, one):
                    believed.add(*one.rows, together=one.said == "together")
            self._believed = believed
        return self._believed

    def confidences(self) -> dict[int, float]:
        """How sure it is what is believed of rows of which nothing is known for certain."""
        found: dict[int, float] = {}
        for one in self._soft:
            for row in one.rows:
                if not self.known.is_touched(row):
                    found[row] = max(found.get(row, 0.0), one.sureness)
        return found

    def rebuilt(self, answers: Iterable[Answer], skipped: Iterable[tuple[int, int]]) -> AnswerBook:
        """Give a book of other answers; this one stays as it is."""
        other = copy(self)
        other.known, other._believed = self._start.copy(), None
        other.answers, other.conflicts, other._held, other._soft = [], [], [], []
        other.skipped = set(skipped)
        for answer in answers:
            other.add(answer)
        return other

    def add(self, answer: Answer) -> None:
        """Take one more answer in, or put it aside; Ctrl-C while a proof is sought changes nothing.

        Parameters
        ----------
        answer
            About two different rows.
        """
        if answer.said == "unsure" or answer.is_soft:
            self.skipped.add(answer.key)
            self._soft += [answer] if answer.is_soft else []
        elif self._can_hold(answer):
            self.known.add(*answer.rows, together=answer.said == "together")
            self._held.append(answer)
        else:
            self.conflicts.append(self._conflict(answer))
        self.answers.append(answer)
        self._believed = None

    def _can_hold(self, answer: Answer) -> bool:
        """Whether an answer follows already, or contradicts nothing."""
        follows = self.known.relation(*answer.rows) is (answer.said == "together")
        return follows or _fits(self.known, answer)

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
        """Give the known pairs and those of some answers, of all but conflicts by default.

        Parameters
        ----------
        answers
            Answers, of which uncertain ones become soft pairs.
        """
        answers = [*self._held, *self._soft] if answers is None else answers

        def pairs(said: Said, soft: bool) -> Pairs:
            chosen = [one.rows for one in answers if (one.said, one.is_soft) == (said, soft)]
            return np.array(chosen, dtype=np.int64).reshape(-1, 2)

        def sure(said: Said) -> list[float]:
            return [one.sureness for one in answers if one.said == said and one.is_soft]

        own = Constraints(
            pairs("together", False),
            pairs("apart", False),
            n_rows=self.given.n_rows,
            row_names=self.names,
            soft_must_link=pairs("together", True),
            soft_cannot_link=pairs("apart", True),
            soft_must_link_confidence=sure("together"),
            soft_cannot_link_confidence=sure("apart"),
        )
        return self.given | own


def _fits(known: Knowledge, answer: Answer) -> bool:
    """Whether an answer that does not follow can hold together with what is known."""
    if known.relation(*answer.rows) is not None:
        return False
    trial = known.copy()
    trial.add(*answer.rows, together=answer.said == "together")
    return is_feasible(trial)


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
    labelled: dict[str, list[int]] = {}
    for event in done:
        if event["event"] == "retract":
            key, said = tuple(sorted(event["rows"])), event.get("said")
            answers = [one for one in answers if one.key != key or said not in (None, one.said)]
        elif event["event"] == "skip":
            skipped.append((min(event["rows"]), max(event["rows"])))
        elif event["event"] == "label":
            answers += _of_label(event, labelled)
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


def _of_label(event: Event, labelled: dict[str, list[int]]) -> list[Answer]:
    """Make pairs of a label: its rows with each other, and with a row of each other label.

    A row that had another label already contradicts the other rows that have it.

    Parameters
    ----------
    labelled
        The rows of each label so far, to which these are added.
    """
    name, rows = event["label"], list(event["rows"])
    own = labelled.setdefault(name, [])
    own += rows
    leader = own[0]
    made = [
        Answer((leader, row), "together", asked=False, label=name) for row in rows if row != leader
    ]
    for label, others in labelled.items():
        other = next((row for row in others if row != leader), None)
        if label != name and other is not None:
            made.append(Answer((leader, other), "apart", asked=False, label=name))
    return made
