"""Comparisons on data of one's own, from Python and in plans."""

from __future__ import annotations

import csv
import math
import subprocess
import sys

import numpy as np
import pytest

import kempe
from kempe import Constraints
from kempe.bench import Plan, Store, run
from kempe.bench.comparison import MethodComparison, _fewest_seeds, sized_methods
from kempe.bench.execution import rand_index
from kempe.bench.own import OwnData, load_own
from kempe.bench.plan import Experiment, parse_plan
from kempe.bench.report import write_report
from kempe.bench.store import StoreError


@pytest.fixture
def data(planted):
    return planted(3, n_rows=80, n_clusters=4, n_pairs=60)


@pytest.fixture
def compared(data, tmp_path):
    """A small comparison; the workers are real processes."""

    def compare(**options):
        settings = {"methods": ["kempe", "KSKM"], "seeds": 2, "workers": 1, "time_limit": 20}
        return kempe.compare(
            data.X, 4, constraints=data.constraints, **(settings | {"folder": tmp_path} | options)
        )

    return compare


def test_every_method_runs_with_every_seed(compared, data):
    found = compared(methods=["kempe", "kskm", "COPKM_P"], y=data.labels)
    assert found.methods == ["kempe", "KSKM", "COPKM_P"]
    assert [outcome.runs for outcome in found.outcomes] == [2, 2, 2]
    model = kempe.KempeKMeans(4, random_state=0).fit(data.X, constraints=data.constraints)
    assert found.outcomes[0].best == pytest.approx(model.inertia_, rel=0.02)
    assert 0 < found.outcomes[0].ari.value <= 1
    assert [line[0] for line in found.table()] == ["method", "kempe", "KSKM", "COPKM_P"]
    assert "ARI" in found.table()[0]
    assert "2 seeds are too few" in found.notes()[-1]


def test_a_comparison_goes_on_where_it_was_stopped(compared, tmp_path):
    compared(seeds=1)
    done = []
    found = compared(seeds=2, on_record=done.append)
    assert len(found.records) == 4
    assert {record.seed for record in done} == {1}


def test_runs_on_other_data_are_not_mixed_in(compared, data, tmp_path):
    settings = {"methods": ["kempe", "KSKM"], "seeds": 1, "workers": 1, "time_limit": 20}
    compared(**settings)
    with pytest.raises(StoreError, match="use another store"):
        kempe.compare(data.X + 1, 4, constraints=data.constraints, folder=tmp_path, **settings)


def test_failures_are_told_with_their_reasons(own_methods, data):
    found = kempe.compare(
        data.X,
        4,
        constraints=data.constraints,
        methods=["own_methods:Steady", "own_methods:Unlucky"],
        seeds=1,
        workers=1,
    )
    assert found.outcomes[1].solved == 0
    assert math.isnan(found.outcomes[1].best)
    assert "1 of 1 run failed: no solution: stuck" in found.notes()[0]
    assert found.table()[2][2] == "–"
    assert not found.tests()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["kempe", "Kempe"]}, "named twice"),
        ({"methods": ["nonsense"]}, "unknown method"),
        ({"name": "a/b"}, "cannot be the name"),
        ({"y": [1, 2]}, "there are 80 rows"),
        ({"seeds": 0}, "without seeds"),
    ],
)
def test_what_cannot_be_compared_is_refused(compared, options, message):
    with pytest.raises(ValueError, match=message):
        compared(**options)


SOFT = ["kempe", "PCCC", "PCKMeans"]


def test_soft_pairs_reach_the_methods_that_know_them(data, tmp_path):
    pairs = data.constraints
    wrong = pairs.cannot_link[:3]  # said the other way round
    soft = Constraints(
        soft_must_link=np.concatenate([pairs.must_link, wrong]),
        soft_cannot_link=pairs.cannot_link[3:],
        soft_cannot_link_confidence=0.9,
    )
    done = kempe.compare(data.X, 4, constraints=soft, methods=SOFT, seeds=1, workers=1)
    assert [record.status for record in done.records] == ["ok", "ok", "ok"]
    model = kempe.KempeKMeans(4, random_state=0).fit(data.X, constraints=soft)
    assert done.records[0].inertia == pytest.approx(model.inertia_, rel=0.05)
    with pytest.raises(ValueError, match=r"KSKM cannot break a pair.*kempe, PCCC"):
        kempe.compare(data.X, 4, constraints=soft, seeds=1)
    saved = OwnData.save(tmp_path, "soft", data.X, soft, 4)
    assert load_own(saved.path, 1.0, "float64").constraints.soft == soft.soft


