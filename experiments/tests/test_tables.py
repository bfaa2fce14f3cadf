"""Tables: published numbers, our numbers, agreement, on examples worked by hand."""

import math
from dataclasses import replace

import pytest

from experiments.costs import costs_table
from experiments.multiples import best_of, multiple, rate
from experiments.tables import (
    INERTIA,
    MULTIPLE,
    RATE,
    SPECS,
    TIME,
    TableCell,
    _paper_was_cut,
    build_tables,
    paper_values,
)
from kempe import datasets
from kempe.bench import Record, Task
from kempe.bench.summary import Summary


def run(dataset, level, method, seed=0, inertia=None, time=None, variant="main"):
    task = Task(variant, dataset, level, method, seed)
    if inertia is None:
        return Record.of(task, "failed", reason="no solution")
    return Record.of(task, "ok", inertia=inertia, cpu_s=time or 1.0, wall_s=1.0, violations=0)


def table(records, name):
    return next(item for item in build_tables(Summary(records)) if item.spec.name == name)


def test_the_paper_has_1134_numbers_in_eleven_tables():
    values = paper_values()
    assert len(values) == 1134
    assert len({key[0] for key in values}) == 11
    assert values["inertia", "COL2", 0.25, "inertia", "KSKM_E"] == 0.99
    assert values["time", "COL4", 0.05, "time", "BLPKMCC"] == 1249.09
    assert values["no-must-link", "tae", 0.2, "inertia", "COPKM"] is None
    assert values["no-mutation", "COL3", 0.15, "time", "PCCC"] == 2245.15


def test_the_summary_tables_follow_from_the_detailed_ones_of_the_paper():
    """Means over data sets of ratios to KSKM, over those that a method solved."""
    values = paper_values()
    names = [name.split("/")[1] for name in datasets.names("COL4")]
    for quantity in ("inertia", "time"):
        for level in datasets.levels("COL4"):
            for method in ("KSKM_E", "PCCC", "COPKM"):
                ratios = [
                    found / values[f"{quantity}-col4", name, level, quantity, "KSKM"]
                    for name in names
                    if (found := values[f"{quantity}-col4", name, level, quantity, method])
                ]
                published = values[quantity, "COL4", level, quantity, method]
                assert sum(ratios) / len(ratios) == pytest.approx(published, rel=0.2, abs=0.006)


def test_multiples_are_means_of_ratios_over_the_sets_that_both_solved():
    a, b, c = datasets.names("COL4")[:3]
    records = [
        *(run(a, 0.01, "KSKM", seed, inertia) for seed, inertia in enumerate([8.0, 12.0])),
        run(b, 0.01, "KSKM", 0, 100.0),
        *(run(a, 0.01, "PCCC", seed, inertia) for seed, inertia in enumerate([10.0, 14.0])),
        run(b, 0.01, "PCCC", 0, 90.0),
        run(b, 0.01, "PCCC", 1),
        run(c, 0.01, "PCCC", 0, 5.0),
    ]
    summary = Summary(records)
    names = datasets.names("COL4")
    found = multiple(summary, "main", names, 0.01, "PCCC", "inertia")
    assert found.value == pytest.approx((1.2 + 0.9) / 2)
    assert (found.n_sets, found.n_sets_tried, found.n_sets_wanted, found.n_runs) == (2, 2, 6, 3)
    assert found.partial
    best = multiple(summary, "main", names, 0.01, "PCCC", "inertia", best=True)
    assert best.value == pytest.approx((10 / 8 + 0.9) / 2)
    total = multiple(summary, "main", names, 0.01, "PCCC", "time", best=True)
    assert total.value == pytest.approx((2 / 2 + 1 / 1) / 2)
    solved = rate(summary, "main", names, 0.01, "PCCC")
    assert solved.value == pytest.approx((2 / 2 + 1 / 2 + 1 / 1) / 3)  # whoever has more runs
    assert multiple(summary, "main", names, 0.01, "COPKM", "inertia") is None


def test_multiples_are_over_the_seeds_that_both_have():
    a = datasets.names("COL4")[0]
    records = [
        *(run(a, 0.01, "KSKM", seed, value, 2.0) for seed, value in enumerate([8.0, 12.0, 1.0])),
        *(run(a, 0.01, "PCCC", seed, inertia, 5.0) for seed, inertia in enumerate([10.0, 20.0])),
        run(a, 0.01, "S_MDEClust", 0, 2.0, 12.0),
    ]
    summary = Summary(records)

    def of(method, quantity, best):
        return multiple(summary, "main", [a], 0.01, method, quantity, best=best)

    assert of("PCCC", "inertia", False).value == pytest.approx(15 / 10)
    assert of("PCCC", "inertia", True).value == pytest.approx(10 / 8)
    assert of("PCCC", "time", True).value == pytest.approx(10 / 4)
    assert of("PCCC", "time", True).n_seeds == 2
    # One run of a population stands against all runs of another method.
    assert of("S_MDEClust", "inertia", True).value == pytest.approx(2 / 1)
    assert of("S_MDEClust", "time", True).value == pytest.approx(12 / 6)
    assert of("S_MDEClust", "time", False).value == pytest.approx(12 / 2)
    means = summary.paired_means("KSKM", "PCCC", "inertia", [(a, 0.01), (a, 0.05)])
    assert (means.first, means.second, means.seeds) == (10, 15, (2, 2))


