"""The scripts in ``benchmarks/``, on instances small enough for a test."""

from __future__ import annotations

import csv
import importlib
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus
from typer.testing import CliRunner

from kempe import Constraints, datasets, methods
from kempe.bench import Record, Store

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
INSTANCE = ("COL3/n500-k2", 0.05)


@pytest.fixture
def script(monkeypatch):
    """Import a script as Python does when it is started from its folder."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def load(name: str) -> ModuleType:
        return importlib.import_module(name)

    return load


@pytest.mark.slow
def test_compare_runs_on_one_instance(tmp_path, script):
    out = tmp_path / "figures.csv"
    command = [sys.executable, str(BENCHMARKS / "compare.py"), "--dataset", INSTANCE[0]]
    options = ["--seeds", "1", "--workers", "1", "--out", str(out)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "mean inertia above theirs" in done.stdout
    (row,) = csv.DictReader(out.read_text(encoding="utf-8").splitlines())
    assert (row["dataset"], float(row["level"])) == INSTANCE
    theirs = script("compare").read_authors()[INSTANCE].inertia
    assert float(row["authors_inertia"]) == pytest.approx(theirs, rel=1e-6)
    assert float(row["target_inertia"]) <= theirs * (1 + 1e-6)
    # Without constraints the inertia can only be lower, up to different local optima.
    assert float(row["kempe_inertia"]) == pytest.approx(float(row["kmeans_inertia"]), rel=0.1)
    assert float(row["kempe_inertia"]) <= float(row["kskm_inertia"]) * (1 + 1e-9)


def test_only_lower_inertia_replaces_the_best_known(script, tmp_path):
    module = script("best_known")
    table, path = module.BestKnown(), tmp_path / "best.csv"
    assert table.offer(INSTANCE, module.Best(5.0, "one"))
    assert not table.offer(INSTANCE, module.Best(5.0 * (1 - 1e-12), "rounding"))
    assert table.offer(INSTANCE, module.Best(4.0, "another"))
    assert not table.offer(INSTANCE, module.Best(6.0, "worse", proven=True))
    assert table.offer(INSTANCE, module.Best(3.9999, "within the proof"))
    table.write(path)
    proven = module.Best(3.9999, "within the proof", proven=True)
    assert module.BestKnown.read(path) == {INSTANCE: proven}
    assert module.BestKnown.read(tmp_path / "nothing.csv") == {}


def test_what_certificates_prove_is_taken_over(script, tmp_path):
    module, table = script("best_known"), {}
    path = tmp_path / "certify.csv"
    path.write_text(
        "collection,name,level,inertia,optimal\n"
        "COL3,n500-k2,0.05,449.5,True\nscaled,iris,0.0,139.8,True\n",
        encoding="utf-8",
    )
    table = module.BestKnown()
    assert module.take_certified(table, path) == 1
    assert table == {INSTANCE: module.Best(449.5, "certificate", proven=True)}


def test_the_best_known_covers_all_instances_and_no_proof_contradicts_it(script):
    module = script("best_known")
    table = module.BestKnown.read()
    assert len(table) == 346
    certificates = module.CERTIFICATES.parent.glob("*.csv")
    for row in (row for path in certificates for row in read_rows(path)):
        instance = (f"{row['collection']}/{row['name']}", float(row["level"]))
        if instance in table:
            assert table[instance].inertia >= float(row["lower_bound"]) * (1 - 1e-9)


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_longer_search_of_one_instance_is_noted(script, tmp_path):
    module, path = script("best_known"), tmp_path / "best.csv"
    options = ["update", "--only", INSTANCE[0], "--effort", "0.1", "--table", str(path)]
    options += ["--certificates", str(tmp_path / "nothing.csv")]
    done = CliRunner().invoke(module.app, options)
    assert done.exit_code == 0, done.output
    assert "4 searches, 4 lower values" in done.output
    table = module.BestKnown.read(path)
    assert table[INSTANCE].found == "search, 0.1 times the mutations, seed 1000"


def test_gaps_are_shares_of_the_best_known(script):
    gaps, compare, module = script("gaps"), script("compare"), script("best_known")
    rows = [
        compare.Row(("a", 0.1), compare.Runs(11.0, 10.0, 1.0), *[None] * 5, 0),
        compare.Row(("b", 0.1), compare.Runs(20.0, 20.0, 2.0), *[None] * 5, 0),
    ]
    table = module.BestKnown({row.instance: module.Best(row.kempe.lowest, "") for row in rows})
    figures = dict(gaps.overview(rows, table, ["a 0.1"]).rows)
    assert figures["mean gap to the best known"] == "5.0000 %"
    assert figures["largest gap of an instance, mean over seeds"] == "10.0000 %"
    assert figures["new best inertia found"] == "1 (a 0.1)"
    assert [line[0] for line in gaps.worst_gaps(rows, table, 1).rows] == ["a 0.1"]


def test_the_overhead_of_a_fit_leaves_out_what_kernels_take(script, capsys):
    overhead = script("overhead")
    overhead.main(repetitions=2)
    assert "beyond the kernels" in capsys.readouterr().out
    clock = overhead.Clock()
    assert clock.timed(sum)([1, 2]) == 3
    assert clock.seconds > 0


def test_the_figures_of_the_authors_are_those_of_their_runs(script, shared):
    inertias, seconds = defaultdict(list), defaultdict(list)
    with (shared / "reference" / "kskm_authors.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["status"] == "ok" and row["collection"] != "COL4":
                instance = f"{row['collection']}/{row['name']}", float(row["level"])
                inertias[instance].append(float(row["inertia"]))
                seconds[instance].append(float(row["cpu_s"]))
    kept = script("compare").read_authors()
    assert kept.keys() == inertias.keys()
    assert len(kept) == 346
    for instance, runs in kept.items():
        assert runs.inertia == pytest.approx(np.mean(inertias[instance]), rel=1e-9)
        assert runs.lowest == min(inertias[instance])
        assert runs.cpu == pytest.approx(np.mean(seconds[instance]), abs=1e-5)


def test_the_figures_of_the_authors_cover_the_short_run(script):
    compare = script("compare")
    assert {(task.dataset, task.level) for task in short_run(compare)} <= set(
        compare.read_authors()
    )


def short_run(compare):
    plan = compare.load_plan(BENCHMARKS / "compare.toml")
    return plan.restricted(["kempe"], seeds=1).tasks()


def test_the_summary_counts_what_is_above_the_authors(script):
    compare = script("compare")

    def row(name, ours, theirs, our_seconds, their_seconds):
        runs = compare.Runs(ours, ours / 1.01, 0.5)
        target = compare.Runs(theirs, theirs, our_seconds)
        reference = compare.Runs(theirs, theirs, their_seconds)
        as_run = compare.Runs(2 * theirs, theirs, their_seconds / 4)
        return compare.Row((name, 0.1), runs, None, as_run, None, reference, target, 0)

    rows = [
        row("a", 10.0, 20.0, 0.1, 1.0),
        row("b", 20.00002, 20.0, 0.1, 4.0),
        row("c", 20.00001, 20.0, 0.1, 0.05),
    ]
    figures = dict(compare.summary(rows).rows)
    assert figures["mean inertia above theirs"] == "0"
    assert figures["time to their inertia, theirs / ours, geometric mean"] == "20.0"
    assert figures["the same, minimum"] == "10.00 (a 0.1)"
    assert figures["worst excess over theirs + 10 ms"] == "40.0 ms (c 0.1)"
    assert figures["mean spread over seeds, (mean - min) / min"] == "1.0000 %"
    assert figures["total CPU, ours / theirs"].endswith("= 0.297")
    as_run = figures["KSKM as run over their program, geometric means of inertia and CPU"]
    assert as_run == "2.0000, 0.25"
    worse = [*rows, row("d", 20.1, 20.0, 0.1, 1.0)]
    assert dict(compare.summary(worse).rows)["mean inertia above theirs"] == "1 (d 0.1)"


def test_the_instances_of_the_short_run_exist(script):
    compare = script("compare")
    chosen = compare.instances(False, ["COL2/*", "COL3/*"], [])
    assert len(chosen) == len(set(chosen)) > 10
    assert len(compare.instances(True, ["COL2/*", "COL3/*"], [])) == 150 + 96


def test_starts_of_the_public_programs_are_reproduced(script):
    rivals = script("rivals")
    X = np.arange(12.0)[:, None] ** 2
    # Groups by last row: 3, {0, 5}, {1, 2, 9}; the others stand alone.
    constraints = Constraints([(0, 5), (1, 2), (2, 9)], None)
    data = rivals.Data(X, constraints, n_clusters=9)
    means = [X[row, 0] for row in (3, 4)]
    means += [X[[0, 5]].mean(), *(X[row, 0] for row in (6, 7, 8)), X[[1, 2, 9]].mean(), 100, 121]
    expected, _ = kmeans_plusplus(np.array(means)[:, None], 9, random_state=3)
    np.testing.assert_allclose(rivals.plus_plus_on_means(data, 3), expected)
    rows = rivals.rows_at_random(data, 3)
    assert len(np.unique(rows)) == 9
    assert np.isin(rows, X).all()
    np.testing.assert_array_equal(rows, rivals.rows_at_random(data, 3))


def test_public_figures_are_known_for_every_counterpart_and_instance(script):
    rivals = script("rivals")
    known = rivals.public_figures()
    wanted = {(e.public, item) for e in rivals.COUNTERPARTS for item in rivals.INSTANCES}
    assert wanted == set(known)


def test_failed_runs_are_counted_and_left_out_of_the_means(script):
    rivals = script("rivals")
    entry, instance = rivals.Entry("COPKM", "COPKM"), rivals.IRIS
    runs = [rivals.Run(entry, instance, inertia, 0.5, False) for inertia in (10.0, 20.0)]
    runs.append(rivals.Run(entry, instance, None, 9.0, False, "row 3 found no cluster"))
    cells = rivals.grouped(runs)
    cell = cells["COPKM", instance]
    assert (cell.shown_inertia(), cell.shown_cpu()) == ("15.000 (2 of 3)", "0.50")
    (section,) = rivals.failures(cells)
    assert section.rows == [["COPKM", "iris 0.05", "1", "row 3 found no cluster"]]
    theirs = {"successes": "5", "runs": "5", "inertia": "30", "cpu_s": ""}
    assert rivals.compared(cell, theirs)[:5] == ["2 of 3", "5 of 5", "15.000", "30", "0.5000"]


@pytest.mark.slow
def test_rivals_are_compared_from_the_starts_of_the_public_programs(script, tmp_path):
    out = tmp_path / "rivals.md"
    command = [sys.executable, str(BENCHMARKS / "rivals.py"), "programs", "--dataset", "iris"]
    options = ["--method", "COPKM_P", "--workers", "1", "--out", str(out)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Rounded to four digits, the mean over five seeds is that of the public program.
    assert "| COPKM_P | ++ rows | iris 0.05 | 5 of 5 | 5 of 5 | 156.36 | 156.4 |" in out.read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("command", "columns"), [("mwis", "greedy: weight"), ("three-colour", "one descent: inertia")]
)
def test_choices_of_the_appendix_are_compared(script, tmp_path, monkeypatch, command, columns):
    ablations = script("ablations")
    one = (ablations.Instance("COL2/n300-k20-s50", 0.2),)
    monkeypatch.setattr(ablations, "INSTANCES", one)
    monkeypatch.setattr(ablations, "TURNS", 1)
    out = tmp_path / "table.md"
    options = [command, "--seeds", "1", "--mutations", "1", "--out", str(out)]
    result = CliRunner().invoke(ablations.app, options)
    assert result.exit_code == 0, result.output
    written = out.read_text(encoding="utf-8")
    assert columns in written
    assert "| n300-k20-s50 0.2 |" in written


def test_every_rival_that_solves_programs_is_compared_without_swaps(script):
    rivals = script("rivals")
    instance, entries = rivals.INSTANCES[0], rivals.SWITCHED
    runs = [rivals.Run(entry, instance, 5.0, 1.0 + i % 2, False) for i, entry in enumerate(entries)]
    section = rivals.acceleration(entries, [instance], rivals.grouped(runs))
    assert [row[0] for row in section.rows] == ["PCCC_squared", "BLPKMCC_plain", "BLPKMCC"]
    assert {row[4] for row in section.rows} == {"2.0"}


def test_growth_writes_a_table(script, tmp_path):
    out = tmp_path / "growth.md"
    sizes = ["--smallest", "200", "--largest", "400", "--steps", "2", "--seeds", "1"]
    result = CliRunner().invoke(script("large").app, ["growth", *sizes, "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "| 400 |" in out.read_text(encoding="utf-8")


def test_the_single_descent_is_compared_with_kmeans(script):
    sizes = ["--n-rows", "300", "--n-clusters", "3", "--n-pairs", "5", "--seeds", "1"]
    result = CliRunner().invoke(script("large").app, ["unconstrained", *sizes])
    assert result.exit_code == 0, result.output
    assert "5 cannot-link pairs" in result.output


ONE_FIT = "tiny: blobs 6x1 k2 p0 s0 kempe n_jobs=1 float64"


def test_a_fit_that_changes_is_found_by_its_fingerprint(script, tmp_path):
    app, file, run = script("same_labels").app, tmp_path / "prints.json", CliRunner().invoke
    options = [str(file), "--only", "tiny: blobs 6x1 k2 p0 s0*"]
    assert run(app, ["record", *options]).exit_code == 0
    same = run(app, ["compare", *options])
    assert same.exit_code == 0, same.output
    assert "2 of 2 fits are the same bit by bit" in same.output
    prints = json.loads(file.read_text(encoding="utf-8"))
    prints[ONE_FIT]["labels"] = "others"
    file.write_text(json.dumps(prints), encoding="utf-8")
    changed = run(app, ["compare", *options])
    assert changed.exit_code == 1
    assert f"{ONE_FIT}\n    labels, inertia" in changed.output
    assert "1 of 2 fits are the same bit by bit" in changed.output


def test_fingerprints_tell_inertia_and_failures_apart(script):
    same_labels = script("same_labels")
    one = same_labels.Print("a", "1.0", 3)
    assert "(+1.00e-01)" in one.difference(same_labels.Print("a", "1.1", 3))
    assert "mutations 3, now 4" in one.difference(same_labels.Print("a", "1.0", 4))
    failed = same_labels.Print(failure="ValueError: no")
    assert one.difference(failed) == "a clustering, now ValueError: no"
    name, found, _ = same_labels.fingerprint("no such fit")
    assert (name, found.failure) == ("no such fit", "KeyError: 'no such fit'")


def test_a_comparison_says_which_fits_it_leaves_out(script, tmp_path):
    app, file, run = script("same_labels").app, tmp_path / "prints.json", CliRunner().invoke
    file.write_text("{}", encoding="utf-8")
    result = run(app, ["compare", str(file), "--only", ONE_FIT])
    assert result.exit_code == 1  # nothing was compared
    assert f"not in the file: {ONE_FIT}" in result.output
    assert run(app, ["record", str(file), "--only", "nothing like it"]).exit_code == 2


def test_compared_fits_reach_every_method_and_group_and_end_by_counting(script):
    fits = script("fits")
    found = fits.all_fits()
    assert len(found) > 800  # without data files; with them there are more
    assert {fit.method for fit in found.values()} == {*methods.names(), "dask"}
    groups = {group.__name__ for group in fits.GROUPS}
    briefly = fits.quick(list(found))
    assert {name.partition(":")[0] for name in briefly} == groups
    assert len(briefly) < len(found) / 8
    assert not any("time_limit" in fit.options for fit in found.values())


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """Give the kernels, the core and the folder of the instances that they are counted on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        instructions = importlib.import_module("instructions")
        folder = tmp_path_factory.mktemp("inputs")
        instructions.write_inputs(folder)
        yield importlib.import_module("kernels"), instructions._core, folder


