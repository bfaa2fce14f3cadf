"""The command of the experiments, as somebody who repeats the paper types it."""

from typer.testing import CliRunner

from experiments.__main__ import app

PLAN = """
name = "tiny"
time_limit = 5

[[experiment]]
methods = ["KSKM", "COPKM_P"]
datasets = ["COL2/n300-k10-s30"]
levels = [0.05]
seeds = 2
"""


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_one_command_runs_a_plan_and_writes_the_report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.toml").write_text(PLAN)
    answer = call("run", "tiny.toml", "--workers", 1, "--seeds", 1)
    assert answer.exit_code == 0, answer.output
    assert "2 runs in" in answer.output
    page = (tmp_path / "results" / "tiny" / "report" / "report.html").read_text(encoding="utf-8")
    assert "Agreement with the paper" in page
    assert call("report", tmp_path / "results" / "tiny", "--out", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "tables" / "inertia.tex").exists()


def test_the_plans_are_listed():
    answer = call("plans")
    assert answer.exit_code == 0
    assert "paper-col1" in answer.output


def test_what_is_not_there_is_named(tmp_path):
    answer = call("run", "nonsense")
    assert answer.exit_code == 2
    assert "smoke" in answer.output
    answer = call("report", tmp_path)
    assert answer.exit_code == 2
    assert "no results in" in answer.output