def test_a_set_on_which_all_runs_failed_is_tried_but_does_not_contribute():
    names = datasets.names("COL1")
    records = [run(name, 0.05, "KSKM", 0, 10.0) for name in names]
    records += [run(name, 0.05, "COPKM", 0, 10.5) for name in names[1:]]
    records += [run(names[0], 0.05, "COPKM", 0)]
    found = table(records, "inertia").lookup()["COL1", 0.05, "inertia", "COPKM"]
    assert (found.ours.n_sets, found.ours.n_sets_tried, found.ours.n_sets_wanted) == (24, 25, 25)
    assert not found.ours.partial
    assert found.size


def test_a_cell_whose_runs_all_failed_disagrees_with_a_number_of_the_paper():
    instance = ("COL4/banana", 0.005)
    records = [run(*instance, "KSKM", 0, 6482.97), run(*instance, "PCCC"), run(*instance, "COPKM")]
    found = table(records, "inertia-col4")
    cells = found.lookup()
    failed = cells["banana", 0.005, "inertia", "PCCC"]
    assert math.isnan(failed.ours.value)
    assert (failed.size, failed.direction, failed.opposed) == (False, False, True)
    # The paper's COPKM failed there as well.
    assert cells["banana", 0.005, "inertia", "COPKM"].size is None
    counts = found.agreement()
    assert (counts.compared, counts.size) == (2, 1)
    assert (counts.directed, counts.direction) == (1, 0)
    assert counts.missing == 100 - 2


def test_the_time_of_runs_that_failed_in_the_paper_too_is_not_judged():
    records = [run("COL1/vehicle", 0.2, "KSKM", variant="no-must-link")]
    cells = table(records, "no-must-link").lookup()
    failed = cells["vehicle", 0.2, "time", "KSKM"]
    assert failed.paper == 0.01
    assert (failed.size, failed.direction) == (None, None)
    assert cells["vehicle", 0.2, "success", "KSKM"].size


def test_rules():
    assert MULTIPLE.same_size(1.03, 1.05)
    assert not MULTIPLE.same_size(1.02, 1.05)
    assert INERTIA.same_size(1009, 1000)
    assert not INERTIA.same_size(1011, 1000)
    assert TIME.same_size(5, 10)
    assert TIME.same_size(20, 10)
    assert not TIME.same_size(4.9, 10)
    assert RATE.same_size(0.95, 1.0)
    assert [MULTIPLE.direction(x, 1.0) for x in (0.99, 0.996, 1.004, 1.01)] == [-1, 0, 0, 1]
    assert [INERTIA.direction(x, 1000.0) for x in (998, 1000.5, 1002)] == [-1, 0, 1]
    assert [RATE.direction(x, 1.0) for x in (0.5, 0.99, 1.0)] == [-1, 0, 0]


def test_a_printed_number_stands_for_all_that_round_to_it():
    # 1.01 is printed for 1.005 to 1.015, of which the first is equal to 1 within the rule.
    assert [MULTIPLE.may_be(d, 1.01, 1.0, 0.01) for d in (-1, 0, 1)] == [False, True, True]
    assert [MULTIPLE.may_be(d, 1.0, 1.0, 0.01) for d in (-1, 0, 1)] == [False, True, False]
    assert [MULTIPLE.may_be(d, 0.98, 1.0, 0.01) for d in (-1, 0, 1)] == [True, False, False]


def test_a_direction_that_differs_by_rounding_alone_is_counted_apart():
    names = datasets.names("COL2")
    records = [run(name, 0.35, "KSKM", 0, 10.0) for name in names]
    records += [run(name, 0.35, "KSKM_E", 0, 10.03) for name in names]
    found = table(records, "inertia")
    cell = found.lookup()["COL2", 0.35, "inertia", "KSKM_E"]
    assert (cell.paper, cell.size, cell.direction, cell.rounded) == (1.01, True, False, True)
    assert cell.cause.name == "rounding"
    counts = found.agreement()
    assert (counts.directed, counts.direction, counts.rounded) == (1, 0, 1)