def test_tests_are_paired_by_seed(data):
    records = [
        made(method, seed, inertia)
        for method, values in (("kempe", range(10, 20)), ("KSKM", range(11, 21)))
        for seed, inertia in enumerate(values)
    ]
    (test,) = MethodComparison("mine", ["kempe", "KSKM"], records).tests()
    assert (test.n, test.wins, test.losses) == (10, 10, 0)
    assert test.p_value == pytest.approx(2 / 2**10)
    # The same values at other seeds are other pairs.
    turned = [*records[:10], *(made("KSKM", 9 - r.seed, r.inertia) for r in records[10:])]
    assert MethodComparison("mine", ["kempe", "KSKM"], turned).tests()[0].p_value > 0.1


def made(method, seed, inertia):
    from kempe.bench import Record, Task

    task = Task("main", "own/mine", 1.0, method, seed)
    history = [(0.01, 2.0 * inertia), (0.5, float(inertia))]
    numbers = {"inertia": float(inertia), "cpu_s": 0.5, "wall_s": 0.5, "history": history}
    return Record.of(task, "ok", **numbers)


@pytest.mark.parametrize("others", [1, 2, 5])
def test_so_many_seeds_can_be_significant_and_one_less_cannot(others):
    seeds = _fewest_seeds(others)
    assert others * 2 / 2**seeds < 0.05 <= others * 2 / 2 ** (seeds - 1)


