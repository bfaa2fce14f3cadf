"""What is given up, what is left, and the proof that so much had to go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe import cards
from kempe.constraints import Constraints
from kempe.contradictions.candidates import Candidates
from kempe.contradictions.contradiction import Contradiction
from kempe.engine import KempeKMeans
from kempe.pairs import Pairs
from kempe.words import counted

# Sums of weights that are no whole numbers may differ by this share of them.
ROUNDING = 1e-9


@dataclass(frozen=True)
class RelaxProgress:
    """How far a search for pairs to give up has come.

    Attributes
    ----------
    elapsed
        Seconds of wall time.
    cost
        What the cheapest pairs are worth that are known to suffice.
    lower_bound
        What must be given up at least, as far as is known.
    """

    elapsed: float
    cost: float
    lower_bound: float


@dataclass(frozen=True, eq=False, repr=False)
class Relaxation:
    """The pairs to give up, the clustering that obeys the rest, and a lower bound.

    Attributes
    ----------
    constraints
        What was given.
    n_clusters
        Number of clusters.
    labels
        Cluster of each row; without data, -1 for rows that no pair names.
    kept
        The pairs that are left; all of them hold. Pass them to ``fit``.
    pairs, together, weight, confidence
        The pairs to give up, dearest first: rows, whether they belong together, what each costs,
        and how sure they were, NaN where nobody said.
    contradictions
        Contradictions that share no pair: of each, one pair at least must go.
    model
        The fitted ``KempeKMeans``; ``None`` without data.
    stop_reason
        What ended the search: ``"optimal"``, ``"patience"``, ``"time_limit"`` or ``"interrupted"``.
    runtime
        Seconds of wall time.
    candidates
        All pairs that could have been given up, with what each is worth.
    """

    constraints: Constraints
    n_clusters: int
    labels: NDArray[np.int32]
    kept: Constraints
    pairs: Pairs
    together: NDArray[np.bool_]
    weight: NDArray[np.float64]
    confidence: NDArray[np.float64]
    contradictions: tuple[Contradiction, ...]
    model: KempeKMeans | None
    stop_reason: str
    runtime: float
    candidates: Candidates = field(repr=False)

    @classmethod
    def of(
        cls,
        candidates: Candidates,
        n_clusters: int,
        labels: NDArray[np.int32],
        contradictions: tuple[Contradiction, ...],
        **more: Any,
    ) -> Relaxation:
        """Put together what a clustering breaks, and what contradictions prove.

        Parameters
        ----------
        candidates
            The pairs that may be given up.
        n_clusters
            Number of clusters.
        labels
            Cluster of each row.
        contradictions
            Contradictions that share no pair.
        **more
            The other attributes: ``model``, ``stop_reason`` and ``runtime``.
        """
        broken = candidates.broken(labels)
        order = np.argsort(-candidates.weight[broken], kind="stable")

        def dearest_first(values: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(values[broken][order])

        return cls(
            constraints=candidates.constraints,
            n_clusters=n_clusters,
            labels=labels,
            kept=candidates.kept(broken),
            pairs=dearest_first(candidates.pairs),
            together=dearest_first(candidates.together),
            weight=dearest_first(candidates.weight),
            confidence=dearest_first(candidates.confidence),
            contradictions=contradictions,
            candidates=candidates,
            **more,
        )

    @property
    def n_given_up(self) -> int:
        """Number of pairs to give up."""
        return len(self.pairs)

    @property
    def cost(self) -> float:
        """What the pairs to give up are worth: their number, unless there are weights."""
        return float(self.weight.sum())

    @property
    def lower_bound(self) -> float:
        """What must be given up at least."""
        return float(sum(one.weight for one in self.contradictions))

    @property
    def is_optimal(self) -> bool:
        """Whether nothing cheaper is enough, by the lower bound."""
        return self.cost <= self.lower_bound * (1 + ROUNDING)

    @property
    def given_up(self) -> Any:
        """The pairs to give up, dearest first, as a data frame of pandas."""
        import pandas as pd

        first, second = (self.constraints.names_of(self.pairs[:, end]) for end in (0, 1))
        table = {
            "kind": np.where(self.together, "must-link", "cannot-link"),
            "first": first,
            "second": second,
            "weight": self.weight,
        }
        if not np.isnan(self.candidates.confidence).all():
            table["confidence"] = self.confidence
        return pd.DataFrame(table)

    def verify(self) -> bool:
        """Check all of it against the constraints as they were given.

        The pairs that are kept hold under the labels; with those given up they are all there are;
        every contradiction is one; and no pair is in more of them than it is worth.
        """
        kept = self.candidates.kept(self.candidates.broken(self.labels))
        broken = kept.violations(self.labels)
        hold = not broken.must_link.size and not broken.cannot_link.size
        proven = all(one.verify(self.constraints, self.n_clusters) for one in self.contradictions)
        return hold and kept == self.kept and proven and self._shares_nothing()

    def _shares_nothing(self) -> bool:
        """Whether no pair is used up by contradictions beyond what it is worth."""
        candidates = self.candidates
        worth: dict[tuple[int, int, bool], float] = {}
        for (a, b), together, weight in zip(
            candidates.pairs.tolist(), candidates.together.tolist(), candidates.weight, strict=True
        ):
            key = (min(a, b), max(a, b), together)
            worth[key] = worth.get(key, 0.0) + float(weight)
        certain = candidates.certain
        for pairs, together in ((certain.must_link, True), (certain.cannot_link, False)):
            for a, b in pairs.tolist():
                worth[min(a, b), max(a, b), together] = np.inf
        for one in self.contradictions:
            for pairs, together in ((one.must_link, True), (one.cannot_link, False)):
                for a, b in pairs.tolist():
                    worth[min(a, b), max(a, b), together] -= one.weight
        least = min(worth.values(), default=0.0)
        return bool(least >= -ROUNDING * max(1.0, self.cost))

    def summary(self) -> str:
        """Say in a few lines what is given up, and what must be."""
        counts = (int(np.count_nonzero(self.together == kind)) for kind in (True, False))
        together, apart = counts
        worth = "" if (self.weight == 1).all() else f", worth {self.cost:.6g}"
        return "\n".join(
            [
                f"give up       {self.n_given_up:,} of "
                f"{counted(len(self.candidates.pairs), 'pair')}: "
                f"{together:,} must-link, {apart:,} cannot-link{worth}",
                f"proof         {self._proof()}",
                f"time          {self.runtime:.3f} s, stopped by {self.stop_reason}",
            ]
        )

    def _proof(self) -> str:
        if not self.n_given_up:
            return "all pairs hold"
        count = len(self.contradictions)
        said = counted(count, "contradiction", "contradictions that share no pair")
        if self.is_optimal:
            return f"{said}, so nothing less is enough"
        return f"{said}, so no less than {self.lower_bound:.6g} can be given up"

    def __repr__(self) -> str:
        return (
            f"Relaxation(n_given_up={self.n_given_up}, cost={self.cost:g}, "
            f"lower_bound={self.lower_bound:g})"
        )

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        return cards.card("Relaxation", cards.facts(cards.facts_of(self.summary())))