def test_agreement_is_counted_cell_by_cell():
    """Collection 4 in detail: banana at 0.005, where the paper has 6482.97 for KSKM."""
    instance = ("COL4/banana", 0.005)
    records = [
        run(*instance, "KSKM", 0, 6482.97),
        run(*instance, "KSKM_E", 0, 6482.97),  # equal, as in the paper
        run(*instance, "PCCC", 0, 6300.0),  # below KSKM instead of equal, and 3 % off
        run(*instance, "BLPKMCC", 0, 6500.0),  # size agrees, but no longer equal
        run(*instance, "COPKM_P", 0, 7000.0),  # right side, wrong size
        run(*instance, "COPKM", 0, 6000.0),  # the paper has no number
        run(*instance, "kempe", 0, 6000.0),  # not in the paper
    ]
    found = table(records, "inertia-col4")
    judged = {
        cell.method: (cell.size, cell.direction, cell.opposed)
        for cell in found.cells
        if (cell.dataset, cell.level) == ("banana", 0.005)
    }
    assert judged == {
        "kempe": (None, None, False),
        "KSKM": (True, None, False),
        "KSKM_E": (True, True, False),
        "PCCC": (False, False, False),
        "BLPKMCC": (True, False, False),
        "COPKM_P": (False, True, False),
        "COPKM": (None, None, False),
    }
    counts = found.agreement()
    assert (counts.compared, counts.size) == (5, 3)
    assert (counts.directed, counts.direction, counts.opposed) == (4, 2, 0)
    assert counts.partial == 0
    assert counts.missing == 100 - 5


def test_a_method_that_is_better_here_and_worse_in_the_paper_says_the_opposite():
    instance = ("COL4/banana", 0.005)  # where the paper has 6519.10 for COPKM_P
    records = [run(*instance, "KSKM", 0, 6482.97), run(*instance, "COPKM_P", 0, 6460.0)]
    found = table(records, "inertia-col4")
    cell = found.lookup()["banana", 0.005, "inertia", "COPKM_P"]
    assert (cell.size, cell.direction, cell.opposed) == (True, False, True)
    assert found.agreement().opposed == 1


def test_partial_cells_are_not_counted():
    records = [
        run("COL4/banana", 0.005, "KSKM", 0, 10.0),
        run("COL4/banana", 0.005, "PCCC", 0, 10.0),
    ]
    counts = table(records, "inertia").agreement()
    assert (counts.compared, counts.directed, counts.partial) == (0, 0, 1)


def test_the_baseline_agrees_with_itself_only_where_that_says_something():
    records = [
        run(name, 0.005, method, 0, 10.0)
        for name in datasets.names("COL4")
        for method in ("KSKM", "PCCC")
    ]
    counts = table(records, "inertia").agreement()
    assert (counts.compared, counts.size) == (1, 1)  # PCCC; the paper has 1.00
    assert (counts.directed, counts.direction) == (1, 1)


def test_variants_are_kept_apart():
    name = "COL1/tae"
    records = [
        run(name, 0.2, "KSKM", 0, 700.0, variant="no-must-link"),
        run(name, 0.2, "KSKM", 1, variant="no-must-link"),
        run(name, 0.2, "KSKM", 0, 1.0),
    ]
    cells = table(records, "no-must-link").lookup()
    assert cells["tae", 0.2, "inertia", "KSKM"].ours.value == 700.0
    assert cells["tae", 0.2, "success", "KSKM"].ours.value == 0.5


def test_a_method_without_success_has_a_rate_but_no_inertia():
    records = [run("COL1/tae", 0.2, "COPKM", 0, variant="no-must-link")]
    cells = table(records, "no-must-link").lookup()
    assert math.isnan(cells["tae", 0.2, "inertia", "COPKM"].ours.value)
    assert cells["tae", 0.2, "success", "COPKM"].ours.value == 0.0


def limited(record):
    return replace(record, stop_reason="time_limit")


def test_runs_that_the_limit_ended_are_marked_and_left_out_of_tests():
    a, b, c = datasets.names("COL4")[:3]
    records = [run(name, 0.01, "KSKM", seed, 10.0) for name in (a, b, c) for seed in (0, 1)]
    records += [run(a, 0.01, "PCCC", 0, 12.0), limited(run(a, 0.01, "PCCC", 1, 90.0))]
    records += [limited(run(b, 0.01, "PCCC", 0, 80.0)), limited(run(b, 0.01, "PCCC", 1))]
    summary = Summary(records)
    means = summary.paired_means("KSKM", "PCCC", "inertia", [(name, 0.01) for name in (a, b, c)])
    assert (means.first, means.second) == (10, 12)
    assert (means.seeds, means.limits, means.n_limited) == ((1, 1), (3600.0,), 1)
    assert multiple(summary, "main", [a, b], 0.01, "PCCC", "inertia").n_limited == 3
    assert rate(summary, "main", [a, b], 0.01, "PCCC").n_limited == 3


