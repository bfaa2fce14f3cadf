"""What may stand in a log: the form of each thing that can happen, before it is believed."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from kempe.ask.log import Event

Said: TypeAlias = Literal["together", "apart", "unsure"]
SAID: tuple[Said, ...] = ("together", "apart", "unsure")

OF_TWO_ROWS = ("answer", "skip", "retract")


def check_header(header: Event) -> None:
    """Raise ``ValueError`` unless the first line of a log has a seed that one can draw from."""
    seed = header.get("seed")
    if not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise ValueError("its seed is none")


def check_event(event: Event, n_rows: int) -> None:
    """Raise ``ValueError`` unless a line says something that a session may have written.

    Parameters
    ----------
    event
        The line.
    n_rows
        Number of rows of the data.
    """
    what = event.get("event")
    if what in ("undo", "search"):
        return
    if what not in (*OF_TWO_ROWS, "label"):
        raise ValueError(f"nothing is called {what!r}")
    _check_rows(event.get("rows"), n_rows, pair=what != "label")
    if what == "label" and not isinstance(event.get("label"), str):
        raise ValueError("a label is a text")
    if what == "retract" and event.get("said") not in (None, *SAID):
        raise ValueError(f"an answer is one of {', '.join(SAID)}")
    if what == "answer":
        _check_answer(event)


def _check_rows(rows: Any, n_rows: int, *, pair: bool) -> None:
    if not isinstance(rows, list) or not all(_is_number(row) for row in rows):
        raise ValueError("rows are numbers")
    if not all(0 <= row < n_rows for row in rows):
        raise ValueError(f"rows are from 0 to {n_rows - 1}")
    if pair and (len(rows) != 2 or rows[0] == rows[1]):
        raise ValueError("a pair has two different rows")
    if not rows:
        raise ValueError("a label needs at least one row")


def _check_answer(event: Event) -> None:
    if event.get("said") not in SAID:
        raise ValueError(f"an answer is one of {', '.join(SAID)}")
    sure = event.get("confidence")
    if sure is not None and not (type(sure) in (int, float) and 0.5 < sure <= 1):
        raise ValueError("a confidence is above 0.5 and at most 1")
    if event.get("predicted") not in (None, True, False) or event.get("asked", True) not in (0, 1):
        raise ValueError("whether it was asked or predicted is true or false")


def _is_number(value: Any) -> bool:
    return type(value) is int
