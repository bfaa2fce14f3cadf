"""Numbers in sentences."""

from __future__ import annotations

import pytest

from kempe.words import counted


@pytest.mark.parametrize(
    ("count", "words", "expected"),
    [
        (0, ("row",), "0 rows"),
        (1, ("row",), "1 row"),
        (2, ("row",), "2 rows"),
        (1234, ("row",), "1,234 rows"),
        (1, ("seed is", "seeds are"), "1 seed is"),
        (3, ("seed is", "seeds are"), "3 seeds are"),
    ],
)
def test_one_is_singular(count, words, expected):
    assert counted(count, *words) == expected
