"""Loading: sources in their order, checks, standardisation."""

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from kempe import datasets
from kempe.datasets import download
from kempe.datasets.catalogue import find
from kempe.datasets.scaling import partition_inertia


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """Keep the user's folders out of the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KEMPE_DATA", raising=False)
    monkeypatch.setenv("KEMPE_MIRROR", "http://127.0.0.1:9")


def test_the_catalogue_has_seventy_sets():
    assert len(datasets.names()) == 70
    assert [len(datasets.names(f"COL{i}")) for i in (1, 2, 3, 4)] == [25, 15, 24, 6]
    assert sum(len(facts.counts) for facts in datasets.describe()) == 364


def test_generated_sets_need_no_file_and_have_the_true_inertia():
    for name in ("COL2/n300-k20-s30", "COL3/n1000-k50"):
        data = datasets.load(name, 0.1)
        assert data.origin == "generated"
        assert partition_inertia(data.X, data.y) == pytest.approx(data.true_inertia, rel=1e-8)
        assert data.X.shape == (find(name).n_rows, 2)
        assert data.key == name


def test_the_collection_may_be_left_out_of_the_name():
    assert datasets.load("n500-k2").key == "COL3/n500-k2"


def test_without_a_level_there_are_no_constraints():
    constraints = datasets.load("COL3/n500-k2").constraints
    assert constraints.must_link.size == constraints.cannot_link.size == 0


def test_a_rounded_level_is_the_published_one():
    assert datasets.load("COL2/n300-k10-s10", 0.05 * 3).level == 0.15


def test_unknown_names_and_levels_are_refused():
    with pytest.raises(ValueError, match="unknown data set 'nonsense'"):
        datasets.load("nonsense")
    with pytest.raises(ValueError, match="unknown collection"):
        datasets.names("COL5")
    with pytest.raises(ValueError, match=r"not at 0\.3"):
        datasets.load("COL1/wine", 0.3)


def write_set(folder, key, X, y, **pairs):
    path = folder / f"{key}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, X=X, y=y)
    if pairs:
        np.savez(path.with_name(f"{path.stem}_constraints.npz"), **pairs)


def test_folders_come_in_the_order_argument_environment_cache(tmp_path, monkeypatch):
    data = datasets.load("COL3/n500-k2", standardise=False)
    places = [tmp_path / "argument", tmp_path / "environment", tmp_path / "cache" / "kempe"]
    monkeypatch.setenv("KEMPE_DATA", str(places[1]))
    for place in reversed(places):
        write_set(place, data.key, data.X, data.y)
        assert datasets.load(data.key, data_home=places[0]).origin.startswith(str(place))


def test_a_copy_of_another_shape_is_refused(tmp_path):
    data = datasets.load("COL3/n500-k2", standardise=False)
    write_set(tmp_path, data.key, data.X[:-1], data.y[:-1])
    with pytest.raises(ValueError, match="is not COL3/n500-k2"):
        datasets.load(data.key, data_home=tmp_path)


def test_a_copy_in_another_row_order_is_refused(tmp_path):
    data = datasets.load("COL3/n500-k2", standardise=False)
    write_set(tmp_path, data.key, data.X[::-1], data.y[::-1])
    with pytest.raises(ValueError, match="labels or row order differ"):
        datasets.load(data.key, 0.1, data_home=tmp_path)


def test_a_copy_with_another_content_is_refused(tmp_path):
    data = datasets.load("COL3/n500-k2", standardise=False)
    write_set(tmp_path, data.key, data.X.round(1), data.y)
    with pytest.raises(ValueError, match=r"another content.* instead of"):
        datasets.load(data.key, data_home=tmp_path)


def test_constraints_that_contradict_the_labels_are_refused(tmp_path):
    facts = find("breast_cancer")
    X, y = download.features(facts)
    must, cannot = (np.zeros((count, 2), dtype=int) for count in facts.counts[0.05])
    must[:, 1] = np.flatnonzero(y != y[0])[0]
    write_set(tmp_path, facts.key, X, y, **{"ml_0.05": must, "cl_0.05": cannot})
    with pytest.raises(ValueError, match=r"contradict its labels"):
        datasets.load(facts.key, 0.05, data_home=tmp_path)


def test_a_set_that_no_source_has_is_an_error_that_says_where_it_was_sought(tmp_path):
    with pytest.raises(datasets.DataNotFoundError, match=r"not allowed.*KEMPE_DATA"):
        datasets.load("COL4/shuttle", download=False, data_home=tmp_path)
    with pytest.raises(datasets.DataNotFoundError, match=r"127\.0\.0\.1:9.*shuttle"):
        datasets.load("COL4/shuttle")


def test_a_folder_without_the_constraints_of_collection_1_is_an_error(tmp_path):
    write_set(tmp_path, "COL1/breast_cancer", *download.features(find("breast_cancer")))
    with pytest.raises(datasets.DataNotFoundError, match=r"_constraints\.npz"):
        datasets.load("COL1/breast_cancer", 0.05, data_home=tmp_path)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standardisation_equals_that_of_scikit_learn(dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 255, (500, 7)).astype(np.uint8)
    X[:, 3] = 7
    expected = StandardScaler().fit_transform(X.astype(np.float64))
    scaled = datasets.standardise(X, dtype)
    assert scaled.dtype == dtype
    assert not scaled[:, 3].any()
    np.testing.assert_allclose(scaled, expected, atol=1e-6 if dtype == np.float32 else 1e-12)


def test_a_constant_column_of_an_awkward_number_becomes_zero():
    X = np.full((1000, 1), 0.1)
    assert not datasets.standardise(X).any()


def test_standardising_in_blocks_gives_the_same(monkeypatch):
    X = np.random.default_rng(1).normal(3, 9, (333, 5))
    y = np.arange(333) % 4
    whole, inertia = datasets.standardise(X), partition_inertia(X, y)
    monkeypatch.setattr("kempe.datasets.scaling._BLOCK", 35)
    np.testing.assert_allclose(datasets.standardise(X), whole, atol=1e-12)
    assert partition_inertia(X, y) == pytest.approx(inertia, rel=1e-12)
    centres = [whole[y == c] - whole[y == c].mean(axis=0) for c in range(4)]
    assert inertia == pytest.approx(sum((part**2).sum() for part in centres), rel=1e-12)


@pytest.mark.slow
def test_all_stored_sets_agree_with_the_catalogue(shared):
    with open(shared / "data" / "ground_truth_inertia.csv", newline="") as file:
        known = {f"{row['collection']}/{row['name']}": row for row in csv.DictReader(file)}
    assert sorted(known) == sorted(datasets.names())
    for facts in datasets.describe():
        assert float(known[facts.key]["gt_inertia"]) == facts.true_inertia
        if facts.n_rows * facts.n_features > 10**6:
            continue
        for level in facts.counts:
            data = datasets.load(facts.key, level, data_home=shared / "data", download=False)
            check_agreement(data)
        assert partition_inertia(data.X, data.y) == pytest.approx(facts.true_inertia, rel=1e-7)


def check_agreement(data):
    y, must, cannot = data.y, data.constraints.must_link, data.constraints.cannot_link
    assert (y[must[:, 0]] == y[must[:, 1]]).all(), data.key
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all(), data.key


@pytest.mark.slow
def test_mnist_in_single_precision_never_exists_in_double(shared):
    """The peak is the float32 copy and the bytes, not the 439 MB of a float64 copy."""
    if not sys.platform.startswith("linux"):
        pytest.skip("peak memory is read from /proc")
    script = (
        "import json, re, numpy as np; from kempe import datasets\n"
        f"data = datasets.load('mnist', dtype=np.float32, data_home={str(shared / 'data')!r})\n"
        "status = open('/proc/self/status').read()\n"
        "peak = int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) / 1024\n"
        "print(json.dumps([str(data.X.dtype), peak]))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    dtype, peak = json.loads(answer.stdout)
    assert dtype == "float32"
    assert peak < 700
