"""The three sentences at the top of a report, on runs worked by hand."""

from experiments.story import findings
from experiments.tables import build_tables
from kempe import datasets
from kempe.bench import Record, Task
from kempe.bench.summary import Summary

NAMES = datasets.names("COL2")[:12]


def run(name, method, inertia, seconds=1.0, **outcome):
    task = Task("main", name, 0.05, method, 0)
    status = "ok" if inertia else "failed"
    return Record.of(task, status, inertia=inertia, cpu_s=seconds, wall_s=seconds, **outcome)


def told(records):
    summary = Summary(records)
    return findings(summary, [table for table in build_tables(summary) if table.has_runs])


def test_the_sentences_tell_of_our_method_of_the_paper_and_of_failures():
    records = [run(name, "KSKM", 100.0) for name in NAMES]
    records += [run(name, "kempe", 98.0, 0.5) for name in NAMES[1:]]
    records += [run(NAMES[0], "kempe", 101.0, 0.5)]
    records += [run(name, "COPKM", 99.0) for name in NAMES[:3]]
    records += [run(name, "COPKM", None, reason="no solution") for name in NAMES[3:]]
    records += [run(NAMES[0], "PCCC", 100.0, stop_reason="time_limit")]
    ours, paper, failures = told(records)
    assert "On 12 instances" in ours
    assert "1.75 % below that of KSKM on average (at most 2 %, and above it on 1)" in ours
    assert "for 0.5 times its CPU time" in ours
    assert "lowest mean of all methods on 11." in ours
    assert "none of its cells that were run" in paper  # no row has all its data sets
    assert failures.endswith(
        "fail to find a clustering: COPKM (75 % of its runs); "
        "the time limit cuts short PCCC (100 %)."
    )


def test_few_instances_make_no_story():
    assert told([run(NAMES[0], method, 1.0) for method in ("kempe", "KSKM")]) == []
