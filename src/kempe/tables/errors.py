"""What is wrong with a table, and what whoever asked for it could say to mend it."""

from __future__ import annotations

from enum import Enum, auto


class Unsaid(Enum):
    """What can be said about a table beside naming its file; how, knows whoever reads it."""

    NAMES_OR_VALUES = auto()
    """Whether the first line holds names."""
    NAMES = auto()
    """That the first line holds names."""
    IDS = auto()
    """Which column of the data has the ids that pairs name."""
    ENCODING = auto()
    """How the letters of a text are encoded."""
    FORM = auto()
    """Which of the forms that files of pairs have this one is."""
    SOFT = auto()
    """That pairs are of both kinds, and may be wrong."""


class TableError(ValueError):
    """A table cannot be read as it was asked for.

    Parameters
    ----------
    message
        What is wrong.
    unsaid
        What would help if it were said.
    """

    def __init__(self, message: str, unsaid: Unsaid | None = None) -> None:
        super().__init__(message)
        self.unsaid = unsaid
