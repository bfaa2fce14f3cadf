"""Follow every link inside the built documentation: files exist, and have the anchors.

``make docs`` runs it: ``python docs/check_links.py docs/_build/html``.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Collects links and anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (tag == "a" and name == "href") or (tag in ("img", "script") and name == "src"):
                self.links.append(value)


@cache
def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken_links(folder: Path) -> list[str]:
    """Give every link that leads nowhere, as the page and the link.

    Parameters
    ----------
    folder
        Where the pages are; links that leave it are not followed.
    """
    root = folder.resolve()
    pages = [page for page in sorted(root.rglob("*.html")) if "_static" not in page.parts]
    return [
        f"{page.relative_to(root)}: {link}"
        for page in pages
        for link in dict.fromkeys(_read(page).links)
        if not _leads_somewhere(page, link)
    ]


def _leads_somewhere(page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    # Scripts make anchors of their own on pages that they draw.
    if not parts.fragment or target.suffix != ".html" or "_static" in target.parts:
        return True
    return unquote(parts.fragment) in _read(target).anchors


if __name__ == "__main__":
    found = broken_links(Path(sys.argv[1]))
    sys.exit("\n".join(["Links that lead nowhere:", *found]) if found else 0)