def test_every_counted_kernel_runs_on_the_fixed_inputs(kernels):
    module, core, folder = kernels
    for where, names in module.groups(module.NAMES).items():
        inputs = module.inputs_of(core, folder, *where)
        for name in names:
            module.KERNELS[name].run(inputs)


def test_counted_relocations_are_kept_and_undone(kernels):
    module, core, folder = kernels
    seen = set()
    for run, on, single in module.KERNELS.values():
        if run not in (module.relocate, module.relocate_in_vain):
            continue
        colours, _, failures = run(module.inputs_of(core, folder, on, single))
        before = module.inputs_of(core, folder, on, single)[
            "optimum" if run is module.relocate else "best"
        ]
        assert np.array_equal(colours, before) == (run is module.relocate_in_vain), (on, single)
        seen.add((run, failures > 0))
    assert (module.relocate, True) in seen  # some of them fail as well


def test_counted_instances_are_large_and_small_as_they_are_meant(kernels):
    module, core, folder = kernels
    large = {
        on
        for on, _ in module.groups(module.NAMES)
        if module.inputs_of(core, folder, on, False).instance.is_large
    }
    assert large == {"few", "many", "table"}
    # Only beyond so many values, and features, chains are priced by a table.
    values = {on: module.inputs_of(core, folder, on, False).rows.size for on in large}
    assert values["many"] < 2e6 < values["table"]


