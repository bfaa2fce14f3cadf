"""Which pair to ask next: strategies compared by the clusters after 20, 50, 100 and 200 answers.

A person is played by the true labels, on request with a share of wrong answers. Every strategy has
the clusters that its publication has: COBRAS its own, the others constrained k-means; ours chooses.
Runs are kept in a file, so a benchmark that was ended goes on where it was.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.stats import wilcoxon
from sklearn.metrics import adjusted_rand_score

from folders import use_shared_data
from kempe import datasets
from kempe.ask import Answer, Question, Session, SuperInstances, View
from kempe.ask.answers import AnswerBook, Said
from kempe.constraints import Constraints
from tables import Section, show, write_markdown

BUDGETS = (20, 50, 100, 200)
COLLECTION_1 = [key for key in datasets.names() if key.startswith("COL1/")]
OTHERS = [
    "COL2/n300-k10-s30",
    "COL2/n300-k20-s20",
    "COL2/n300-k20-s50",
    "COL2/n300-k50-s30",
    "COL3/n500-k2",
    "COL3/n500-k5",
    "COL3/n500-k10",
    "COL3/n500-k20",
    "COL3/n500-k50",
    "COL3/n1000-k5",
]
# Name in the table, strategy, and where its clusters come from.
RIVALS = {
    "kempe": ("auto", "auto"),
    "kempe, 95 % sure": ("auto", "auto"),
    "COBRAS": ("super-instances", "own"),
    "NPU": ("normalised-uncertainty", "plain"),
    "uncertainty": ("uncertainty", "plain"),
    "explore-consolidate": ("explore-consolidate", "plain"),
    "random": ("random", "plain"),
}
# How sure the person is of each answer, where that is said.
SURE = {"kempe, 95 % sure": {"confidence": 0.95}}
OURS, PUBLISHED = "kempe", "COBRAS"


@dataclass(frozen=True)
class Run:
    """One session to be played."""

    dataset: str
    method: str
    seed: int
    wrong: float

    def play(self) -> dict[str, Any]:
        """Answer all questions; give the adjusted Rand index at each budget."""
        data = datasets.load(self.dataset)
        assert data.y is not None
        strategy, model = RIVALS[self.method]
        player: Player | Session = (
            Player(data.X, data.n_clusters, self.seed)
            if model == "own"
            else Session(
                data.X, data.n_clusters, strategy=strategy, model=model, random_state=self.seed
            )
        )
        rng = np.random.default_rng([self.seed, 7])
        found, started, questions = {}, time.process_time(), 0
        for number in range(1, max(BUDGETS) + 1):
            question = player.next()
            if question is not None:
                first, second = question.rows
                same = bool(data.y[first] == data.y[second]) != bool(rng.random() < self.wrong)
                said: Said = "together" if same else "apart"
                player.answer(question.rows, said, **SURE.get(self.method, {}))
                questions += 1
            if number in BUDGETS:
                found[str(number)] = adjusted_rand_score(data.y, player.labels_)
        seconds = (time.process_time() - started) / max(1, questions)
        return {**vars(self), "ari": found, "seconds": seconds, "questions": questions}


class Player:
    """COBRAS by itself, without the clusters of a session."""

    def __init__(self, X: Any, n_clusters: int, seed: int) -> None:
        self._strategy = SuperInstances()
        self._ledger = AnswerBook(n_clusters, Constraints(n_rows=len(X)))
        self._view = partial(View, np.asarray(X, dtype=np.float64), n_clusters)
        self._seed = seed

    def next(self) -> Question | None:
        """Give the pair to ask about next."""
        ledger, rng = self._ledger, np.random.default_rng(self._seed)
        view = self._view(known=ledger.known, parts=None, rng=rng, skipped=ledger.skipped)
        found = self._strategy.propose(view)
        if found is None:
            return None
        rows = (found.first, found.second)
        return Question(rows, rows, found.why, len(ledger.answers) + 1)

    def answer(self, rows: tuple[int, int], said: Any) -> None:
        """Take an answer; one that contradicts others is not asked again."""
        self._ledger.add(Answer(rows, said))
        self._ledger.skipped.add((min(rows), max(rows)))

    @property
    def labels_(self) -> Any:
        """The clusters that COBRAS has."""
        return self._strategy.clusters


def planned(sets: list[str], methods: list[str], seeds: int, wrong: list[float]) -> Iterator[Run]:
    """Give all runs, seed by seed, so that a part of them says something about all sets."""
    for seed in range(seeds):
        for dataset in sets:
            for share in wrong:
                for method in methods:
                    yield Run(dataset, method, seed, share)


def load(store: Path) -> list[dict[str, Any]]:
    """Read the runs that were made."""
    if not store.exists():
        return []
    return [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()]


def means(results: list[dict[str, Any]]) -> dict[tuple[float, str, str], dict[int, float]]:
    """Mean index over seeds by share of wrong answers, method and set."""
    every = defaultdict(list)
    for one in results:
        every[one["wrong"], one["method"], one["dataset"]].append(one)
    return {
        key: {b: float(np.mean([one["ari"][str(b)] for one in runs])) for b in BUDGETS}
        for key, runs in every.items()
    }


def table(results: list[dict[str, Any]], wrong: float) -> Section:
    """Give the mean over sets of each method."""
    found = means(results)
    rows = []
    for method in RIVALS:
        runs = [one for one in results if (one["wrong"], one["method"]) == (wrong, method)]
        if not runs:
            continue
        sets = sorted({one["dataset"] for one in runs})
        cells = [f"{np.mean([found[wrong, method, s][b] for s in sets]):.3f}" for b in BUDGETS]
        each = f"{1000 * np.mean([one['seconds'] for one in runs]):.0f}"
        seeds = [sum(one["dataset"] == name for one in runs) for name in sets]
        few, many = min(seeds), max(seeds)
        repeated = str(few) if few == many else f"{few} to {many}"
        rows.append([method, *cells, each, str(len(sets)), repeated])
    head = ["strategy", *(f"{b} answers" for b in BUDGETS), "ms per question", "sets", "seeds"]
    return Section(f"Adjusted Rand index, {_told(wrong)}", head, rows)


def comparison(results: list[dict[str, Any]], wrong: float) -> Section:
    """Compare ours with COBRAS on the sets that both were run on."""
    found = means(results)
    ran = [{key[2] for key in found if key[:2] == (wrong, one)} for one in (OURS, PUBLISHED)]
    both = sorted(ran[0] & ran[1])
    rows = []
    for budget in BUDGETS:
        ours, theirs = (
            np.array([found[wrong, method, name][budget] for name in both])
            for method in (OURS, PUBLISHED)
        )
        p = wilcoxon(ours, theirs).pvalue if (ours != theirs).any() else 1.0
        gain = f"{(ours - theirs).mean():+.3f}" if both else "–"
        counts = [str((ours > theirs).sum()), str((ours < theirs).sum())]
        rows.append([f"{budget} answers", gain, *counts, f"{p:.2g}"])
    head = ["", "difference", "sets higher", "sets lower", "p (Wilcoxon)"]
    return Section(f"{OURS} against {PUBLISHED}, {_told(wrong)}", head, rows)


def _told(wrong: float) -> str:
    return f"{100 * wrong:.0f} % of the answers wrong" if wrong else "all answers right"


def main(
    store: Annotated[Path, typer.Option(help="File of the runs, which is added to.")] = Path(
        "results/questions.jsonl"
    ),
    seeds: Annotated[int, typer.Option(min=1)] = 10,
    method: Annotated[list[str] | None, typer.Option(help="One of the strategies.")] = None,
    wrong: Annotated[list[float] | None, typer.Option(help="Share of wrong answers.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="One of the sets.")] = None,
    run: Annotated[bool, typer.Option(help="Make the runs that are missing.")] = True,
    out: Annotated[Path | None, typer.Option(help="Markdown file for the tables.")] = None,
) -> None:
    """Compare strategies."""
    use_shared_data()
    shares = wrong or [0.0, 0.05]
    results = load(store)
    done = {(r["dataset"], r["method"], r["seed"], r["wrong"]) for r in results}
    store.parent.mkdir(parents=True, exist_ok=True)
    plan = planned(only or [*COLLECTION_1, *OTHERS], method or list(RIVALS), seeds, shares)
    with store.open("a", encoding="utf-8") as file:
        for one in plan if run else ():
            if (one.dataset, one.method, one.seed, one.wrong) not in done:
                results.append(one.play())
                file.write(json.dumps(results[-1]) + "\n")
                file.flush()
    sections = [make(results, share) for share in shares for make in (table, comparison)]
    show(sections)
    if out is not None:
        write_markdown(out, sections)


if __name__ == "__main__":
    typer.run(main)
