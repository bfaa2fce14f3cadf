"""Links of the pages lead somewhere: between files of Markdown, and in what is built of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from check_links import broken_links, pages_without_icon, undescribed_images  # noqa: E402

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES += sorted((ROOT / "docs" / "tutorials").glob("*.md"))
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """Anchors that headings of Markdown get."""
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE)
    plain = (re.sub(r"[`*{}()\[\],.?!:'/=+&\"]", "", heading.lower()) for heading in headings)
    found = {re.sub(r"\s", "-", heading.strip()) for heading in plain}
    return found | set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in LINK.findall(text):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<p id=here><a href="#here">x</a><a href="#gone">x</a><a href="b.html">x</a>'
        '<a href="sub/#there">x</a><a href="sub/#nowhere">x</a><a href="https://x.org/#y">x</a>'
        '<img src="none.png">'
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "index.html").write_text('<h1 id="there">x</h1><a href="../a.html#here">')
    assert broken_links(tmp_path) == [
        "a.html: #gone",
        "a.html: b.html",
        "a.html: sub/#nowhere",
        "a.html: none.png",
    ]


def test_an_image_without_words_and_a_page_without_an_icon_are_found(tmp_path):
    style = '<link rel="stylesheet" href="style.css">'
    (tmp_path / "a.html").write_text(f'{style}<img src="x.png" alt="map"><img src="y.png" alt=" ">')
    (tmp_path / "b.html").write_text(f'{style}<link rel="icon" href="icon.svg"><img src="z.png">')
    (tmp_path / "report.html").write_text('<style>p { color: red }</style><img src="a_thumb.png">')
    assert undescribed_images(tmp_path) == ["a.html: y.png", "b.html: z.png"]
    assert pages_without_icon(tmp_path) == ["a.html"]
    assert "b.html: icon.svg" in broken_links(tmp_path)


IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
DIRECTIVE = re.compile(r"^```\{(?:image|figure)\} (\S+)\n((?::.*\n)*)", re.MULTILINE)


def images(page: Path) -> list[tuple[str, str]]:
    """Images of a page of Markdown, each with the words that stand for it."""
    text = page.read_text(encoding="utf-8")
    described = [(target, words) for words, target in IMAGE.findall(text)]
    for target, options in DIRECTIVE.findall(text):
        words = re.search(r"^:alt:(.*)$", options, re.MULTILINE)
        described.append((target, words[1] if words else ""))
    return described


def test_every_image_of_a_page_is_there_and_described():
    seen = [(page, *image) for page in PAGES for image in images(page)]
    assert len({target for _, target, _ in seen}) > 3
    for page, target, words in seen:
        assert (page.parent / target).is_file(), target
        assert len(words.split()) > 3, f"{page.name}: {target}"


def test_the_icon_of_the_pages_is_a_drawing():
    told = re.search(r'^html_favicon = "(.+)"$', (ROOT / "docs/conf.py").read_text(), re.MULTILINE)
    drawing = ElementTree.parse(ROOT / "docs" / told[1]).getroot()
    assert drawing.tag.endswith("}svg")
    assert drawing.get("viewBox")


def test_the_built_pages_have_no_link_that_leads_nowhere():
    built = ROOT / "docs" / "_build" / "html"
    if not (built / "index.html").exists():
        pytest.skip("make docs builds the pages, and follows their links")
    assert broken_links(built) == []
    assert undescribed_images(built) == []
    assert pages_without_icon(built) == []
