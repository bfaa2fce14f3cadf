"""Follow every link inside the built documentation: files exist, and have the anchors.

Images must be described in words, too, and every page must have the icon of the site.

``make docs`` runs it: ``python docs/check_links.py docs/_build/html``.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Collects links and anchors, and what those miss who cannot see."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.undescribed: list[str] = []
        self.has_icon = False
        self.has_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        source = known.get("src") or ""
        # Thumbnails of the gallery stand beside their titles, which say the same.
        described = (known.get("alt") or "").strip() or source.endswith("_thumb.png")
        if tag == "img" and not described:
            self.undescribed.append(source)
        if tag == "link" and known.get("rel") == "icon":
            self.has_icon = True
            self.links.append(known.get("href") or "")
        self.has_style |= tag == "link" and known.get("rel") == "stylesheet"
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
    return [
        f"{page.relative_to(folder.resolve())}: {link}"
        for page in _pages(folder)
        for link in dict.fromkeys(_read(page).links)
        if not _leads_somewhere(page, link)
    ]


def undescribed_images(folder: Path) -> list[str]:
    """Give every image without words that stand for it, as the page and the image.

    Parameters
    ----------
    folder
        Where the pages are.
    """
    return [
        f"{page.relative_to(folder.resolve())}: {image}"
        for page in _pages(folder)
        for image in _read(page).undescribed
    ]


def pages_without_icon(folder: Path) -> list[str]:
    """Give every page for whose tab a browser has no icon.

    A report needs no file beside itself, and is no page of the site.

    Parameters
    ----------
    folder
        Where the pages are.
    """
    root = folder.resolve()
    pages = [page for page in _pages(folder) if _read(page).has_style]
    return [str(page.relative_to(root)) for page in pages if not _read(page).has_icon]


def _pages(folder: Path) -> list[Path]:
    pages = sorted(folder.resolve().rglob("*.html"))
    return [page for page in pages if "_static" not in page.parts]


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
    built = Path(sys.argv[1])
    wrong = {
        "Links that lead nowhere:": broken_links(built),
        "Images without words:": undescribed_images(built),
        "Pages without an icon:": pages_without_icon(built),
    }
    lines = [line for what, found in wrong.items() if found for line in [what, *found]]
    sys.exit("\n".join(lines) or 0)
