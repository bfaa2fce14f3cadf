"""What the page shows of a session, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kempe.ask import Answer, Session
from kempe.plotting._plane import Plane
from kempe.report.picture import COLOURS, MOST_PROJECTED
from kempe.studio.table import NamedColumns

# The newest answers and pairs are shown; more would hide each other.
MOST_HISTORY = 200
MOST_PAIRS = 400
# Columns of the centres that are shown, those in which clusters differ most.
MOST_CENTRES = 8
# How sure a person is who says "probably".
PROBABLY = 0.8
# Rows that a request may select.
MOST_SELECTED = 1000


class Desk:
    """A session, its table, and what the last answer changed.

    Parameters
    ----------
    session
        The session.
    cells
        What a person sees of a row.
    title
        What is clustered.
    centres
        Numbers of each row in units that people know, and the names of the columns.
    """

    def __init__(
        self,
        session: Session,
        cells: NamedColumns | None = None,
        *,
        title: str = "kempe studio",
        centres: tuple[NDArray[np.float64], Sequence[str]] | None = None,
    ) -> None:
        self.session = session
        session.prepare()
        names = session.feature_names
        self.cells = NamedColumns.of_numbers(session.X, names) if cells is None else cells
        self.title = title
        self._numbers, self._names = (session.X, names) if centres is None else centres
        self._last: NDArray[np.int32] | None = None
        self._change = ""

    def positions(self) -> bytes:
        """Give the place of each row in the plane of the report, as pairs of float32 in [0, 1]."""
        X = self.session.X
        rng = np.random.default_rng(0)
        some = X if len(X) <= MOST_PROJECTED else X[rng.permutation(len(X))[:MOST_PROJECTED]]
        points = Plane.of(some).place(X)
        low, high = points.min(axis=0), points.max(axis=0)
        wide = np.where(high > low, high - low, 1.0)
        placed: NDArray[np.float32] = ((points - low) / wide).astype("<f4")
        return placed.tobytes()

    def labels(self) -> bytes:
        """Give the cluster of each row as uint16."""
        return self.session.labels_.astype("<u2").tobytes()

    def note_change(self, before: NDArray[np.int32]) -> None:
        """Remember what an answer has changed."""
        after = self.session.labels_
        moved = int(np.count_nonzero(before != after))
        self._change = (
            "No row changed its cluster."
            if not moved
            else f"{moved:,} row{'s' * (moved != 1)} changed {'their' if moved > 1 else 'its'} "
            f"cluster{'s' * (moved > 1)}."
        )

    def state(self) -> dict[str, Any]:
        """Give everything but the map."""
        session = self.session
        score = session.score()
        return {
            "version": session.version,
            "title": self.title,
            "n_rows": len(session.X),
            "colours": COLOURS,
            "probably": PROBABLY,
            "question": self._question(),
            "clusters": self._clusters(),
            "columns": [self._names[c] for c in self._telling()],
            "changed": self._change,
            "score": None if np.isnan(score) else score,
            "curve": session.curve(),
            "conflicts": [self._conflict(one) for one in session.conflicts],
            "history": [self.answer(one) for one in session.answers[-MOST_HISTORY:]],
            "n_answers": len(session.answers),
            "chosen": session.chosen_,
            "log": None if session.log is None else str(session.log),
        }

    def _question(self) -> dict[str, Any] | None:
        question = self.session.next()
        if question is None:
            return None
        cells = self.cells.pair(*question.rows)
        cards = [self.card(row, shown) for row, shown in zip(question.rows, cells, strict=True)]
        return {"number": question.number, "why": question.why, "cards": cards}

    def card(self, row: int, cells: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """Give what a person sees of a row."""
        return {
            "row": row,
            "id": str(self.session.name(row)),
            "cluster": int(self.session.labels_[row]),
            "cells": self.cells.row(row) if cells is None else cells,
        }

    def _clusters(self) -> list[dict[str, Any]]:
        labels, k = self.session.labels_, self.session.n_clusters
        size = np.bincount(labels, minlength=k)
        names = self._cluster_names()
        means = self._means(self._telling())
        return [
            {
                "number": c,
                "name": names.get(c, f"cluster {c}"),
                "size": int(size[c]),
                "centre": [None if np.isnan(value) else float(value) for value in means[c]],
            }
            for c in range(k)
        ]

    def _cluster_names(self) -> dict[int, str]:
        """Name clusters by the labels that a person has given to some of their rows."""
        names: dict[int, str] = {}
        for one in self.session.answers:
            if one.label is not None:
                names.setdefault(int(self.session.labels_[one.rows[0]]), one.label)
        return names

    def _means(self, columns: list[int]) -> NDArray[np.float64]:
        labels, k = self.session.labels_, self.session.n_clusters
        size = np.bincount(labels, minlength=k).astype(np.float64)
        sums = [np.bincount(labels, self._numbers[:, c], minlength=k) for c in columns]
        with np.errstate(invalid="ignore"):
            means: NDArray[np.float64] = np.array(sums).T / size[:, None]
        return means

    def _telling(self) -> list[int]:
        """Give the columns in which clusters differ most, beside how much rows do."""
        every = list(range(self._numbers.shape[1]))
        spread = self._numbers.std(axis=0)
        means = np.nan_to_num(self._means(every))
        between = means.std(axis=0) / np.where(spread > 0, spread, np.inf)
        return [int(c) for c in np.argsort(-between, kind="stable")[:MOST_CENTRES]]

    def answer(self, one: Answer) -> dict[str, Any]:
        """Give an answer as the history shows it."""
        labels = self.session.labels_
        same = bool(labels[one.rows[0]] == labels[one.rows[1]])
        return {
            "rows": list(one.rows),
            "ids": [str(self.session.name(row)) for row in one.rows],
            "said": one.said,
            "probably": one.is_soft,
            "overruled": one.is_soft and same != (one.said == "together"),
            "predicted": one.predicted,
            "asked": one.asked,
            "label": one.label,
        }

    def _conflict(self, conflict: Any) -> dict[str, Any]:
        return {
            "proof": conflict.proof,
            "answers": [self.answer(one) for one in (conflict.answer, *conflict.others)],
        }

    def pairs(self) -> list[list[Any]]:
        """Give the newest pairs, for the map: two rows, whether together, whether it is certain."""
        held = [one for one in self.session.answers if one.said != "unsure"][-MOST_PAIRS:]
        return [[*one.rows, one.said == "together", not one.is_soft] for one in held]


def do(desk: Desk, action: str, body: dict[str, Any]) -> None:
    """Do what a person asked for on the page.

    Raises
    ------
    ValueError
        If the request makes no sense.
    """
    session = desk.session
    before = session.labels_.copy()
    if action == "undo":
        if not session.undo():
            raise ValueError("there is nothing to take back")
    elif action == "search":
        session.search()
    elif action == "label":
        session.label([session.name(row) for row in _rows(body, session)], _name(body))
    else:
        pair = [session.name(row) for row in _rows(body, session, exactly=2)]
        if action == "answer":
            session.answer(pair, body.get("said"), confidence=_confidence(body))  # type: ignore[arg-type]
        elif action == "skip":
            session.skip(pair)
        elif action == "retract":
            session.retract(pair, body.get("said"))
        else:
            raise ValueError(f"nothing is called {action!r}")
    desk.note_change(before)


def _rows(body: dict[str, Any], session: Session, exactly: int | None = None) -> list[int]:
    rows = body.get("rows")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_SELECTED:
        raise ValueError(f"rows must be a list of 1 to {MOST_SELECTED} rows")
    if exactly is not None and len(rows) != exactly:
        raise ValueError(f"rows must be a list of {exactly} rows")
    for row in rows:
        if type(row) is not int or not 0 <= row < len(session.X):
            raise ValueError("rows must be numbers of rows")
    return rows


def _name(body: dict[str, Any]) -> str:
    name = body.get("name")
    if not isinstance(name, str) or not 0 < len(name.strip()) <= 200:
        raise ValueError("a name has 1 to 200 characters")
    return name.strip()


def _confidence(body: dict[str, Any]) -> float | None:
    value = body.get("confidence")
    if value is None or type(value) in (int, float):
        return value
    raise ValueError("confidence must be a number")
