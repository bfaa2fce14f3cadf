"""Files of pairs on the command line: several, of several forms, from standard input."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from kempe.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = ["ann,0", "bob,1", "cid,2", "dot,8", "eve,9", "fay,10"]
    Path("people.csv").write_text("who,x\n" + "".join(f"{line}\n" for line in people))

    def invoke(*arguments, code=0, stdin=None):
        done = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
        assert done.exit_code == code, done.output
        return done

    return invoke


FIT = ("fit", "people.csv", "-k", 2, "--id-column", "who", "-o", "-")


def labels(done):
    return dict(line.split(",") for line in done.stdout.split())


@pytest.mark.parametrize("option", ["--must-link", "--cannot-link", "--constraints", "--groups"])
def test_every_option_for_files_of_pairs_can_be_repeated(run, option):
    first, second = ("ann,eve", "bob,fay"), ("cid,dot",)
    forms = {"--constraints": "{},cannot-link", "--groups": "{}"}
    for name, pairs in (("one.csv", first), ("two.csv", second)):
        if option == "--groups":
            rows = [f"{pair},{who}" for pair in pairs for who in pair.split(",")]
            rows = [f"{row.replace(',', '-', 1)}" for row in rows]
        else:
            rows = [forms.get(option, "{}").format(pair) for pair in pairs]
        Path(name).write_text("".join(f"{row}\n" for row in rows))
    done = run(*FIT, option, "one.csv", option, "two.csv")
    found = labels(done)
    together = option in ("--must-link", "--groups")
    for pair in (*first, *second):
        one, other = pair.split(",")
        assert (found[one] == found[other]) == together
    kind = "3 must-link and 0 cannot-link" if together else "0 must-link and 3 cannot-link"
    assert f"{kind} pairs on 6 of 6 rows, all satisfied" in done.stderr


def test_files_of_all_forms_are_joined(run):
    Path("ml.txt").write_text("ann fay\n")
    Path("typed.csv").write_text("a,b,type\nann,bob,-1\ncid,bob,1\n")
    Path("houses.csv").write_text("house,who\n1,dot\n1,eve\n2,fay\n")
    done = run(
        *FIT, "--must-link", "ml.txt", "--constraints", "typed.csv", "--groups", "houses.csv"
    )
    found = labels(done)
    assert found["ann"] == found["fay"] != found["bob"] == found["cid"]
    assert found["dot"] == found["eve"]
    assert "3 must-link and 1 cannot-link" in done.stderr


@pytest.fixture
def houses(run):
    """Four rows in two houses that lie across the clusters, one alone in its house, one in none."""
    where = {"ann": "A", "bob": "", "cid": "B", "dot": "B", "eve": "A", "fay": "C"}
    lines = Path("people.csv").read_text().split()
    rows = [f"{line},{where.get(line.split(',')[0], 'house')}" for line in lines]
    Path("people.csv").write_text("\n".join(rows) + "\n")
    Path("houses.csv").write_text("".join(f"{at or '?'},{who}\n" for who, at in where.items()))


@pytest.mark.usefixtures("houses")
def test_a_column_of_groups_does_what_a_file_of_groups_does(run):
    by_column = run(*FIT, "--groups-column", "house")
    found = labels(by_column)
    assert found["ann"] == found["eve"]
    assert found["cid"] == found["dot"]
    assert by_column.stdout == run(*FIT, "--ignore", "house", "--groups", "houses.csv").stdout
    assert "groups: 4 of 6 rows are in 2 groups of two or more by 'house'" in by_column.stderr
    assert "2 must-link and 0 cannot-link pairs on 4 of 6 rows, all satisfied" in by_column.stderr


@pytest.mark.usefixtures("houses")
def test_groups_of_a_column_join_pairs_and_are_checked(run):
    Path("apart.csv").write_text("ann,cid\ndot,eve\n")
    options = ("people.csv", "--id-column", "who", "--groups-column", "house")
    found = labels(run(*FIT, "--groups-column", "house", "--cannot-link", "apart.csv"))
    assert found["ann"] == found["eve"] != found["cid"] == found["dot"]
    done = run("check", *options, "-k", 2, "--cannot-link", "apart.csv")
    assert "2 must-link and 2 cannot-link pairs on 4 of 6 rows" in done.stdout
    Path("apart.csv").write_text("ann,eve\n")
    done = run("check", *options, "-k", 2, "--cannot-link", "apart.csv", code=3)
    assert "ann" in done.stderr
    done = run("relax", *options, "-k", 2, "--cannot-link", "apart.csv")
    assert "ann eve" in done.stdout


@pytest.mark.usefixtures("houses")
@pytest.mark.parametrize("command", [("certify", "-k", 2), ("choose-k", "--from", 2, "--to", 2)])
def test_other_commands_take_a_column_of_groups(run, command):
    """The inertia that they tell is that under the groups, which is not that without them."""
    name, *options = command
    told = run(name, "people.csv", "--id-column", "who", "--groups-column", "house", *options)
    inertia = {
        option: run(*FIT, option, "house").stderr.split("inertia")[1].split()[0]
        for option in ("--groups-column", "--ignore")
    }
    assert inertia["--groups-column"] in told.output.split()
    assert inertia["--ignore"] not in told.output.split()


def test_one_file_comes_from_standard_input_and_not_two(run):
    Path("more.csv").write_text("cid,dot\n")
    done = run(*FIT, "--cannot-link", "-", "--cannot-link", "more.csv", stdin="ann,bob\n")
    found = labels(done)
    assert found["ann"] != found["bob"]
    assert found["cid"] != found["dot"]
    done = run(*FIT, "--cannot-link", "-", "--must-link", "-", stdin="ann,bob\n", code=2)
    assert "only once" in done.stderr


def test_a_plan_may_name_several_files(run):
    from kempe.cli.own import _options

    Path("a.csv").write_text("0,1\n")
    item = {"name": "p", "file": "people.csv", "n_clusters": 2, "cannot_link": "a.csv"}
    assert _options(item, Path())[1].files == [Path("a.csv")]
    several = _options(item | {"cannot_link": ["a.csv", "b.csv"]}, Path())[1]
    assert several.files == [Path("a.csv"), Path("b.csv")]
