"""``kempe fit --dask``."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import kempe
from kempe.cli import app

runner = CliRunner()


@pytest.fixture
def folder(case, tmp_path):
    """Rows in four files, with ids and weights, and pairs of ids and of row numbers."""
    table = pd.DataFrame(case.X, columns=["a", "b", "c"])
    table.insert(0, "name", [f"n{i}" for i in range(len(table))])
    table["weight"] = 1.0
    rows = dd.from_pandas(table, npartitions=4)
    rows.to_parquet(tmp_path / "rows", write_index=False)
    rows.to_csv(str(tmp_path / "rows-*.csv"), index=False)
    for kind, pairs in case.pairs.items():
        np.savetxt(tmp_path / f"{kind}.csv", pairs, fmt="%d", delimiter=",")
        named = table["name"].to_numpy()[pairs]
        pd.DataFrame(named, columns=["one", "other"]).to_csv(
            tmp_path / f"{kind}-ids.csv", index=False
        )
    return tmp_path


def fit(folder, *options, stdin=None):
    return runner.invoke(app, ["fit", *map(str, options)], input=stdin)


def pairs(folder, suffix=""):
    return [
        *("--must-link", folder / f"must_link{suffix}.csv"),
        *("--cannot-link", folder / f"cannot_link{suffix}.csv"),
    ]


@pytest.fixture
def expected(case):
    return kempe.KempeKMeans(case.k, max_mutations=5, random_state=0).fit(case.X, **case.pairs)


def test_parquet_files_by_ids_on_a_cluster(folder, cluster, expected):
    address = cluster.scheduler_address
    done = fit(
        folder, folder / "rows" / "*.parquet", "-k", 5, *pairs(folder, "-ids"), "--id-column",
        "name", "--weights-column", "weight", "--max-mutations", 5, "--dask", address,
        "-o", folder / "labels.csv", "--model", folder / "model", "--centers", folder / "c.csv",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    labels = pd.read_csv(folder / "labels.csv")
    assert list(labels.columns) == ["name", "label"]
    np.testing.assert_array_equal(labels["label"], expected.labels_)
    assert list(labels["name"][:2]) == ["n0", "n1"]
    assert "all satisfied" in done.output
    assert kempe.load(folder / "model").inertia_ == pytest.approx(expected.inertia_)
    assert list(pd.read_csv(folder / "c.csv").columns) == ["a", "b", "c"]


@pytest.mark.slow
def test_csv_files_by_row_number_on_workers_of_this_machine(folder, expected):
    done = fit(
        folder, folder / "rows-*.csv", "-k", 5, *pairs(folder), "--ignore", "name", "--ignore",
        "weight", "--max-mutations", 5, "--dask", "local", "-o", folder / "labels.parquet", "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "inertia" not in done.output
    labels = dd.read_parquet(folder / "labels.parquet").compute()
    np.testing.assert_array_equal(labels["label"], expected.labels_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ignore", "name", "--cannot-link", "nowhere.csv"], "nowhere.csv"),
        (["--id-column", "nobody"], "there is no column 'nobody'"),
        (["--impute", "median"], "not with --dask: --impute median"),
        (["--groups-column", "name"], "not with --dask: --groups-column"),
        (["--join", "-o", "x.csv"], "not with --dask: --join"),
        (["--method", "KSKM", "--json"], "not with --dask: --method, --json"),
        (["-o", "labels.xlsx"], "written as .csv or .parquet"),
        (["--weights-column", "weight"], "columns without numbers: name"),
    ],
)
def test_what_cannot_be_is_told(folder, cluster, options, message):
    address = cluster.scheduler_address
    done = fit(folder, folder / "rows" / "*.parquet", "-k", 5, "--dask", address, *options)
    assert done.exit_code == 2
    assert message in done.output


def test_infeasible_pairs_are_told_in_ids(folder, cluster):
    (folder / "ml.csv").write_text("n900,n800\nn800,n700\n")
    (folder / "cl.csv").write_text("n900,n700\n")
    done = fit(
        folder, folder / "rows" / "*.parquet", "-k", 5, "--id-column", "name", "--must-link",
        folder / "ml.csv", "--cannot-link", folder / "cl.csv", "--dask", cluster.scheduler_address,
    )  # fmt: skip
    assert done.exit_code == 3
    assert "rows n900 and n700 cannot be linked" in done.output


def test_the_bar_shows_the_gap_to_convergence(case):
    import io

    import dask.array as da
    from rich.console import Console

    from kempe.dask import KempeKMeans
    from kempe.dask.progress import ConvergenceBar

    screen = io.StringIO()
    bar = ConvergenceBar(1200, console=Console(file=screen, force_terminal=True, width=100))
    model = KempeKMeans(case.k, init=case.init, max_mutations=0, gather_up_to=0, callbacks=bar).fit(
        da.from_array(case.X, chunks=(500, 3)), **case.pairs
    )
    shown = screen.getvalue()
    assert "1,200 rows, 5 clusters" in shown
    assert f"pass {len(model.result_.statistics.inertia)}" in shown
    assert "converged" in shown


def test_pairs_of_ids_come_from_standard_input(folder, cluster):
    """They are looked at twice, for the ids that they name and for the pairs."""
    done = fit(
        folder, folder / "rows" / "*.parquet", "-k", 5, "--id-column", "name", "--cannot-link",
        "-", "--ignore", "weight", "--max-mutations", 0, "--dask", cluster.scheduler_address,
        "-o", folder / "labels.csv", stdin="n900,n700\nn3,n4\n",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "2 cannot-link pairs on 4" in done.output
    labels = pd.read_csv(folder / "labels.csv").set_index("name")["label"]
    assert labels["n900"] != labels["n700"]
    assert labels["n3"] != labels["n4"]


@pytest.fixture
def messy(folder):
    """Rows with missing values and categories, in parts that differ."""
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "a": np.where(rng.random(900) < 0.1, np.nan, 50 + 9 * rng.normal(size=900)),
            "b": rng.integers(5, size=900).astype(float) + 100 * np.repeat([0, 1, 2], 300),
            "colour": np.where(rng.random(900) < 0.05, None, rng.choice(list("xyz"), 900)),
        }
    )
    table.loc[:299, "colour"] = "x"
    dd.from_pandas(table, npartitions=3).to_csv(str(folder / "messy-*.csv"), index=False)
    table.to_csv(folder / "messy.csv", index=False)
    return folder


@pytest.mark.parametrize("impute", ["mean", "most_frequent"])
def test_columns_are_prepared_over_all_parts_as_in_one_memory(messy, cluster, impute):
    options = ["-k", 3, "--impute", impute, "--encode", "colour", "--standardise"]
    options += ["--max-mutations", 0, "--time-limit", 60]
    alone = fit(
        messy, messy / "messy.csv", *options, "--centers", messy / "c1.csv", "-o", messy / "l1.csv"
    )
    there = fit(
        messy, messy / "messy-*.csv", *options, "--dask", cluster.scheduler_address,
        "--centers", messy / "c2.csv", "-o", messy / "l2.csv", "--model", messy / "model",
    )  # fmt: skip
    assert (alone.exit_code, there.exit_code) == (0, 0), there.output
    said = [line for line in alone.output.splitlines() if line.startswith("preparation:")]
    assert said == [line for line in there.output.splitlines() if line.startswith("preparation:")]
    one, other = (pd.read_csv(messy / name) for name in ("c1.csv", "c2.csv"))
    assert list(one) == list(other)
    np.testing.assert_allclose(
        one.sort_values("b").to_numpy(), other.sort_values("b").to_numpy(), rtol=1e-6, atol=1e-9
    )
    again = kempe.load(messy / "model").predict(pd.read_csv(messy / "messy.csv"))
    np.testing.assert_array_equal(again, pd.read_csv(messy / "l2.csv")["label"])


def test_missing_values_over_all_parts_are_told(messy, cluster):
    done = fit(
        messy, messy / "messy-*.csv", "-k", 3, "--encode", "colour", "--standardise",
        "--dask", cluster.scheduler_address,
    )  # fmt: skip
    assert done.exit_code == 2
    assert "columns with missing values: a (" in done.output


def test_a_report_is_made_from_a_sample_in_the_units_of_the_table(folder, case):
    target = folder / "report.html"
    done = fit(
        folder,
        *(folder / "rows", "-k", case.k, "--dask", "local", "--id-column", "name"),
        *("--weights-column", "weight", "--standardise", "--report", target),
        *pairs(folder, "-ids"),
    )
    assert done.exit_code == 0, done.output
    text = target.read_text()
    assert "a sample of 1,200 of 1,200 rows" in text
    assert "all 60" in text
    assert "n0" in text or "n1" in text  # ids that pairs name
