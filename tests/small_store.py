"""A store of a few runs, and what every report on it has."""

import csv

from html_reader import Reader
from kempe import datasets
from kempe.bench import Record, Store, Task

FACTORS = {"kempe": 0.9, "KSKM": 1.0, "PCCC": 1.3, "COPKM": 1.1}


def make_store(folder):
    """Fill a store with runs of four methods on fifteen data sets."""
    store = Store(folder)
    store.add_environment(
        "abc", {"processor": "P<1>", "cores": 2, "python": "3", "packages": {"kempe": "0"}}
    )
    with store.writing() as append:
        for name in datasets.names("COL2")[:-1] + datasets.names("COL3")[:1]:
            for method, factor in FACTORS.items():
                for seed in (0, 1, 2):
                    append(made(name, method, factor, seed))
    return store


def made(name, method, factor, seed):
    """Make the record of one run; those of COPKM fail now and then."""
    task = Task("main", name, 0.05, method, seed)
    if method == "COPKM" and seed == 2:
        return Record.of(task, "failed", reason="no solution: <stuck>")
    value = 100 * factor + seed
    return Record.of(
        task,
        "ok",
        inertia=value,
        ari=0.5,
        cpu_s=factor**3,
        wall_s=factor**3,
        violations=0,
        history=[(0.01, 2 * value), (0.1, value)],
        environment="abc",
    )


def check_page(text, n_figures):
    """See whether a page is well-formed and needs nothing but itself."""
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))
    assert sum(tag == "svg" for tag, _ in reader.tags) == n_figures
    for tag, attributes in reader.tags:
        assert tag != "script"
        for name in ("src", "href", "xlink:href"):
            assert attributes.get(name, "#").startswith("#"), (tag, attributes)
    assert "P&lt;1&gt;" in text
    assert "<td>14 of 150<small>3 seeds</small></td><td>1 of 96<small>3 seeds</small></td>" in text


def check_runs_and_tests(folder):
    """See whether runs and paired tests are written beside a page."""
    with open(folder / "runs.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 15 * 4 * 3
    with open(folder / "comparisons.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    first = rows[0]
    assert (first["collection"], first["quantity"]) == ("all collections", "inertia")
    assert (first["first"], first["second"], first["wins"]) == ("kempe", "KSKM", "15")
    assert float(first["p_holm"]) < 0.01
