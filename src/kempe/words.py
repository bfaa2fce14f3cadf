"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, one: str, several: str | None = None) -> str:
    """Say how many there are of something.

    Parameters
    ----------
    count
        How many.
    one
        What one of them is called.
    several
        What several are called, if that is not the same with an s.

    Examples
    --------
    >>> counted(1, "cluster"), counted(1200, "row")
    ('1 cluster', '1,200 rows')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"
