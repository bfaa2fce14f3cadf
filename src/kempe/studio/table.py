"""What a person sees of a row: its cells as text, or a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

# Longer cells are cut; a card is read at a glance.
LONGEST_CELL = 2000
LARGEST_IMAGE = 32 * 2**20

# How files begin that a browser shows as pictures and that can hold no script.
_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp")


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """The columns of a table as a person knows them.

    Attributes
    ----------
    names
        Names of the columns.
    columns
        The cells of each column, as text.
    folder
        Where paths of pictures begin.
    """

    names: Sequence[str]
    columns: Sequence[Sequence[str]]
    folder: Path = Path()

    @classmethod
    def of_numbers(cls, X: NDArray[Any], names: Sequence[str]) -> NamedColumns:
        """Show the numbers that are clustered, where there is no other table.

        Parameters
        ----------
        X
            All rows.
        names
            Names of the columns.
        """
        return cls(list(names), [[f"{value:.6g}" for value in column] for column in X.T.tolist()])

    def pair(self, first: int, second: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Give the cells of two rows, those in which they differ most first."""
        order = sorted(range(len(self.names)), key=lambda c: -self._difference(c, first, second))
        one, other = (
            [self._cell(c, row, self._difference(c, first, second)) for c in order]
            for row in (first, second)
        )
        return one, other

    def row(self, row: int) -> list[dict[str, Any]]:
        """Give the cells of one row."""
        return [self._cell(c, row, 0.0) for c in range(len(self.names))]

    def _cell(self, column: int, row: int, difference: float) -> dict[str, Any]:
        text = self.columns[column][row]
        cut = text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…"
        image = self.image_path(row, column) is not None
        return {
            "column": self.names[column],
            "number": column,
            "text": cut,
            "differs": difference > 0,
            "image": image,
        }

    def _difference(self, column: int, first: int, second: int) -> float:
        """How much two cells differ, beside how much cells of the column do."""
        one, other = self.columns[column][first], self.columns[column][second]
        if one == other:
            return 0.0
        scale = self._scale(column)
        try:
            return abs(float(one) - float(other)) / scale if scale else 1.0
        except ValueError:
            return 1.0

    def _scale(self, column: int) -> float:
        scales = self.__dict__.setdefault("_scales", {})
        if column not in scales:
            try:
                values = np.array([float(cell) for cell in self.columns[column] if cell])
                scales[column] = float(np.nanstd(values)) if values.size else 0.0
            except ValueError:
                scales[column] = 0.0
        return float(scales[column])

    def image_path(self, row: int, column: int) -> Path | None:
        """Give the file that a cell names, if it names a picture on this machine."""
        text = self.columns[column][row].strip()
        if not text.lower().endswith(_SUFFIXES) or len(text) > 4096 or "\0" in text:
            return None
        try:
            if "://" in text:
                parts = urlsplit(text)
                if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
                    return None
                text = unquote(parts.path)
            path = self.folder / text
            return path if path.is_file() else None
        except (OSError, ValueError):  # an address or a name that cannot be one
            return None

    def image(self, row: int, column: int) -> tuple[bytes, str] | None:
        """Give the content of a picture and its type; nothing if it is none."""
        path = self.image_path(row, column)
        if path is None or path.stat().st_size > LARGEST_IMAGE:
            return None
        content = path.read_bytes()
        for beginning, kind in _BEGINNINGS:
            if content.startswith(beginning):
                return content, kind
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return content, "image/webp"
        return None
