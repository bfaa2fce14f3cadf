"""Inputs that are wrong in some way, with what a person sees: command, message, exit code.

``test_bad_inputs.py`` runs them all. As a program, this writes the table of the documentation::

    python tests/cli/bad_inputs.py > docs/_generated/bad_inputs.md
"""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import sys
import tempfile
from contextlib import chdir
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from typer.testing import CliRunner

from kempe.cli import app

ROWS = "1,2\n1.1,2\n5,6\n5.2,6.1\n9,9\n"
CUSTOMERS = """\
customer,age,income,city,segment,weight
ann,31,2000,Rome,gold,1
bob,45,,Oslo,?,2
cid,29,1800,Rome,NA,1
dora,51,4100,Oslo,silver,-3
eva,NA,3900,Bonn,,1
"""
# A graph of cannot-link pairs that needs four clusters, without four rows that exclude each other.
WHEEL = "".join(f"0,{i}\n{i},{i % 5 + 1}\n" for i in range(1, 6))


def packed(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def array(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


FILES: dict[str, str | bytes] = {
    "data.csv": "a,b\n" + ROWS,
    "customers.csv": CUSTOMERS,
    "empty.csv": "",
    "names.csv": "a,b\n",
    "ragged.csv": "a,b,c\n1,2,3\n4,5,6,7\n8,9,1\n",
    "typo.csv": "a,b\n1,2\n3,4\n5,6O\n",
    "comma.csv": "a;b\n1,500;2,500\n2,500;3,500\n",
    "mixed.csv": "a;b\n1,5;2.500\n2,5;3.500\n",
    "dates.csv": "a,day\n1,2024-01-05\n2,2024-01-06\n3,2024-01-06\n",
    "money.csv": "a;price\n1;1.200 €\n2;900 €\n3;900 €\n",
    "infinite.csv": "a,b\n1,2\ninf,3\n4,5\n",
    "years.csv": "2019,2020,2021\n1.5,2.5,3.5\n2.5,1.5,0.5\n",
    "twice.csv": "a,a\n1,2\n3,4\n",
    "blank.csv": "a,b\n1,\n2,\n3,\n",
    "unknown.csv": "a,b,kind\n1,2,?\n3,4,NA\n",
    "classes.csv": "a,kind\n1,oak\n2,fir\n3,tbd\n4,oak\n5,\n",
    "same-id.csv": "id,a\nx,1\ny,2\nx,3\n",
    "no-id.csv": "id,a\nx,1\n,2\nz,3\n",
    "polish.csv": "wąż,b\n1,2\n3,4\n".encode("cp1250"),
    "half.csv.gz": packed("a,b\n" + ROWS)[:-12],
    "binary.csv": b"\x00\x01\x02\x03",
    "old.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    "two.npz": array(features=np.ones((3, 2)), target=np.ones(3)),
    "cube.npz": array(X=np.ones((2, 2, 2))),
    "objects.npz": array(X=np.array([[1, "x"], [2, None]], dtype=object)),
    "other.zip": b"PK\x03\x04nonsense",
    "broken.parquet": b"PAR1nonsense",
    "one-line.csv": "ann,bob\n",
    "together.csv": "0,1\n",
    "triangle.csv": "first,second\n0,1\n0,2\n1,2\n",
    "wheel.csv": WHEEL,
    "far.csv": "first,second\n0,1\n0,99\n",
    "half-row.csv": "first,second\n0,1\n1,2\n0,1.5\n",
    "negative.csv": "first,second\n0,-1\n",
    "itself.csv": "first,second\n0,1\n3,3\n",
    "three.csv": "0,1,2\n",
    "weighted.csv": "a,b,sure\n0,1,0.8\n",
    "by-id.csv": "first,second\nann,bob\nann,zoe\n",
    "apart-by-id.csv": "ann,cid\n",
    "together-by-id.csv": "ann,bob\nbob,cid\n",
    "soft.json": json.dumps({"ml": [[0, 1]], "sml": [[1, 2]], "sml_proba": [0.8]}),
    "odd.json": json.dumps({"pairs": [[0, 1]]}),
    "far.json": json.dumps({"ml": [[0, 1], [0, 99]], "cl": []}),
    "broken.json": '{"ml": [[0, 1]',
    "seedless.toml": '[[experiment]]\nmethods = ["kempe"]\ndatasets = ["COL1/iris"]\nseeds = 0\n',
}


class BadInput(NamedTuple):
    """A command that must fail, with a part of its message, and its exit code."""

    command: str
    message: str
    code: int = 2
    stdin: str | None = None


CASES = [
    # How it is called
    BadInput("fti data.csv", "No such command 'fti'"),
    BadInput("fit", "Missing argument 'DATA'"),
    BadInput("fit data.csv", "Missing option '--n-clusters'"),
    BadInput("fit data.csv -k two", "Invalid value for '--n-clusters'"),
    BadInput("fit data.csv -k 0", "Invalid value for '--n-clusters'"),
    BadInput("fit data.csv -k 2 --metod kempe", "No such option: --metod"),
    BadInput("fit data.csv -k 2 --method KMeens", "unknown method 'KMeens'"),
    BadInput("fit data.csv -k 2 --method copkm --n-init 3", "the method COPKM has no --n-init"),
    BadInput("fit data.csv -k 2 --time-limit 0", "not a positive number of seconds"),
    BadInput("fit data.csv -k 2 --impute zero", "'zero' is not one of"),
    BadInput("fit data.csv -k 9", "n_samples=5 should be at least n_clusters=9"),
    BadInput("fit data.csv -k 2 -o data.csv", "data.csv would be overwritten"),
    BadInput("fit data.csv -k 2 -o nowhere/labels.csv", "there is no folder nowhere"),
    BadInput("fit data.csv -k 2 -o labels.feather", "tables are written as .csv or .tsv"),
    BadInput("fit - -k 2 --must-link -", "standard input (-) can be read only once"),
    # The table
    BadInput("fit nowhere.csv -k 2", "nowhere.csv: No such file or directory"),
    BadInput("fit . -k 2", ".: Is a directory"),
    BadInput("fit empty.csv -k 2", "empty.csv is empty"),
    BadInput("fit - -k 2", "standard input is empty", stdin=""),
    BadInput("fit names.csv -k 2", "names.csv has names of columns but no rows"),
    BadInput("fit ragged.csv -k 2", "line 3: 4 cells, but the first line has 3"),
    BadInput("fit ragged.csv -k 2 --ignore c", "line 3: 4 cells, but the first line has 3"),
    BadInput("fit typo.csv -k 2", "'6O' in line 4 is not a finite number"),
    BadInput("fit comma.csv -k 2", "say --decimal , if it is 1.500, or the other mark if"),
    BadInput("fit mixed.csv -k 2", "'b': points or commas that may be decimal marks or not"),
    BadInput("fit dates.csv -k 2", "dates, such as '2024-01-05' in line 2"),
    BadInput("fit money.csv -k 2", "amounts of money, such as '1.200 €' in line 2"),
    BadInput("fit 'rows-*.csv' -k 2", "there is no file rows-*.csv"),
    BadInput("fit data.csv -k 2 --encoding klingon", "there is no encoding 'klingon'"),
    BadInput("fit data.csv -k 2 --decimal x", "'x' is not one of"),
    BadInput("fit infinite.csv -k 2", "'inf' in line 3 is not a finite number"),
    BadInput("fit years.csv -k 2", "the first line, 2019,2020,2021, may hold names or values"),
    BadInput("fit twice.csv -k 2", "has 2 columns 'a'"),
    BadInput("fit blank.csv -k 2 --impute mean", "'b': no value at all"),
    BadInput("fit polish.csv -k 2", "or say --encoding, for example cp1250"),
    BadInput("fit half.csv.gz -k 2", "half.csv.gz is damaged"),
    BadInput("fit binary.csv -k 2", "binary.csv is neither text nor a table"),
    BadInput("fit old.xls -k 2", "save it as .xlsx or CSV"),
    BadInput("fit two.npz -k 2", "holds the arrays features, target"),
    BadInput("fit cube.npz -k 2", "an array of shape (2, 2, 2)"),
    BadInput("fit objects.npz -k 2", "X.npy holds Python objects"),
    BadInput("fit other.zip -k 2", "other.zip cannot be read"),
    BadInput("fit broken.parquet -k 2", "broken.parquet cannot be read"),
    # Its columns
    BadInput("fit customers.csv -k 2", "customers.csv has 5 columns that cannot be used"),
    BadInput("fit customers.csv -k 2 --id-column client", "has no column 'client'"),
    BadInput(
        "fit customers.csv -k 2 --id-column city --ignore customer", "2 ids stand for several rows"
    ),
    BadInput("fit same-id.csv -k 2 --id-column id", "same-id.csv, line 2; same-id.csv, line 4"),
    BadInput("fit no-id.csv -k 2 --id-column id", "line 3: the id in column 'id' is missing"),
    BadInput(
        "fit customers.csv -k 2 --id-column customer --encode customer",
        "named twice: by --id-column and by --encode",
    ),
    BadInput(
        "fit customers.csv -k 2 --id-column customer --encode city --impute mean "
        "--ignore segment --weights-column weight",
        "line 5: the weight is -3, which is negative",
    ),
    BadInput(
        "fit customers.csv -k 2 --columns age --impute mean --groups-column customer",
        "the column 'customer' has no two rows in one group",
    ),
    BadInput("check -k 2 --groups-column kind", "--groups-column is a column of the data"),
    BadInput("relax -k 2 --groups-column kind", "--groups-column is about the rows of the data"),
    BadInput("relax -k 2 --labels-column kind", "--labels-column is about the rows of the data"),
    BadInput(
        "fit customers.csv -k 2 --id-column customer --groups-column customer",
        "named twice: by --id-column and by --groups-column",
    ),
    BadInput("fit unknown.csv -k 2 --labels-column kind", "the column 'kind' has no known label"),
    BadInput(
        "fit classes.csv -k 2 --labels-column kind",
        "has 3 classes, which need a cluster each, more than 2: oak (2), fir (1), tbd (1)",
        3,
    ),
    # Pairs
    BadInput("fit data.csv -k 2 --must-link empty.csv", "empty.csv is empty: it holds no pair"),
    BadInput(
        "fit data.csv -k 2 --must-link one-line.csv",
        "one-line.csv holds no pair: its only line, 'ann,bob', was taken for the names",
    ),
    BadInput("fit data.csv -k 2 --must-link three.csv", "need two columns, found 3"),
    BadInput("fit data.csv -k 2 --cannot-link far.csv", "far.csv, line 3: row 99 is out of range"),
    BadInput(
        "fit data.csv -k 2 --must-link half-row.csv",
        "half-row.csv, line 4: 1.5 is no row number",
    ),
    BadInput("fit data.csv -k 2 --must-link negative.csv", "line 2: -1 is no row number"),
    BadInput("fit data.csv -k 2 --cannot-link itself.csv", "line 3: a row cannot be apart from"),
    BadInput("fit data.csv -k 2 --must-link by-id.csv", "line 2: 'ann' is not a row number"),
    BadInput(
        "fit customers.csv -k 2 --id-column customer --ignore city --ignore segment --impute mean "
        "--must-link by-id.csv",
        "by-id.csv, line 3: no row of customers.csv has the id 'zoe'",
    ),
    BadInput(
        "fit data.csv -k 2 --must-link weighted.csv",
        """--constraints                three columns       ann,bob,must-link""",
    ),
    BadInput("fit data.csv -k 2 --constraints weighted.csv", "'0.8' says neither must-link"),
    BadInput("fit data.csv -k 2 --groups three.csv", "groups need two columns"),
    BadInput("fit data.csv -k 2 --must-link soft.json", "--constraints                three"),
    BadInput("fit data.csv -k 2 --method KSKM --constraints soft.json", "KSKM knows no soft pairs"),
    BadInput("fit data.csv -k 2 --constraints odd.json", "should hold ml, cl, sml, scl"),
    BadInput("fit data.csv -k 2 --constraints far.json", "'ml', pair 2: row 99 is out of range"),
    BadInput("fit data.csv -k 2 --constraints broken.json", "broken.json is not JSON"),
    # What cannot be
    BadInput(
        "fit data.csv -k 2 --must-link together.csv --cannot-link together.csv",
        "rows 0 and 1 cannot be linked, but must-link pairs join them",
        3,
    ),
    BadInput("fit data.csv -k 2 --cannot-link triangle.csv", "3 rows 0, 1, 2 are cannot-linked", 3),
    BadInput(
        "fit customers.csv -k 2 --id-column customer --ignore city --ignore segment --impute mean "
        "--must-link together-by-id.csv --cannot-link apart-by-id.csv",
        "must-link pairs join them: ann = bob = cid",
        3,
    ),
    BadInput("check -k 3 --cannot-link wheel.csv", "infeasible: 10 cannot-link pairs", 3),
    BadInput("check -k 2", "nothing to check"),
    BadInput(
        "fit data.csv -k 2 --cannot-link triangle.csv --method COPKM", "row 2 found no cluster", 4
    ),
    # Other commands
    BadInput("predict data.csv data.csv", "data.csv is damaged or not a kempe model"),
    BadInput("verify data.csv data.csv", "data.csv is damaged or not a kempe certificate"),
    BadInput("certify data.csv", "give a file of labels, or --n-clusters"),
    BadInput("bench run nonsense", "there is no plan nonsense; a plan is a TOML file"),
    BadInput("bench run seedless.toml", "an experiment without seeds has nothing to run"),
]


def make_files() -> None:
    """Write all files into the current folder."""
    for name, content in FILES.items():
        data = content if isinstance(content, bytes) else content.encode()
        Path(name).write_bytes(data)


def run(case: BadInput) -> tuple[int, str, BaseException | None]:
    """Run a command; give its exit code, what it says, and what it ended with."""
    arguments = shlex.split(case.command)
    done = CliRunner().invoke(app, arguments, input=case.stdin, prog_name="kempe")
    return done.exit_code, done.stderr, done.exception


def table() -> str:
    """Write the table of the documentation."""
    lines = ["| command | what it says | exit code |", "|---|---|---:|"]
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        make_files()
        for case in CASES:
            code, said, _ = run(case)
            command = f"`kempe {case.command}`"
            lines.append(f"| {command} | {_in_a_cell(said)} | {code} |")
    return "\n".join(lines) + "\n"


def _in_a_cell(said: str) -> str:
    """Leave out how to get help, which is the same everywhere."""
    kept = [line for line in said.splitlines() if line and not line.startswith(("Usage:", "Try "))]
    text = "<br>".join(escape(line.strip(), quote=False) for line in kept)
    return text.replace("|", "\\|").removeprefix("error: ").removeprefix("Error: ")


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "200")
    sys.stdout.write(table())
