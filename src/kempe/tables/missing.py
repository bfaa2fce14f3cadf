"""What stands for a value that is not there."""

from __future__ import annotations

from kempe.pairs import UNKNOWN_LABELS

# Among labels -1 means unknown, among numbers it is one.
MISSING = UNKNOWN_LABELS - {"-1"}


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value: it is blank, ``?``, ``NA`` or the like."""
    return cell.strip().lower() in MISSING


def is_unknown(label: str) -> bool:
    """Whether a label says that nothing is known: as ``is_missing``, or -1."""
    return label.strip().lower() in UNKNOWN_LABELS
