"""Downloads, from a server on this machine that has the layout of the public ones."""

import dataclasses
import functools
import gzip
import http.server
import io
import struct
import tarfile
import threading
import urllib.parse
import zipfile

import numpy as np
import pytest

from kempe import datasets
from kempe.datasets import download, sources
from kempe.datasets.catalogue import find
from kempe.datasets.scaling import partition_inertia


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder that is served as the mirror of the internet."""
    root = tmp_path / "site"
    root.mkdir()
    handler = functools.partial(QuietHandler, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv("KEMPE_MIRROR", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KEMPE_DATA", raising=False)
    yield root
    server.shutdown()
    server.server_close()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def put(root, url, content):
    path = root / url.removeprefix("https://")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def zipped(name, content):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


TABLE = "@relation x\n@attribute a real\n@data\n1.5, Present, b\n2, Absent, a\n3, Absent, b\n"


def check_table(X, y):
    np.testing.assert_array_equal(X, [[1.5, 1], [2, 0], [3, 0]])
    assert y.tolist() == [0, 1, 0]


def test_keel_archives_are_read(site):
    put(site, f"{download._KEEL_SITE}/saheart.zip", zipped("saheart.dat", TABLE))
    check_table(*download.features(find("saheart")))


def test_the_second_source_is_asked_when_the_first_fails(site):
    put(site, f"{download._KEEL_MIRROR}/saheart/saheart.dat", TABLE.encode())
    check_table(*download.features(find("saheart")))


def test_an_unreachable_source_is_named(site):
    with pytest.raises(OSError, match=r"saheart\.zip.*404.*saheart\.dat"):
        download.features(find("saheart"))


def test_soybean_and_the_toys_are_tables_without_a_head(site):
    put(site, f"{download._UCI}/soybean/soybean-small.data", b"4,0,D1\n3,1,D2\n")
    put(site, f"{download._TOYS}/moons_toydataset.txt", b"1.5e+00, 2.0, 1.0\n0, 1, 0.0\n")
    X, y = download.features(find("soybean"))
    assert X.tolist() == [[4, 0], [3, 1]]
    assert y.tolist() == [0, 1]
    X, y = download.features(find("moons"))
    assert X.tolist() == [[1.5, 2], [0, 1]]
    assert y.tolist() == [0, 1]


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes())


def test_mnist_has_the_training_images_first(site):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (5, 4, 3))
    labels = np.array([5, 0, 5, 9, 0])
    for part, rows in (("train", slice(0, 3)), ("t10k", slice(3, 5))):
        put(site, f"{download._MNIST[1]}/{part}-images-idx3-ubyte.gz", idx(images[rows]))
        put(site, f"{download._MNIST[1]}/{part}-labels-idx1-ubyte.gz", idx(labels[rows]))
    X, y = download.features(find("mnist"))
    np.testing.assert_array_equal(X, images.reshape(5, 12))
    assert y.tolist() == [0, 1, 0, 2, 1]


def cifar_records(n_labels):
    """A few images as the authors of CIFAR store them: labels, the fine one last, 3,072 values."""
    rng = np.random.default_rng(0)
    records = rng.integers(0, 256, (6, n_labels + 3072)).astype(np.uint8)
    records[:, 0] = 7
    records[:, n_labels - 1] = np.arange(6) % 3
    return records


CIFAR_FILES = {
    "cifar10": {"data_batch_2.bin": (4, 6), "data_batch_1.bin": (2, 4), "test_batch.bin": (0, 2)},
    "cifar100": {"train.bin": (2, 6), "test.bin": (0, 2)},
}


def cifar_archive(name, records):
    """The archive of such images, in which training images may come first."""
    folder = {"cifar10": "cifar-10-batches-bin", "cifar100": "cifar-100-binary"}[name]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for file, (begin, end) in {**CIFAR_FILES[name], "readme.html": (0, 0)}.items():
            content = records[begin:end].tobytes()
            member = tarfile.TarInfo(f"{folder}/{file}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


CIFAR = pytest.mark.parametrize(("name", "n_labels"), [("cifar10", 1), ("cifar100", 2)])


@CIFAR
def test_cifar_has_the_test_images_first(site, name, n_labels):
    records = cifar_records(n_labels)
    url = f"{download._CIFAR}/cifar-{name[5:]}-binary.tar.gz"
    put(site, url, cifar_archive(name, records))
    X, y = download.features(find(name))
    np.testing.assert_array_equal(X, records[:, n_labels:])
    fine = records[:, n_labels - 1]
    np.testing.assert_array_equal(y[:, None] == y, fine[:, None] == fine)


@CIFAR
def test_an_archive_in_the_users_folder_is_read_as_it_is(tmp_path, name, n_labels):
    records = cifar_records(n_labels)
    X, y = records[:, n_labels:], records[:, n_labels - 1]
    folder = tmp_path / "COL4"
    folder.mkdir()
    (folder / f"cifar-{name[5:]}-binary.tar.gz").write_bytes(cifar_archive(name, records))
    small = {"n_rows": 6, "n_clusters": 3, "true_inertia": partition_inertia(X, y)}
    facts = dataclasses.replace(find(name), **small)
    found = sources.raw(facts, tmp_path, allow_download=False)
    assert found.origin.endswith("-binary.tar.gz")
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, y)
    with pytest.raises(ValueError, match="rows, features and clusters"):
        sources.raw(find(name), tmp_path, allow_download=False)


# scikit-learn carries breast_cancer.
NOT_GENERATED = {*datasets.names("COL1"), *datasets.names("COL4")} - {"COL1/breast_cancer"}


@pytest.mark.parametrize("name", sorted(NOT_GENERATED))
def test_a_set_that_is_nowhere_is_an_error_that_says_where_it_is_published(name, tmp_path):
    with pytest.raises(datasets.DataNotFoundError, match="It is published as https://"):
        sources.raw(find(name), tmp_path, allow_download=False)


def test_constraint_matrices_give_the_pairs_of_their_upper_triangle(site):
    matrix = b" 1 0 -1\n 0 1 1\n -1 1 1\n"
    put(site, f"{download._CONSTRAINT_SETS}/wine(0.10).txt", matrix)
    must, cannot = download.constraint_set(find("wine"), 0.1)
    assert must.tolist() == [[1, 2]]
    assert cannot.tolist() == [[0, 2]]


def publish(site, shared, name):
    """Put a stored set on the server in the form of the public sources."""
    folder = shared / "data" / "COL1"
    stored = np.load(folder / f"{name}.npz")
    rows = [
        ", ".join([*map(repr, x.tolist()), str(label)])
        for x, label in zip(stored["X"], stored["classes"][stored["y"]], strict=True)
    ]
    put(site, f"{download._KEEL_SITE}/{name}.zip", zipped(f"{name}.dat", "\n".join(rows)))
    pairs = np.load(folder / f"{name}_constraints.npz")
    for level in datasets.levels("COL1"):
        matrix = np.eye(len(rows), dtype=int)
        for sign, kind in ((1, "ml"), (-1, "cl")):
            first, second = pairs[f"{kind}_{level}"].T
            matrix[first, second] = matrix[second, first] = sign
        buffer = io.StringIO()
        np.savetxt(buffer, matrix, fmt="%5d")
        url = f"{download._CONSTRAINT_SETS}/{name}({level:.2f}).txt"
        put(site, url, buffer.getvalue().encode())


@pytest.mark.parametrize("name", ["haberman", "zoo", "wine"])
def test_a_downloaded_set_equals_the_stored_one_and_is_kept(site, shared, name):
    publish(site, shared, name)
    expected = datasets.load(name, 0.15, data_home=shared / "data")
    for origin in ("download", "cache"):
        data = datasets.load(name, 0.15)
        assert origin in data.origin
        np.testing.assert_array_equal(data.X, expected.X)
        np.testing.assert_array_equal(data.y, expected.y)
        assert data.constraints == expected.constraints


def test_a_download_in_another_row_order_is_refused(site, shared, tmp_path):
    publish(site, shared, "zoo")
    stored = np.load(shared / "data" / "COL1" / "zoo.npz")
    rows = [
        ",".join([*map(str, x.tolist()), str(label)])
        for x, label in zip(stored["X"][::-1], stored["y"][::-1], strict=True)
    ]
    put(site, f"{download._KEEL_SITE}/zoo.zip", zipped("zoo.dat", "\n".join(rows)))
    with pytest.raises(ValueError, match="contradict its labels"):
        datasets.load("zoo", 0.1)
    assert not list((tmp_path / "cache").rglob("*.npz"))


def test_a_large_set_in_another_row_order_is_refused_before_it_is_kept(site, shared, tmp_path):
    stored = np.load(shared / "data" / "COL4" / "banana.npz")
    rows = [
        ",".join([*map(repr, x.tolist()), str(label)])
        for x, label in zip(stored["X"][::-1], stored["y"][::-1], strict=True)
    ]
    put(site, f"{download._KEEL_SITE}/banana.zip", zipped("banana.dat", "\n".join(rows)))
    with pytest.raises(ValueError, match="labels or row order differ"):
        datasets.load("banana")
    assert not list((tmp_path / "cache").rglob("*.npz"))


def test_breast_cancer_comes_with_scikit_learn(site):
    X, y = download.features(find("breast_cancer"))
    assert (X.shape, np.bincount(y).tolist()) == ((569, 30), [212, 357])
    datasets.sources.check_content(find("breast_cancer"), X, y)


def test_spaces_in_an_address_are_quoted(monkeypatch):
    monkeypatch.delenv("KEMPE_MIRROR", raising=False)
    address = download._address("https://host/raw data/x(0.05).txt")
    assert address == "https://host/raw%20data/x%280.05%29.txt"
    assert urllib.parse.unquote(address) == "https://host/raw data/x(0.05).txt"
