"""Tables of benchmark results: on the terminal, as Markdown and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from kempe.bench.environment import environment

WIDTH = 132
"""Columns of the terminal that the widest table needs; a narrower one wraps its lines."""


@dataclass(frozen=True)
class Section:
    """A table with a title; the first column holds names, the others numbers."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def show(sections: Sequence[Section]) -> None:
    """Print tables."""
    console = Console(highlight=False)
    console.width = max(console.width, WIDTH)
    for section in sections:
        console.print(section.title, style="bold")
        table = Table(box=box.SIMPLE_HEAD)
        for position, name in enumerate(section.header):
            table.add_column(name, justify="right" if position else "left", no_wrap=not position)
        for row in section.rows:
            table.add_row(*row)
        console.print(table)


def write_markdown(path: Path, sections: Sequence[Section]) -> None:
    """Write tables, and what they were measured with, to be included in a page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks = [_markdown(section) for section in sections]
    path.write_text("\n\n".join([*blocks, _conditions()]) + "\n", encoding="utf-8")


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write one table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def number(value: float | None, digits: int = 4) -> str:
    """Print a number with so many significant digits, and a dash where there is none."""
    if value is None or value != value:
        return "–"
    if abs(value) >= 10**digits:
        return f"{value:,.0f}"
    return f"{value:#.{digits}g}".rstrip(".")


def _markdown(section: Section) -> str:
    lines = [
        f"**{section.title}**",
        "",
        _line(section.header),
        _line(["---", *["---:"] * (len(section.header) - 1)]),
        *[_line(row) for row in section.rows],
    ]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _conditions() -> str:
    _, facts = environment()
    packages = ", ".join(f"{name} {version}" for name, version in facts["packages"].items())
    return (
        f"Measured on {facts['cores']} cores of {facts['processor']}, "
        f"Python {facts['python']}, {packages}."
    )
