"""Proving and checking bounds, as a user types it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from kempe.cli import app
from kempe.proof import OptimalityCertificate
from kempe.proof.certificate import Multipliers, Node, Part, data_hash
from kempe.proof.checking import prove

X = np.array([[0.0, 0.0], [1.0, 0.0], [8.0, 0.0], [9.0, 1.0], [9.0, 0.0], [20.0, 0.0]])
LABELS = np.array([0, 0, 1, 1, 1, 2], dtype=np.int32)
CANNOT_LINK = np.array([[0, 2], [2, 5]])


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run ``kempe`` in a folder with data, pairs and a certificate that proves little."""
    monkeypatch.chdir(tmp_path)
    np.savetxt("data.csv", X, delimiter=",")
    np.savetxt("apart.csv", CANNOT_LINK, fmt="%d", delimiter=",")
    Path("labels.csv").write_text("label\n" + "\n".join("abc"[label] for label in LABELS))
    slack = np.zeros((6, 6), dtype=np.float32)
    parts = (Part(np.arange(6), (Node(None, "bound", multipliers=Multipliers(slack)),)),)
    data = (X, np.ones(6), np.empty((0, 2), dtype=int), CANNOT_LINK)
    proven = prove(*data, 3, LABELS, parts)
    bounds = {"lower_bound": proven.lower_bound, "inertia": proven.inertia}
    OptimalityCertificate(LABELS, 3, parts, data_hash=data_hash(*data, 3), **bounds).save(
        "proof.kempe"
    )

    def invoke(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return invoke


def test_a_certificate_is_verified(run):
    result = run("verify", "proof.kempe", "data.csv", "--cannot-link", "apart.csv", "--json")
    assert result.exit_code == 0, result.output
    assert "verified" in result.stderr
    figures = json.loads(result.stdout)
    assert figures["inertia"] == pytest.approx(0.5 + 4 / 3)
    assert 0 <= figures["lower_bound"] <= figures["inertia"]


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["proof.kempe", "data.csv"], 1, "other data"),
        (["proof.kempe", "data.csv", "--cannot-link", "apart.csv", "--standardise"], 1, "other"),
        (["data.csv", "data.csv"], 2, "not a kempe certificate"),
        (["nowhere.kempe", "data.csv"], 2, "nowhere.kempe"),
    ],
)
def test_what_does_not_hold_is_said_in_one_line(run, arguments, code, reason):
    result = run("verify", *arguments)
    assert result.exit_code == code, result.output
    assert reason in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_labels_are_certified_and_the_certificate_is_verified(run):
    pairs = ["--cannot-link", "apart.csv"]
    result = run("certify", "data.csv", "labels.csv", *pairs, "-o", "new.kempe", "--json")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["optimal"]
    assert figures["lower_bound"] == pytest.approx(0.5 + 4 / 3, rel=1e-4)
    assert "optimal" in result.stderr
    assert run("verify", "new.kempe", "data.csv", *pairs).exit_code == 0


def test_without_labels_a_search_comes_first_and_labels_are_written(run):
    options = ["-k", 3, "--cannot-link", "apart.csv", "--labels-output", "found.csv", "-q"]
    result = run("certify", "data.csv", *options)
    assert result.exit_code == 0, result.output
    assert result.output == ""
    found = np.loadtxt("found.csv", skiprows=1, dtype=int)
    np.testing.assert_array_equal(found[:, None] == found, LABELS[:, None] == LABELS)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["data.csv"], "--n-clusters"),
        (["data.csv", "apart.csv"], "one column"),
        (["data.csv", "short.csv"], "2 labels"),
        (["data.csv", "labels.csv", "-o", "nowhere/proof.kempe"], "no folder"),
        (["data.csv", "labels.csv", "--must-link", "apart.csv"], "must-link"),
    ],
)
def test_what_cannot_be_certified_is_said_in_one_line(run, arguments, reason):
    Path("short.csv").write_text("label\n0\n1\n")
    result = run("certify", *arguments)
    assert result.exit_code == 2, result.output
    assert reason in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_what_counts_as_optimal_is_said_by_the_verifier_not_by_the_file(run):
    claimed = OptimalityCertificate.load("proof.kempe")
    replace(claimed, gap_wanted=1.0).save("proof.kempe")
    given = ["verify", "proof.kempe", "data.csv", "--cannot-link", "apart.csv", "--json"]
    figures = json.loads(run(*given).stdout)
    assert figures["gap"] > 1e-4
    assert figures["optimal"] is False
    assert json.loads(run(*given, "--gap", 1).stdout)["optimal"] is True


def test_limits_and_soft_pairs_are_part_of_a_certificate(run):
    Path("soft.csv").write_text(
        "first,second,kind\n0,1,must-link\n1,2,must-link\n3,4,cannot-link\n"
    )
    problem = ["--soft", "soft.csv", "--size-min", 2, "--size-max", 2]
    made = ["-k", 3, "--soft-price", 2.5, "-o", "new.kempe", "--json", *problem]
    result = run("certify", "data.csv", *made)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["objective"] == pytest.approx(figures["inertia"] + 2.5)
    assert figures["optimal"]
    assert "with the prices of 1 broken of 3 soft pairs" in result.stderr
    result = run("verify", "new.kempe", "data.csv", "--json", *problem)
    assert result.exit_code == 0, result.output
    assert "verified: inertia and prices" in result.stderr
    assert "no clustering into 3 clusters below" in result.stderr
    assert "soft pairs cost 2.5 to 2.5" in result.stderr
    assert json.loads(result.stdout)["n_clusters"] == 3
    assert json.loads(result.stdout)["lower_bound"] == figures["lower_bound"]
    assert run("verify", "new.kempe", "data.csv", *problem[:2]).exit_code == 1
    assert run("verify", "new.kempe", "data.csv", *problem[2:]).exit_code == 1
