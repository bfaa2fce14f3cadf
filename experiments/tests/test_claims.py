"""Claims of the paper, counted in cells that are made up for it."""

import re

import pytest

from experiments.claims import CLAIMS, claims_page, verdict
from experiments.evidence import (
    ALIKE,
    HIGHER,
    LOWER,
    NOT_HIGHER,
    Compare,
    CostsMore,
    Count,
    Finding,
    Grows,
    NearBest,
    Reaches,
    Succeeds,
    best_known,
)
from experiments.tables import SPECS, PaperTable, TableCell, build_tables
from kempe import methods
from kempe.bench.statistics import Estimate
from kempe.bench.store import Record
from kempe.bench.summary import Summary

NOTHING = Summary([])


def table(name, numbers, quantity="inertia", **more):
    """A table with (ours, paper) per data set and method; ``None`` stands for no run."""
    spec = next(spec for spec in SPECS if spec.name == name)
    cells = [
        TableCell(
            *(dataset, 0.05, quantity, method, paper),
            None if ours is None else Estimate(ours, ours, ours, **more),
        )
        for (dataset, method), (ours, paper) in numbers.items()
    ]
    return {name: PaperTable(spec, cells)}


TWO = table(
    "inertia-col4",
    {
        ("banana", "KSKM"): (10.0, 10.0),
        ("banana", "PCCC"): (11.0, 10.1),
        ("letter", "KSKM"): (10.0, 10.0),
        ("letter", "PCCC"): (9.0, 12.0),
        ("mnist", "KSKM"): (10.0, 10.0),
        ("mnist", "PCCC"): (None, 12.0),
    },
)


@pytest.mark.parametrize(
    ("relation", "ours", "paper"),
    [(HIGHER, 1, 2), (LOWER, 1, 0), (NOT_HIGHER, 1, 0), (ALIKE, 0, 1)],
)
def test_cells_with_both_numbers_are_counted_here_and_there(relation, ours, paper):
    found = Compare("inertia-col4", "inertia", "PCCC", relation).finding(NOTHING, TWO)
    assert found.count == Count(ours, paper, 2)
    assert f"{ours} of 2 cells (paper {paper})" in found.words
    assert "ratio 0.995 (1.1)" in found.words  # roots of 1.1 * 0.9 and of 1.01 * 1.2


def test_rows_can_be_chosen_and_none_is_no_number():
    compare = Compare("inertia-col4", "inertia", "PCCC", HIGHER, rows=("mnist",))
    assert compare.finding(NOTHING, TWO).count is None
    compare = Compare("inertia-col4", "inertia", "PCCC", HIGHER, levels=(0.01,))
    assert compare.finding(NOTHING, TWO).count is None


@pytest.mark.parametrize("share", [0.98, 1.02])
def test_two_per_cent_are_within_two_per_cent(share):
    cells = {("COL1", "KSKM"): (1.0, 1.0), ("COL1", "PCCC"): (share, share)}
    found = Compare("inertia", "inertia", "PCCC", ALIKE).finding(NOTHING, table("inertia", cells))
    assert found.count == Count(1, 1, 1)


def test_methods_that_never_succeed_are_compared_and_left_out_of_ratios():
    cells = {
        ("vehicle", "KSKM"): (0.0, 0.0),
        ("vehicle", "KSKM_E"): (0.0, 0.4),
        ("tae", "KSKM"): (0.5, 0.5),
        ("tae", "KSKM_E"): (1.0, 1.0),
    }
    tables = table("no-must-link", cells, "success")
    found = Compare("no-must-link", "success", "KSKM_E", HIGHER).finding(NOTHING, tables)
    assert found.count == Count(1, 2, 2)
    assert "ratio 2 (2)" in found.words


def test_cells_with_runs_on_some_of_their_data_sets_are_not_compared():
    cells = {("COL1", "KSKM"): (1.0, 1.0), ("COL1", "PCCC"): (1.1, 1.1)}
    tables = table("inertia", cells, n_sets_tried=3, n_sets_wanted=25)
    assert Compare("inertia", "inertia", "PCCC", HIGHER).finding(NOTHING, tables).count is None


@pytest.mark.parametrize(("n_limited", "cells"), [(0, 2), (1, 0)])
def test_times_that_the_limit_cut_decide_nothing_where_they_are_the_lower_ones(n_limited, cells):
    numbers = {
        ("banana", "KSKM"): (2.0, 1.0),
        ("banana", "PCCC"): (1.0, 2.0),
        ("letter", "KSKM"): (1.0, 1.0),
        ("letter", "PCCC"): (3.0, 2.0),
    }
    tables = table("time-col4", numbers, "time", n_limited=n_limited)
    found = Compare("time-col4", "time", "PCCC", HIGHER).finding(NOTHING, tables)
    assert found.count == (Count(1, 2, cells) if cells else None)


