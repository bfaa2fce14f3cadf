"""The benchmark commands, as a user types them."""

import pytest
from typer.testing import CliRunner

from kempe.cli.bench import app

PLAN = """
name = "tiny"
time_limit = 5

[[experiment]]
methods = ["bench_methods:Steady"]
datasets = ["COL2/n300-k10-s30"]
levels = [0.05]
seeds = 2
"""

METHOD = """
import numpy as np
from kempe import _core
from kempe.problem import Problem
from kempe.search.seeding import starting_centroids

class Steady:
    def __init__(self, n_clusters, init, time_limit, random_state):
        self.n_clusters, self.init = n_clusters, init

    def fit(self, X, *, constraints):
        problem = Problem.build(X, constraints, n_clusters=self.n_clusters)
        centroids = starting_centroids(problem, self.init, np.random.default_rng(0))
        self.labels_ = problem.labels(_core.saturation_assignment(problem.core, centroids)[0])
"""


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def plan(tmp_path, monkeypatch):
    (tmp_path / "bench_methods.py").write_text(METHOD)
    (tmp_path / "tiny.toml").write_text(PLAN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tiny.toml"


def test_a_plan_is_run_once_and_reported(plan):
    answer = call("run", plan, "--workers", 1)
    assert answer.exit_code == 0, answer.output
    assert "2 runs in" in answer.output
    assert "0 of them failed" in answer.output
    assert (plan.parent / "results" / "tiny" / "runs.csv").exists()
    assert call("run", plan).exit_code == 0
    answer = call("report", plan.parent / "results" / "tiny", "--out", plan.parent / "out")
    assert answer.exit_code == 0, answer.output
    assert (plan.parent / "out" / "report.html").exists()


def test_a_packed_store_is_reported_and_not_run_again(plan):
    store = plan.parent / "results" / "tiny"
    call("run", plan, "--workers", 1)
    answer = call("pack", store)
    assert answer.exit_code == 0, answer.output
    assert "runs-COL2.csv.xz" in answer.output
    assert "2 runs in" in call("run", plan).output
    assert call("report", store).exit_code == 0


def test_there_is_nothing_to_pack_in_an_empty_folder(tmp_path):
    for folder in (tmp_path, tmp_path / "nothing"):
        answer = call("pack", folder)
        assert answer.exit_code == 2
        assert "no runs in" in answer.output


def test_missing_data_is_explained(plan, monkeypatch):
    monkeypatch.setenv("KEMPE_MIRROR", "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(plan.parent))
    monkeypatch.delenv("KEMPE_DATA", raising=False)
    plan.write_text(PLAN.replace("COL2/n300-k10-s30", "COL1/zoo"))
    answer = call("run", plan, "--workers", 1)
    assert answer.exit_code == 2, answer.output
    words = " ".join(answer.output.split())
    assert "2 no data first: no data: no zoo.npz in" in words
    assert "--retry-failed repeats these runs" in words


def test_an_unknown_plan_is_named(plan):
    answer = call("run", "nonsense")
    assert answer.exit_code == 2
    assert "nonsense" in answer.output


def test_an_empty_store_is_an_error(tmp_path):
    answer = call("report", tmp_path)
    assert answer.exit_code == 2
    assert "no results in" in answer.output


def test_a_plan_is_shown(plan):
    answer = call("show", plan)
    assert answer.exit_code == 0
    assert "2 runs in all" in answer.output
    assert call("show", "nonsense").exit_code == 2


def test_a_plan_of_which_every_run_fails_is_no_success(plan):
    (plan.parent / "bench_methods.py").write_text(
        METHOD.replace(
            "        problem = ", "        raise NoSolutionFoundError('none')\n        problem = "
        )
        + "\nfrom kempe.exceptions import NoSolutionFoundError\n"
    )
    answer = call("run", plan, "--workers", 1)
    assert answer.exit_code == 4, answer.output
    assert "2 of them failed" in answer.output


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("seeds = 2", "seeds = 0", "seeds"),
        ('["COL2/n300-k10-s30"]', "[]", "datasets"),
        ('["bench_methods:Steady"]', "[]", "methods"),
    ],
)
def test_a_plan_without_runs_is_refused(plan, old, new, what):
    plan.write_text(PLAN.replace(old, new))
    answer = call("run", plan)
    assert answer.exit_code == 2
    assert f"without {what}" in answer.output
