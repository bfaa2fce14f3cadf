"""Plans: parsing, expansion, keys."""

import pytest

from kempe import datasets
from kempe.bench import Experiment, Plan, load_plan
from kempe.bench.plan import parse_plan

TEXT = """
name = "mine"
time_limit = 7
memory_limit = 512
seeds = 3

[[experiment]]
methods = ["KSKM", "COPKM"]
datasets = ["COL2/n300-k10-*"]
levels = [0.05, 0.5]

[[experiment]]
methods = ["KSKM"]
datasets = ["COL3/n500-k2"]
variant = "no-mutation"
seeds = [4]
time_limit = 9

[experiment.options.KSKM]
max_mutations = 0
"""


def test_a_plan_is_the_cross_of_methods_sets_levels_and_seeds():
    plan = parse_plan(TEXT)
    tasks = plan.tasks()
    assert plan.memory_limit == 512
    assert len(tasks) == 2 * 5 * 2 * 3 + 4
    assert len({task.key for task in tasks}) == len(tasks)
    assert {task.time_limit for task in tasks[:-4]} == {7}
    last = tasks[-1]
    assert last.key == "no-mutation|COL3/n500-k2|0.2|KSKM|4"
    assert last.options == {"max_mutations": 0}
    assert last.time_limit == 9
    assert [task.level for task in tasks[-4:]] == list(datasets.levels("COL3"))


def test_a_run_planned_twice_runs_once():
    experiment = Experiment(["KSKM"], ["COL3/n500-k2", "COL3/n500-*"], seeds=[0])
    assert len(Plan("p", [experiment, experiment]).tasks()) == 6 * 4


def test_a_run_planned_twice_with_different_settings_is_refused():
    plans = [Experiment(["KSKM"], ["COL3/n500-k2"], time_limit=limit) for limit in (1, 2)]
    with pytest.raises(ValueError, match="planned twice"):
        Plan("p", plans).tasks()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "mine"', 'name = "mine"\ncolour = 1', "unknown entries in the plan: colour"),
        ("seeds = [4]", "seed = 4", "unknown entries in the experiment: seed"),
        ("COL3/n500-k2", "COL3/n501-k2", "no data set matches"),
        ("time_limit = 9", "time_limit = 0", "time_limit must be positive"),
        ("options.KSKM", "options.PCCC", "options for methods that do not run: PCCC"),
        ("seeds = [4]", 'dtype = "int8"', "dtype must be"),
    ],
)
def test_mistakes_in_a_plan_are_named(old, new, message):
    with pytest.raises(ValueError, match=message):
        parse_plan(TEXT.replace(old, new))


def test_a_plan_can_be_restricted():
    plan = parse_plan(TEXT)
    small = plan.restricted(["KSKM"], ["COL2/*-s10", "COL2/*-s20"], seeds=2, time_limit=1.5)
    tasks = small.tasks()
    assert len(tasks) == 2 * 2 * 2
    assert {task.method for task in tasks} == {"KSKM"}
    assert {task.dataset for task in tasks} == {"COL2/n300-k10-s10", "COL2/n300-k10-s20"}
    assert {task.time_limit for task in tasks} == {1.5}
    assert plan.restricted().tasks() == plan.tasks()
    with pytest.raises(ValueError, match="nothing of the plan mine is left"):
        plan.restricted(["PCCC"])


def test_the_text_none_stands_for_none():
    plan = parse_plan(TEXT.replace("max_mutations = 0", 'patience = "None"'))
    assert plan.tasks()[-1].options == {"patience": None}


def test_a_plan_without_experiments_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        parse_plan('name = "empty"')


def test_a_plan_can_be_a_file(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(TEXT)
    assert load_plan(path).name == "mine"
    with pytest.raises(ValueError, match=r"no plan .*nonsense"):
        load_plan(tmp_path / "nonsense")