def test_the_marks_about_a_kernel_are_read(script, tmp_path):
    instructions = script("instructions")
    (tmp_path / "counts.2").write_text("events: Ir\ntotals: 1234\n", encoding="utf-8")
    assert instructions.total(tmp_path / "counts.2") == 1234
    (tmp_path / "counts.4").write_text("events: Ir\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="has no total"):
        instructions.total(tmp_path / "counts.4")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_instructions_are_counted_again_alike(script):
    instructions = script("instructions")
    first, again = (instructions.measure(["enumeration"])["enumeration"] for _ in range(2))
    assert first > 10_000
    assert again == pytest.approx(first, rel=instructions.ALLOWED - 1)


def test_the_baseline_has_a_count_for_every_kernel(script):
    instructions = script("instructions")
    assert set(instructions.read_baseline()["counts"]) == set(instructions.NAMES)


@pytest.mark.parametrize(
    ("inertia", "rounding", "verdict"),
    [
        (99.99, 0.0, "optimal"),
        (100.0, 0.0, "open"),
        (100.02, 0.0, "open"),
        (100.03, 0.0, "not optimal"),
        (99.99, 0.02, "open"),
        (100.03, 0.02, "open"),
        (None, 0.0, "no solution"),
    ],
)
def test_certificates_decide_whether_an_inertia_is_optimal(script, inertia, rounding, verdict):
    bounds = script("certify_compare").Bounds(lower=99.985, inertia=100.015)
    assert bounds.verdict(inertia, rounding, 1e-4) == verdict


def test_certificates_are_read_by_collection_the_tightest_of_each_instance(script, tmp_path):
    compare = script("certify_compare")
    table = tmp_path / "bounds.csv"
    header = "collection,name,level,inertia,lower_bound\n"
    rows = ["COL3,n500-k2,0.05,2000,1900", "COL3,n500-k2,0.05,2100,2000", "COL1,iris,0.05,1,1"]
    table.write_text(header + "\n".join(rows))
    bounds = compare.read_certificates(table, ["COL3"])
    assert bounds == {("COL3/n500-k2", 0.05): compare.Bounds(2000.0, 2000.0)}
    assert len(compare.read_certificates(table, ["COL1", "COL3"])) == 2


def test_optimal_instances_are_counted_for_the_authors(script):
    compare = script("certify_compare")
    known = compare.figures_of_authors(["COL2"])
    assert all(dataset.startswith("COL2/") for dataset, _ in known.mean)
    widest = max(known.mean, key=lambda instance: known.mean[instance] / known.lowest[instance])
    bounds = {widest: compare.Bounds(known.lowest[widest], known.lowest[widest])}
    for kind, verdict in (("lowest", "optimal"), ("mean", "not optimal")):
        section = compare.comparison(kind, {compare.AUTHORS: known}, bounds, 1e-4)
        counts = dict(zip(section.header, section.rows[-1], strict=True))
        assert counts["method"] == compare.AUTHORS
        assert counts[verdict] == "1"


def test_optimal_instances_are_counted_in_our_runs(script, tmp_path):
    compare = script("certify_compare")
    runs = (("kempe", [2000.0, 2000.1]), ("KSKM", [2001.0]), ("COPKM", [None]))
    with Store(tmp_path).writing() as append:
        for method, inertias in runs:
            for seed, inertia in enumerate(inertias):
                status = "failed" if inertia is None else "ok"
                append(Record("main", "COL3", "n500-k2", 0.05, method, seed, status, "", inertia))
        append(Record("no-mutation", "COL3", "n500-k2", 0.05, "KSKM", 0, "ok", "", 2000.0))
        append(Record("main", "COL1", "iris", 0.05, "PCCC", 0, "ok", "", 1.0))
    methods = compare.read_runs(tmp_path, ["COL3"])
    bounds = {("COL3/n500-k2", 0.05): compare.Bounds(1999.93, 2000.0)}

    def verdicts(kind):
        section = compare.comparison(kind, methods, bounds, 5e-5)
        return {row[0]: section.header[2 + row[2:].index("1")] for row in section.rows}

    others = {"KSKM": "not optimal", "COPKM": "no solution"}
    assert verdicts("lowest") == {"kempe": "optimal"} | others
    assert verdicts("mean") == {"kempe": "open"} | others


@pytest.mark.slow
def test_certificates_are_measured_once_and_shown(script, tmp_path, monkeypatch, capsys):
    certify = script("certify")
    monkeypatch.setenv("KEMPE_SHARED", str(tmp_path))
    store, out = tmp_path / "certify.csv", tmp_path / "certify.md"
    options = {"limit": 30.0, "only": "iris", "seed": 0, "workers": 1, "store": store, "out": out}
    certify.main("unconstrained", **options)
    with store.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["collection"] for row in rows] == ["unscaled", "scaled"]
    assert float(rows[0]["inertia"]) == pytest.approx(78.851, abs=1e-3)
    assert all(row["optimal"] == row["verified"] == "True" for row in rows)
    assert all(0 <= float(row["loss"]) < 1e-5 for row in rows)
    assert "| gap at most 0.01 % | 2 |" in out.read_text(encoding="utf-8")
    monkeypatch.setattr(certify, "run", None)
    certify.main("unconstrained", **options)
    assert capsys.readouterr().out.count("unscaled iris") == 2


