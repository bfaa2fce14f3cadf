"""Names that try to be something else than text, and runs that carry them everywhere."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from html_reader import Reader
from kempe.bench import Record, Store

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></svg></table>",
    "<!-- --><![CDATA[ ]]>",
    "&lt;b&gt; &amp; &#60;",
    "a|b `c` [d](javascript:e) **f**",
    r"$\frac$ \input{x} ${style} $style % # _ ~ ^ {",
    "{0} {name} {} %s %(name)s",
    "=cmd|' /C calc'!A0",
    "\u202e\u0007\x1b[31m",
]


PLACE = ("variant", "collection", "name", "level", "method", "seed")


def runs(name: str) -> list[Record]:
    """Runs of two methods on two data sets, with a name wherever a text is."""
    plain = Record(
        "main", "own", "mine", 1.0, "method", 0, "ok", inertia=2.0, cpu_s=0.5, wall_s=0.5
    )
    plain = replace(plain, history=[(0.1, 3.0), (0.4, 2.0)], violations=0, environment=name)
    made = []
    for variant in ("main", name):
        for collection, data in (("own", "mine"), (name, name), ("COL2", name)):
            for method in (name, "KSKM"):
                for seed in (0, 1):
                    place = (variant, collection, data, 1.0, method, seed)
                    where = dict(zip(PLACE, place, strict=True))
                    made.append(replace(plain, inertia=2.0 + seed, **where))
    failed = {"status": "failed", "reason": f"{name}: {name}", "inertia": None, "history": []}
    return [*made, replace(plain, method=name, seed=2, stop_reason=name, data=name, **failed)]


def fill(folder: Path, name: str) -> Store:
    """Make a store of such runs."""
    store = Store(folder)
    facts = {"processor": name, "cores": name, "python": name, "packages": {name: name}}
    store.add_environment(name, facts)
    with store.writing() as append:
        for record in runs(name):
            append(record)
    return store


def skeleton(page: str) -> Counter[tuple[str, tuple[str, ...]]]:
    """Count the tags of a page with the names of their attributes, pictures left out.

    Names decide the order of tables, and how much is drawn, so neither is compared.
    """
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    kept, inside = [], False
    for tag, attributes in reader.tags:
        assert tag not in ("script", "img")
        assert not any(name.startswith("on") for name in attributes)
        inside = inside and tag not in ("figcaption", "h2", "table")
        if not inside:
            kept.append((tag, tuple(sorted(attributes))))
        inside = inside or tag == "svg"
    return Counter(kept)