def test_a_difference_counts_as_explained_or_not():
    instance = ("COL4/banana", 0.005)
    values = paper_values()
    paper = values["inertia-col4", "banana", 0.005, "inertia", "PCCC"]
    kskm = values["inertia-col4", "banana", 0.005, "inertia", "KSKM"]
    other = [
        run(*instance, "KSKM", 0, kskm),
        run(*instance, "PCCC", 0, 2 * paper),
    ]
    counts = table(other, "inertia-col4").agreement()
    assert (counts.explained, counts.unexplained) == (0, 1)
    counts = table([other[0], limited(other[1])], "inertia-col4").agreement()
    assert (counts.explained, counts.unexplained) == (1, 0)


@pytest.mark.parametrize(
    ("name", "excused"), [("inertia", True), ("smde-inertia", True), ("no-mutation", False)]
)
def test_failures_of_the_paper_excuse_cells_of_the_same_experiment_alone(name, excused):
    spec = next(spec for spec in SPECS if spec.name == name)
    assert paper_values()["success-rate", "COL2", 0.5, "success", "PCCC"] == 0.99
    assert _paper_was_cut(spec, TableCell("COL2", 0.5, "inertia", "PCCC", 1.0, None)) == excused


@pytest.mark.parametrize(("method", "cut"), [("BLPKMCC", True), ("KSKM_E", False)])
def test_runs_that_took_all_of_the_papers_time_are_cut_short(method, cut):
    spec = next(spec for spec in SPECS if spec.name == "inertia-col4")
    seconds = paper_values()["time-col4", "cifar100", 0.005, "time", method]
    assert (seconds >= 3600) == cut
    assert paper_values()["success-rate-col4", "cifar100", 0.005, "success", method] == 1
    assert _paper_was_cut(spec, TableCell("cifar100", 0.005, "inertia", method, 1.0, None)) == cut


@pytest.mark.parametrize(
    ("seconds", "direction"), [(0.05, None), (0.2, True)], ids=["below", "above"]
)
def test_a_time_below_the_baselines_that_our_limit_cut_has_no_direction(seconds, direction):
    instance = ("COL4/banana", 0.005)  # where the paper's PCCC takes longer than KSKM
    cut = limited(run(*instance, "PCCC", 0, 1.0, seconds))
    cells = table([run(*instance, "KSKM", 0, 1.0, 0.1), cut], "time-col4").lookup()
    assert cells["banana", 0.005, "time", "PCCC"].direction is direction


def test_multiples_have_intervals_that_know_how_the_baseline_scatters():
    names = datasets.names("COL2")
    base = [run(name, 0.05, "KSKM", seed, 10.0 + seed) for name in names for seed in range(4)]
    steady = [run(name, 0.05, "PCCC", seed, 12.0) for name in names for seed in range(4)]
    ours = table([*base, *steady], "inertia").lookup()["COL2", 0.05, "inertia", "PCCC"].ours
    assert ours.low < ours.value < ours.high


def test_the_best_of_ten_is_a_mean_where_there_are_several_tens():
    name = "COL4/banana"
    tens = [run(name, 0.01, "KSKM", seed, 20.0 - seed) for seed in range(20)]
    alone = [run(name, 0.01, "S_MDEClust", seed, value) for seed, value in enumerate([5.0, 7.0])]
    summary = Summary([*tens, *alone])
    base = summary.cell("main", name, 0.01, "KSKM")
    assert base.best("inertia") == 1.0
    assert best_of(base, "inertia", 10) == pytest.approx((11.0 + 1.0) / 2)
    one_run = multiple(summary, "main", [name], 0.01, "S_MDEClust", "inertia", best=True)
    assert one_run.value == pytest.approx(6.0 / 6.0)


def test_costs_are_multiples_of_the_papers_seconds_with_the_most_memory():
    records = [
        replace(run("COL4/banana", 0.01, "KSKM", seed, 5.0, seconds), peak_mb=mb)
        for seed, seconds, mb in ((0, 0.1, 50.0), (1, 0.5, 70.0))
    ]
    records += [run("COL4/banana", 0.05, "KSKM", 0, 5.0, 0.005)]
    table = costs_table(records, build_tables(Summary(records)))
    # The paper has 0.2 and 0.01 seconds: 1.5 times and half as much.
    line = "| `KSKM` | 2 | 0.87 | 1 | 1.5 (banana 1 %) | {} | {} | 70 MB (banana 1 %) |"
    assert line.format(0, "0.87") in table
    records[-1] = limited(records[-1])
    assert line.format(1, "1.5") in costs_table(records, build_tables(Summary(records)))
    assert costs_table([], build_tables(Summary([]))) == ""
