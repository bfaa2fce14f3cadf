"""The plans of the paper."""

import pytest

from experiments.plans import names, plan_file
from kempe import datasets
from kempe.bench import load_plan


def test_all_plans_can_be_read():
    known = names()
    assert {"smoke", "paper-no-mutation", "paper-no-ml", "paper-repo", "paper-smde"} < set(known)
    for name in known:
        plan = load_plan(plan_file(name))
        assert plan.name == name
        assert plan.description
        assert plan.tasks()


def test_the_plans_of_the_paper_cover_all_cells_of_a_collection():
    for collection in (1, 2, 3, 4):
        tasks = load_plan(plan_file(f"paper-col{collection}")).tasks()
        cells = {(task.dataset, task.level) for task in tasks}
        facts = datasets.describe(f"COL{collection}/*")
        assert cells == {(item.key, level) for item in facts for level in item.counts}


def test_the_plan_of_all_tables_has_every_cell_once():
    tasks = load_plan(plan_file("paper-tables")).tasks()
    assert len({task.key for task in tasks}) == len(tasks)
    cells = {(task.variant, task.method, task.dataset, task.level) for task in tasks}
    for method in ("KSKM", "KSKM_E", "PCCC", "BLPKMCC", "COPKM_P", "COPKM"):
        for collection in ("COL1", "COL2", "COL3"):
            for facts in datasets.describe(f"{collection}/*"):
                assert {("main", method, facts.key, level) for level in facts.counts} <= cells


def test_an_unknown_plan_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="smoke"):
        plan_file("nonsense")


def test_a_plan_may_be_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("")
    assert plan_file(str(path)) == path