def test_what_costs_one_method_more_than_another_is_counted():
    cells = {
        (row, method): numbers
        for row, lost in {"COL1": (1.03, 1.01), "COL2": (1.01, 1.02)}.items()
        for method, numbers in {
            "KSKM": (1.0, 1.0),
            "KSKM_E": (0.9, 1.0),
            "KSKM_repo": (lost[0], 1.02),
            "KSKM_E_repo": (0.9 * lost[1], 1.01),
        }.items()
    }
    claim = CostsMore("reposition", "inertia", ("KSKM_repo", "KSKM"), ("KSKM_E_repo", "KSKM_E"))
    assert claim.finding(NOTHING, table("reposition", cells)).count == Count(1, 2, 2)


def test_growth_and_the_largest_multiple_are_read_off_the_rows():
    cells = {
        (row, method): numbers
        for row, slow in {"COL1": (2.0, 2.0), "COL2": (9.0, 3.0), "COL3": (4.0, 4.0)}.items()
        for method, numbers in {"KSKM": (1.0, 1.0), "PCCC": slow}.items()
    }
    tables = table("time", cells, "time")
    grows = Grows("time", "time", "PCCC", ("COL1", "COL2", "COL3")).finding(NOTHING, tables)
    assert grows.count == Count(1, 2, 2)
    assert "2, 9, 4 (2, 3, 4)" in grows.words
    assert Reaches("time", "time", "PCCC", 5).finding(NOTHING, tables).count == Count(1, 0, 1)


def test_ours_are_rounded_like_the_papers():
    cells = {("COL1", "KSKM"): (1.0, 1.0), ("COL1", "KSKM_E"): (1.004, 1.0)}
    found = Compare("inertia", "inertia", "KSKM_E", NOT_HIGHER).finding(
        NOTHING, table("inertia", cells)
    )
    assert found.count == Count(1, 1, 1)


@pytest.mark.parametrize(("seldom", "wanted"), [(False, Count(1, 2, 2)), (True, Count(1, 0, 2))])
def test_rates_are_compared_with_a_share(seldom, wanted):
    cells = {("COL1", "COPKM"): (1.0, 1.0), ("COL2", "COPKM"): (0.5, 0.95)}
    tables = table("success-rate", cells, "success")
    found = Succeeds("COPKM", 0.9, ("success-rate",), seldom=seldom).finding(NOTHING, tables)
    assert found.count == wanted
    assert "lowest rate 0.50 (0.95)" in found.words


def test_the_gap_to_the_lowest_known_is_that_of_the_mean():
    (dataset, level), lowest = next(iter(best_known().items()))
    collection, name = dataset.split("/")
    runs = [
        Record("main", collection, name, level, "KSKM", seed, "ok", inertia=lowest * factor)
        for seed, factor in enumerate((1.0, 1.03))
    ]
    found = NearBest("KSKM").finding(Summary(runs), {})
    assert found.count == Count(0, None, 1)
    assert "1.50 % on average" in found.words


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ([Count(9, 10, 10)], "**holds** (90 %; paper 100 %)"),
        ([Count(10, None, 10), Count(1, 1, 2)], "**holds mostly** (75 %; paper 50 %)"),
        ([Count(1, 1, 2)], "**holds in part** (50 %; paper 50 %)"),
        ([Count(0, None, 2)], "**does not hold** (0 %)"),
        ([None], "not measured"),
    ],
)
def test_the_verdict_follows_from_the_shares(counts, wanted):
    assert verdict([Finding("", count) for count in counts]) == wanted


def test_every_claim_looks_at_numbers_that_the_paper_has():
    tables = {item.spec.name: item for item in build_tables(NOTHING)}
    for claim in CLAIMS:
        for item in [*claim.evidence, *claim.beside]:
            assert item.method in methods.names()
            single = getattr(item, "table", None)
            names = getattr(item, "tables", ()) if single is None else (single,)
            for name in names:
                quantity = getattr(item, "quantity", "success")
                assert item.method in tables[name].methods(quantity)


def test_the_page_has_a_line_for_each_claim_also_without_runs():
    page = claims_page(NOTHING, build_tables(NOTHING))
    assert len(re.findall(r"\| not measured \|$", page, re.MULTILINE)) == len(CLAIMS)