def test_tables_and_figures_are_written(tmp_path):
    pytest.importorskip("matplotlib")
    records = [made(m, s, i + s) for m, i in (("kempe", 10), ("KSKM", 12)) for s in range(3)]
    found = MethodComparison("mine", ["kempe", "KSKM", "PCCC"], [*records, failed("PCCC")])
    written = found.save(tmp_path / "out")
    kinds = {".pdf": b"%PDF", ".svg": b"<?xml", ".png": b"\x89PNG"}
    for path in written:
        assert path.read_bytes().startswith(kinds.get(path.suffix, b""))
    assert {path.suffix for path in written} == {*kinds, ".csv", ".md", ".tex"}
    with open(tmp_path / "out" / "methods.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["kempe", "KSKM", "PCCC"]
    assert float(rows[0]["inertia"]) == 11
    text = (tmp_path / "out" / "comparison.md").read_text(encoding="utf-8")
    assert "| kempe | 3 of 3 |" in text
    assert "PCCC: 1 of 1 run failed" in text


def failed(method):
    from kempe.bench import Record, Task

    return Record.of(Task("main", "own/mine", 1.0, method, 0), "failed", reason="no solution: x")


def test_a_level_is_a_share_of_the_pairs(data, tmp_path):
    own = OwnData.save(tmp_path, "mine", data.X, data.constraints, 4)
    whole, half = (load_own(own.path, level, "float32") for level in (1.0, 0.5))
    assert whole.constraints == Constraints(
        data.constraints.must_link, data.constraints.cannot_link, n_rows=80
    )
    assert abs(len(half.constraints.must_link) - len(data.constraints.must_link) / 2) < 1
    assert half.constraints == load_own(own.path, 0.5, "float64").constraints
    assert whole.X.dtype == np.float32
    assert whole.y is None


def test_a_plan_runs_on_own_data_beside_that_of_the_paper(data, tmp_path):
    own = OwnData.save(tmp_path / "data", "mine", data.X, data.constraints, 4, data.labels)
    experiment = Experiment(["COPKM_P"], ["own/*", "COL3/n500-k2"], [0.05], [0], own=[own])
    assert experiment.names() == ["own/mine", "COL3/n500-k2"]
    records = run(Plan("both", [experiment]), Store(tmp_path / "store"), workers=1)
    assert [record.ok for record in records] == [True, True]
    text = write_report([tmp_path / "store"], tmp_path / "report").read_text(encoding="utf-8")
    assert "own" in text
    assert "n500-k2" in text


def test_a_plan_names_its_files(tmp_path):
    text = """
    name = "mine"
    [[data]]
    name = "customers"
    file = "customers.csv"
    n_clusters = 3
    [[experiment]]
    methods = ["kempe"]
    datasets = ["own/customers"]
    seeds = 2
    """
    plan = parse_plan(text)
    assert [task.dataset for task in plan.tasks()] == ["own/customers"] * 2
    with pytest.raises(ValueError, match="has not been read"):
        run(plan, Store(tmp_path))
    for line, message in (("name = 3", "needs a name"), ('name = "a b"', "cannot be the name")):
        with pytest.raises(ValueError, match=message):
            parse_plan(text.replace('name = "customers"', line))
    with pytest.raises(ValueError, match="no data set matches"):
        parse_plan(text.replace("own/customers", "own/others"))


SCRIPT = """
import numpy as np
import kempe

X = np.arange(12.0).reshape(6, 2)
print("begun")
found = kempe.compare(X, 2, cannot_link=[(0, 1)], methods=["KSKM", "COPKM_P"], seeds=2, workers=2)
print([outcome.solved for outcome in found.outcomes])
"""


def test_a_script_needs_no_guard(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.splitlines() == ["begun", "[2, 2]"]
    assert not done.stderr


def test_the_rand_index_counts_rows_with_a_known_label_only(compared, data):
    labels = data.labels.astype(object)
    labels[::2] = np.resize(["?", None, float("nan"), -1, "NA", ""], labels[::2].size)
    found = compared(methods=["COPKM_P"], seeds=1, y=labels)
    assert "ARI over the 40 of 80 rows whose true label is known" in found.notes()
    (record,) = found.records
    codes = np.where(np.arange(80) % 2, data.labels, -1)
    assert rand_index(codes, data.labels) == 1.0
    turned = np.where(np.arange(80) % 2, data.labels, 99)
    assert rand_index(codes, turned) == 1.0
    assert record.ari is not None


def test_a_truth_of_which_nothing_is_known_is_refused(compared):
    with pytest.raises(ValueError, match="no known label"):
        compared(y=[-1] * 80)


def test_methods_that_tie_are_drawn_equal():
    pytest.importorskip("matplotlib")
    noise = {"kempe": 10.0, "KSKM": 10.0 * (1 + 3e-15)}
    records = [made(m, s, value) for m, value in noise.items() for s in range(3)]
    figure = MethodComparison("mine", list(noise), records).figure()
    axis = figure.axes[0]
    assert axis.get_xlim()[1] - axis.get_xlim()[0] > 0.1
    drawn = np.concatenate([points.get_offsets()[:, 0] for points in axis.collections])
    assert not drawn.any()
    figure.draw_without_rendering()
    assert not axis.xaxis.get_offset_text().get_text()


def test_without_matplotlib_tables_are_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    records = [made("kempe", seed, 10) for seed in range(3)]
    written = MethodComparison("mine", ["kempe"], records).save(tmp_path)
    assert {path.suffix for path in written} == {".csv", ".tex", ".md"}


class Fixed:
    """Gives the labels that it was made for."""

    def __init__(self, n_clusters, labels):
        self.labels = labels

    def fit(self, X):
        self.labels_ = np.array(self.labels)


@pytest.mark.parametrize(
    ("scale", "labels", "reason"),
    [
        (1e200, [0, 0, 0, 1], "error: OverflowError the inertia of the clustering is too large"),
        (1.0, [0, 1, 2, 0], "error: ValueError labels_ have 3 clusters, but 2 were wanted"),
        (1.0, [0, 1, 0], "error: ValueError labels_ have the shape (3,), but there are 4 rows"),
        (1.0, [[0], [1], [0], [1]], "error: ValueError labels_ have the shape (4, 1)"),
    ],
)
def test_labels_that_are_no_clustering_are_a_failure(scale, labels, reason):
    data = scale * np.array([[1.0], [-1.0], [2.0], [-2.0]])
    options = {"Fixed": {"labels": labels}}
    found = kempe.compare(data, 2, methods=[Fixed], options=options, seeds=1, workers=1)
    assert found.failed
    assert found.records[0].reason.startswith(reason)


def test_sizes_go_to_methods_that_know_them_and_to_no_others(data):
    sizes = {"size_min": 0.3, "size_max": 30}
    found = kempe.compare(data.X, 3, methods=["kempe"], seeds=1, workers=1, **sizes)
    assert found.outcomes[0].solved == 1
    free = kempe.compare(data.X, 3, methods=["kempe"], seeds=1, workers=1)
    assert found.outcomes[0].best >= free.outcomes[0].best * (1 - 1e-9)
    with pytest.raises(ValueError, match="KSKM knows no sizes of clusters"):
        kempe.compare(data.X, 3, methods=["kempe", "KSKM"], size_max=25)
    assert sized_methods()[0] == "kempe"
