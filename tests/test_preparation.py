"""What makes numbers of a table: by scikit-learn's transformers, kept as plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kempe.preparation import Preparation

NAMES = ["age", "city", "income", "grade"]
TABLE = np.array(
    [
        [31.0, "Rome", 2000.0, "b"],
        [45.0, "Oslo", np.nan, "a"],
        [np.nan, None, 1800.0, "a"],
        [51.0, "Rome", 4100.0, None],
    ],
    dtype=object,
)
SETTINGS = [
    {"impute": impute, "standardise": standardise}
    for impute in ("mean", "median", "most_frequent")
    for standardise in (False, True)
]


def plain_again(preparation: Preparation) -> Preparation:
    """Through JSON and back."""
    header, arrays = preparation.plain()
    return Preparation.from_plain(json.loads(json.dumps(header)), arrays)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_does_what_the_transformers_of_scikit_learn_do(settings):
    numbers = SimpleImputer(strategy=settings["impute"]).fit_transform(
        TABLE[:, [0, 2]].astype(float)
    )
    if settings["standardise"]:
        numbers = StandardScaler().fit_transform(numbers)
    words = TABLE[:, [1, 3]]
    if settings["impute"] == "most_frequent":
        chooser = SimpleImputer(strategy="most_frequent", missing_values=None)
        words = chooser.fit_transform(words)
    words = np.where(words == None, "(missing)", words)  # noqa: E711
    shares = OneHotEncoder(sparse_output=False).fit_transform(words)
    preparation = Preparation(NAMES, encode=["city", "grade"], **settings).fit(TABLE)
    np.testing.assert_array_equal(preparation.transform(TABLE), np.hstack([numbers, shares]))
    names = ["age", "income", "city=Oslo", "city=Rome", "grade=a", "grade=b"]
    if settings["impute"] != "most_frequent":
        names[2:2], names[5:5] = ["city=(missing)"], ["grade=(missing)"]
    assert preparation.get_feature_names_out().tolist() == names


def test_it_says_how_many_holes_were_filled_in_which_column():
    mean = Preparation(NAMES, encode=["city", "grade"], impute="mean").fit(TABLE)
    assert "SimpleImputer (mean): 1 in age, 1 in income;" in mean.summary()
    assert "a category of their own: 1 in city, 1 in grade;" in mean.summary()
    most = Preparation(NAMES, encode=["city", "grade"], impute="most_frequent").fit(TABLE)
    assert "(most_frequent): 1 in age, 1 in city, 1 in income, 1 in grade;" in most.summary()
    assert "of their own" not in most.summary()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_plain_data_makes_it_again_bit_by_bit(settings):
    new = np.array([[1 / 3, "Oslo", np.nan, None], [np.nan, None, 1e9, "b"]], dtype=object)
    first = Preparation(NAMES, encode=["grade", "city"], **settings).fit(TABLE)
    second = plain_again(first)
    np.testing.assert_array_equal(first.transform(new), second.transform(new))
    assert first.summary() == second.summary()
    centers = first.transform(TABLE)[:2]
    np.testing.assert_array_equal(
        first.in_units_of_the_table(centers), second.in_units_of_the_table(centers)
    )


def test_columns_of_numbers_alone():
    X = np.array([[1.0, 10.0], [2.0, 30.0], [6.0, 20.0]])
    preparation = Preparation(["a", "b"], standardise=True).fit(X)
    scaled = preparation.transform(X)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(preparation.in_units_of_the_table(scaled), X)
    np.testing.assert_array_equal(plain_again(preparation).transform(X), scaled)


def test_columns_of_categories_alone():
    X = np.array([["x"], ["y"], ["x"]], dtype=object)
    preparation = Preparation(["a"], encode=["a"], standardise=True, impute="mean").fit(X)
    assert plain_again(preparation).transform(X).tolist() == [[1, 0], [0, 1], [1, 0]]


def test_numbers_can_be_categories():
    X = np.array([[1.0], [2.0], [1.0]])
    preparation = Preparation(["a"], encode=["a"]).fit(X)
    assert preparation.get_feature_names_out().tolist() == ["a=1", "a=2"]


def test_a_data_frame_is_read_by_its_names():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TABLE, columns=NAMES)
    preparation = Preparation(NAMES, encode=["city", "grade"], impute="mean").fit(TABLE)
    mixed = frame[["grade", "income", "age", "city"]].assign(other="unused")
    np.testing.assert_array_equal(preparation.transform(mixed), preparation.transform(TABLE))


def test_new_categories_are_none_of_the_known_and_are_named():
    preparation = Preparation(["a"], encode=["a"]).fit(np.array([["x"], ["y"]], dtype=object))
    with pytest.warns(UserWarning, match="column 'a' has values that the model has not seen: z"):
        prepared = preparation.transform(np.array([["z"], ["y"]], dtype=object))
    assert prepared.tolist() == [[0, 0], [0, 1]]


def test_holes_are_refused_if_nothing_fills_them():
    with pytest.raises(ValueError, match="the table has holes"):
        Preparation(["a"]).fit(np.array([[1.0], [np.nan]], dtype=object))


def test_tables_of_another_width_are_refused():
    preparation = Preparation(["a", "b"], standardise=True).fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="must have 2 columns"):
        preparation.transform(np.ones((3, 3)))


def test_holes_of_pandas_in_words_and_in_numbers_are_holes():
    """Its NA does not know whether it equals itself."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "city": pandas.array(["Oslo", None, "Rome", "Oslo"], dtype="string"),
            "age": pandas.array([1, 2, None, 4], dtype="Int64"),
            "born": [1.0, np.nan, 3.0, 4.0],
        }
    )
    plain = np.array(
        [["Oslo", 1, 1.0], [None, 2, None], ["Rome", None, 3.0], ["Oslo", 4, 4.0]], dtype=object
    )
    names = ["city", "age", "born"]
    expected = Preparation(names, encode=["city"], impute="mean").fit(plain).transform(plain)
    found = Preparation(names, encode=["city"], impute="mean").fit(frame).transform(frame)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="holes"):
        Preparation(names, encode=["city"]).fit(frame)