def test_sizes_are_compared_with_a_program_that_keeps_them(script, monkeypatch, tmp_path):
    sizes, out, kept = script("sizes"), tmp_path / "pairs.md", tmp_path / "kept.json"
    cells = [sizes.CellWithPairs(*INSTANCE, kind) for kind in (sizes.KINDS[0], sizes.KINDS[2])]
    monkeypatch.setattr(sizes, "CELLS_WITH_PAIRS", cells)
    arguments = ["pairs", "--restarts", "1", "--kept", str(kept), "--out", str(out)]
    result = CliRunner().invoke(sizes.app, arguments)
    assert result.exit_code == 0, result.output
    monkeypatch.setattr(sizes, "Program", None)  # what it found is known
    again = CliRunner().invoke(sizes.app, arguments)
    assert again.exit_code == 0, again.output
    table = [line.split("|")[1:-1] for line in out.read_text().splitlines() if "COL3" in line]
    assert [row[2].strip() for row in table] == ["equal", "20 %"]
    for row in table:
        # The search is never above one descent of the program.
        assert 0 < float(row[3]) <= 1.001


def test_many_rows_of_equal_sizes_are_measured(script, monkeypatch, tmp_path):
    sizes, out = script("sizes"), tmp_path / "large.md"
    monkeypatch.setattr(sizes, "LARGE", ((600, 5),))
    result = CliRunner().invoke(sizes.app, ["large", "--rival-up-to", "0", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "| 600 x 10 | 5 |" in out.read_text()


def test_the_spread_of_certified_instances_covers_sizes_and_levels(script):
    certify = script("certify")
    spread = certify.instances("spread")
    assert len(set(spread)) == 30
    assert len(certify.instances("collection1")) == 100
    assert len(set(certify.instances("all"))) == 346
    for collection, name, level in spread:
        assert datasets.describe(f"{collection}/{name}")
        assert level in datasets.levels(collection)


@pytest.mark.slow
def test_latency_measures_both_with_idle_and_with_busy_cores(script, monkeypatch, capsys):
    latency = script("latency")
    monkeypatch.setattr(latency, "SHAPES", ((8, 4),))
    monkeypatch.setattr(latency, "ROWS", (1,))
    latency.main(calls=20)
    shown = capsys.readouterr().out
    assert "cores as they are" in shown
    assert "all cores busy" in shown
    assert shown.count("8 clusters, 4 features") == 2


def test_parallel_writes_its_table(script, tmp_path, monkeypatch):
    parallel = script("parallel")
    monkeypatch.setattr(parallel, "SIZES", ((2000, 3, 4),))
    out = tmp_path / "parallel.md"
    parallel.main(seeds=1, scale=0.5, dtype="float32", out=out)
    assert "2,000 x 3, k = 4" in out.read_text(encoding="utf-8")


def test_the_serial_share_is_that_of_amdahls_law(script):
    walls = script("parallel").Walls
    assert walls(1, 10, 5, 1, 1).serial_share(2) == 0
    assert walls(1, 10, 6, 1, 1).serial_share(2) == pytest.approx(0.2)
    assert walls(1, 10, 11, 1, 1).serial_share(2) == 1


def test_alternatives_measure_what_is_installed_and_name_the_rest(script, capsys, monkeypatch):
    alternatives = script("alternatives")
    monkeypatch.setattr(alternatives, "SETS", {"iris": alternatives.SETS["iris"]})
    monkeypatch.setattr(alternatives, "is_there", lambda package: package.module == "kempe")
    alternatives.main(seeds=1)
    shown = capsys.readouterr()
    assert "0 of 435" in shown.out
    for wanted in (
        "pip install active-semi-supervised-clustering",
        "pip install k-means-constrained",
        "git clone https://github.com/Behrouz-Babaki/COP-Kmeans, then --clones FOLDER",
        "git clone https://github.com/phil85/PCCC, then --clones FOLDER",
    ):
        assert wanted in shown.err


# What the two programs without a package look like to their callers; each gives known labels.
COP_KMEANS = """
def cop_kmeans(dataset, k, ml=[], cl=[]):
    if k == 2:
        return None, None
    assert isinstance(dataset, list) and ml and cl
    return [i % k for i in range(len(dataset))], dataset[:k]
"""
PCCC_PROGRAM = """
def pccc(X, n_clusters, ml, cl, **settings):
    print("a line about a licence")
    assert settings == {"cluster_repositioning": "inertia", "random_state": 7}
    return {"labels": [i % n_clusters for i in range(len(X))]}
"""


def test_programs_without_a_package_are_taken_from_clones(script, tmp_path, monkeypatch, capsys):
    alternatives = script("alternatives")
    for folder, files in {
        "COP-Kmeans/copkmeans": {"__init__.py": "", "cop_kmeans.py": COP_KMEANS},
        "PCCC": {"pccc.py": PCCC_PROGRAM},
    }.items():
        (tmp_path / folder).mkdir(parents=True)
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
            who = ["-c", "user.name=x", "-c", "user.email=x@y"]
            subprocess.run(["git", *who, *command], cwd=tmp_path / folder, check=True)
    problem = alternatives.Problem.of("iris", 0)
    monkeypatch.setattr(alternatives, "SETS", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    try:
        alternatives.main(seeds=1, clones=tmp_path)
        shown = capsys.readouterr()
        assert re.search(r"phil85/PCCC [0-9a-f]{7}", " ".join(shown.out.split()))
        assert "git clone" not in shown.err
        expected = [i % 3 for i in range(150)]
        assert alternatives._cop(problem, 7).tolist() == expected
        assert alternatives._pccc(problem, 7).tolist() == expected
        with pytest.raises(RuntimeError, match="it found none"):
            alternatives._cop(replace(problem, k=2), 7)
        assert capsys.readouterr().out == ""
    finally:
        for name in set(sys.modules) - before:
            del sys.modules[name]


def test_an_alternative_that_fails_is_counted_and_named(script):
    alternatives = script("alternatives")

    def fails(problem, seed):
        raise LookupError

    package = alternatives.Package("broken", "kempe", "kempe", fails)
    assert alternatives.row(package, "iris", 2)[1:4] == ["iris", "0 of 2, LookupError", "–"]


def test_answers_are_taken_in_one_by_one(script, tmp_path, capsys):
    warm = script("warm")
    warm.main(answers=6, seeds=2, rows=[300], out=tmp_path / "warm.md")
    [line] = [each for each in (tmp_path / "warm.md").read_text().splitlines() if "300" in each]
    cells = [cell.strip() for cell in line.strip("| ").split("|")]
    assert cells[0] == "300"
    assert 0 < float(cells[1]) <= float(cells[2])
    assert cells[4].endswith(" of 12")
    assert -1 < float(cells[5]) <= float(cells[6]) < 50
    assert "300" in capsys.readouterr().out


def test_a_pair_that_clusters_break_is_preferred(script):
    warm = script("warm")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    pair, surprises = warm.drawn(np.zeros(40, dtype=int), y, rng)
    assert surprises
    assert y[pair[0]] != y[pair[1]]
    assert not warm.drawn(y, y, rng)[1]
    told = warm.told(np.array([[0, 1], [0, 39]]), y)
    assert told.must_link.tolist() == [[0, 1]]
    assert told.cannot_link.tolist() == [[0, 39]]


def test_noise_measures_every_table_on_small_problems(script, tmp_path, monkeypatch):
    noise = script("noise")
    monkeypatch.setattr(noise, "CELLS", {"collection 3": [("COL3/n500-k2", 0.05)]})
    monkeypatch.setattr(noise, "COLLECTION_1", [("COL3/n500-k2", 0.05)])
    monkeypatch.setattr(noise, "NINE", [("COL3/n500-k2", 0.05)])
    monkeypatch.setattr(noise, "STIFF", [("COL3/n500-k2", 0.05)])
    short = ["--seconds", "0.05", "--long", "0.1", "--seeds", "1"]
    many = ["--rows", "2000", "--features", "3", "--pairs", "500", "--repeats", "1"]
    for command, said in (
        (["flipped", "--noise", "0.1"], "10 % wrong"),
        (["confidences"], "from 0.7 to 1"),
        (["others"], "PCKMeans without what follows"),
        (["pccc", "--seconds", "5"], "beside PCCC, 1 cells"),
        (["gaps", *short], "PCCC lower in 0"),
        (["tiny", "--problems", "20"], "without enumeration"),
        (["large", *many], "2,000 x 3, k = 50"),
    ):
        out = tmp_path / f"{command[0]}.md"
        result = CliRunner().invoke(noise.app, [*command, "--out", str(out)])
        assert result.exit_code == 0, result.output
        assert said in out.read_text(encoding="utf-8")


def test_noise_turns_the_stated_share_of_pairs_round(script):
    noise = script("noise")
    cell = noise.Cell("COL3/n500-k20", 0.1)
    right, told = cell.told(0.0), cell.told(0.2)
    assert not right.wrong.any()
    assert np.array_equal(told.together != right.together, told.wrong)
    assert told.wrong.mean() == pytest.approx(0.2, abs=0.05)
    assert np.array_equal(told.wrong, cell.told(0.2).wrong)
    assert not np.array_equal(told.wrong, noise.Cell(cell.dataset, cell.level, 1).told(0.2).wrong)
    sure = cell.told_with_confidence(0.7)
    assert sure.wrong.mean() == pytest.approx(0.15, abs=0.05)
    assert sure.confidence.min() >= 0.7


def test_relax_is_set_beside_cp_sat_and_never_above_what_it_proves(
    script, shared, tmp_path, monkeypatch
):
    pytest.importorskip("ortools")
    bench = script("relax")
    monkeypatch.setattr(bench, "SETS", ("iris", "wine"))
    monkeypatch.setattr(bench, "LEVELS", (0.1,))
    monkeypatch.setattr(bench, "NOISES", (0.05,))
    out = tmp_path / "relax.md"
    result = CliRunner().invoke(bench.app, ["--seconds", "20", "--out", str(out)])
    assert result.exit_code == 0, result.output
    rows = [
        line.split("|")[1:-1] for line in out.read_text("utf-8").splitlines() if "% wrong" in line
    ]
    assert len(rows) == 2
    for _, flipped, given_up, least, _, solved in rows:
        assert int(least) <= int(given_up) <= int(flipped)
        fewest, said = solved.split(",")
        assert int(given_up) <= int(fewest)
        assert "proven" not in said or int(given_up) == int(fewest)


def test_limits_are_measured_for_every_call(script, capsys, monkeypatch, tmp_path):
    limits = script("limits")
    monkeypatch.setattr(limits, "KINDS", {"small": (60, 2, 3, 20)})
    for name in limits.CALLS:
        seconds, outcome = limits.measured(name, "small")
        assert seconds < 5, name
        assert outcome in ("", "none"), name
    monkeypatch.setattr(limits, "cell", lambda name, kind, tries: f"{name} on {kind}")
    limits.main(only=["kempe"], out=tmp_path / "limits.md")
    assert "| kempe | kempe on small |" in (tmp_path / "limits.md").read_text()
