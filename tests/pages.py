"""Blocks of the pages: README, CONTRIBUTING, and those of the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "*.md",
        "docs/*.md",
        "docs/tutorials/*.md",
        "docs/results/*.md",
        "experiments/*.md",
    )
    for path in ROOT.glob(pattern)
)

INCLUDE = re.compile(r"^`{3}\{(?:literal)?include\} (\S+)$", re.MULTILINE)

# A block may be preceded by the reason why tests leave it out, and followed by what it prints.
BLOCK = re.compile(
    r"(?:^<!-- not run by the tests: (?P<reason>[^\n]*?) -->\n+)?"
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```$"
    r"(?:\n+```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """Some lines of a page that a reader can run."""

    page: str
    text: str
    reason: str | None
    output: str | None


def blocks(page: str, language: str) -> Iterator[Block]:
    """Give the blocks of a page in one language, from top to bottom."""
    for match in BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        if match["language"] == language:
            yield Block(page, match["text"], match["reason"], match["output"])
