"""A session as files: answers, pairs, labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kempe.storage import guarded, replacing

if TYPE_CHECKING:
    from kempe.ask.session import Session

ANSWERS = ("first", "second", "answer", "predicted", "confidence", "asked", "holds")


def export_session(session: Session, folder: Path) -> list[Path]:
    """Write all files of a session; give their names."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = files_of(session)
    for name, text in texts.items():
        with replacing(folder / name) as file:
            file.write(text)
    return [folder / name for name in texts]


def files_of(session: Session) -> dict[str, str]:
    """Give the content of each file by its name."""
    pairs = session.constraints
    everything = session.reproducing_constraints()
    labels = session.labels_.tolist()
    named = [[session.name(row), label] for row, label in enumerate(labels)]
    return {
        "answers.csv": _csv(ANSWERS, _answers(session)),
        "must_link.csv": _csv(("first", "second"), _named(session, pairs.must_link)),
        "cannot_link.csv": _csv(("first", "second"), _named(session, pairs.cannot_link)),
        "soft_pairs.csv": _csv(("first", "second", "kind", "confidence"), _soft(session)),
        "labels.csv": _csv(
            ("label",) if session.ids is None else ("id", "label"),
            [[label] for label in labels] if session.ids is None else named,
        ),
        "constraints.json": json.dumps(
            {
                "ml": _named(session, everything.must_link),
                "cl": _named(session, everything.cannot_link),
            }
        ),
    }


def _answers(session: Session) -> list[list[Any]]:
    out = {id(conflict.answer) for conflict in session.conflicts}
    return [
        [
            *(session.name(row) for row in one.rows),
            one.said,
            "" if one.predicted is None else int(one.predicted),
            "" if one.confidence is None else one.confidence,
            int(one.asked),
            int(one.said != "unsure" and id(one) not in out),
        ]
        for one in session.answers
    ]


def _soft(session: Session) -> list[list[Any]]:
    """Give the pairs that may be wrong, in the form that ``kempe fit --soft`` reads."""
    soft = session.constraints.soft
    rows = []
    for kind in ("must", "cannot"):
        sure = getattr(soft, f"{kind}_link_confidence").tolist()
        pairs = _named(session, getattr(soft, f"{kind}_link"))
        rows += [
            [*pair, f"{kind}-link", "" if isnan(one) else one]
            for pair, one in zip(pairs, sure, strict=True)
        ]
    return rows


def _named(session: Session, pairs: Any) -> list[list[Any]]:
    return [[session.name(a), session.name(b)] for a, b in pairs.tolist()]


def _csv(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    from io import StringIO

    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return text.getvalue()
