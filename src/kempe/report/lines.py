"""The kinds of pairs on the map of a report, told apart by their dashes as well as by colour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """How pairs of one kind are drawn.

    Attributes
    ----------
    name
        What the picture calls them.
    text
        What people call them.
    colour
        A colour of the style sheet.
    dashes
        Lengths of strokes and gaps; none for a line without gaps.
    width
        Width of the line.
    shown
        Whether they are shown before anybody asks for them.
    """

    name: str
    text: str
    colour: str
    dashes: tuple[float, ...] = ()
    width: float = 1.0
    shown: bool = False

    def sample(self) -> str:
        """Give a piece of the line, which stands beside its name and is read by the charts."""
        dashes = f' stroke-dasharray="{" ".join(map(str, self.dashes))}"' if self.dashes else ""
        return (
            "<svg class=line viewBox='0 0 30 8' aria-hidden=true><line x1=0 x2=30 y1=4 y2=4 "
            f'data-pairs={self.name} stroke="var(--{self.colour})" stroke-width={self.width}'
            f"{dashes} /></svg>"
        )


LINES = (
    Line("must", "must-link", "ink"),
    Line("cannot", "cannot-link", "soft", (4, 3)),
    Line("broken_must", "broken soft must-link", "high", (9, 3, 2, 3), 2.2, shown=True),
    Line("broken_cannot", "broken soft cannot-link", "high", (2, 3), 2.2, shown=True),
    Line("near", "nearly broken", "low", (7, 4), 1.6),
    Line("dear", "most expensive pairs", "accent", width=2.2, shown=True),
)
