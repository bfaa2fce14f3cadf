"""Tables with holes and words made ready for k-means, by scikit-learn's transformers.

What a preparation has learnt is plain data, so that a model file can hold it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

Impute = Literal["mean", "median", "most_frequent"]
Numbers = NDArray[np.float64]

MISSING = "(missing)"
"""What the category of holes is called."""


class Preparation(TransformerMixin, BaseEstimator):
    """Fills holes, turns categories into columns of 0 and 1, scales numbers.

    Columns of numbers come first in the result, then one column for each category.

    Parameters
    ----------
    names : sequence of str
        Names of the columns of the table.
    named : bool, default=True
        Whether the table itself has these names; if not, its columns are known by their order.
    encode : sequence of str, default=()
        Those that hold categories; one-hot encoded by ``OneHotEncoder``.
    impute : {"mean", "median", "most_frequent"} or None, default=None
        What ``SimpleImputer`` writes into the holes of columns of numbers; ``None``: such a hole
        is an error. Holes among categories get the most frequent one if that is imputed, and are a
        category of their own otherwise.
    standardise : bool, default=False
        Whether ``StandardScaler`` scales columns of numbers to mean 0 and deviation 1.
    """

    def __init__(
        self,
        names: Sequence[str] = (),
        *,
        named: bool = True,
        encode: Sequence[str] = (),
        impute: Impute | None = None,
        standardise: bool = False,
    ) -> None:
        self.names = names
        self.named = named
        self.encode = encode
        self.impute = impute
        self.standardise = standardise

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X
            Table of shape (n_rows, n_columns): a data frame with the columns of ``names``, or an
            array, of objects if there are categories.
        y
            Ignored; here for scikit-learn's interface.
        """
        numbers, categories = self._parts(X)
        self.holes_ = self._holes(numbers, categories)
        self.imputer_ = self.scaler_ = self.chooser_ = self.encoder_ = None
        if self.impute is not None and numbers.shape[1]:
            self.imputer_ = SimpleImputer(strategy=self.impute).fit(numbers)
            numbers = self.imputer_.transform(numbers)
        if self.standardise and numbers.shape[1]:
            self.scaler_ = StandardScaler().fit(numbers)
        if self.impute == "most_frequent" and categories.shape[1]:
            self.chooser_ = _chooser().fit(categories)
        if categories.shape[1]:
            categories = self._filled(categories)
            self.encoder_ = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self.encoder_.fit(categories)
        return self

    def transform(self, X: ArrayLike) -> Numbers:
        """Give a table as numbers.

        Parameters
        ----------
        X
            Table of shape (n_rows, n_columns), with the columns that ``fit`` had.
        """
        check_is_fitted(self, "imputer_")
        numbers, categories = self._parts(X)
        for step in (self.imputer_, self.scaler_):
            numbers = numbers if step is None else step.transform(numbers)
        if self.encoder_ is None:
            return numbers
        categories = self._filled(categories)
        self._warn_of_new(categories)
        return np.hstack([numbers, self.encoder_.transform(categories)])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[Any]:
        """Names of the columns that ``transform`` gives: ``city=Rome`` for a category."""
        names = [name for name in self.names if name not in self.encode]
        if self.encoder_ is not None:
            for name, categories in zip(self._encoded(), self.encoder_.categories_, strict=True):
                names += [f"{name}={category}" for category in categories]
        return np.array(names, dtype=object)

    def full_categories(self) -> list[str]:
        """Give the columns of categories in which no hole was seen."""
        if self.encoder_ is None:
            return []
        known = zip(self._encoded(), self.encoder_.categories_, strict=True)
        return [name for name, categories in known if MISSING not in categories.tolist()]

    def in_units_of_the_table(self, centers: Numbers) -> Numbers:
        """Undo the scaling, so that centres of clusters can be read beside the table."""
        if self.scaler_ is None:
            return centers
        count = self.scaler_.mean_.size
        unscaled = self.scaler_.inverse_transform(centers[:, :count])
        return np.hstack([unscaled, centers[:, count:]])

    def summary(self) -> str:
        """Say in a line what is done."""
        said = []
        own = [] if self.chooser_ is not None else self._encoded()
        if self.impute is not None:
            filled = self._told([name for name in self.names if name not in own])
            said.append(f"holes filled by SimpleImputer ({self.impute}){filled}")
        if self._told(own):
            said.append(f"holes that are a category of their own{self._told(own)}")
        if self.encoder_ is not None:
            counts = [
                f"{name} ({len(categories)})"
                for name, categories in zip(self._encoded(), self.encoder_.categories_, strict=True)
            ]
            said.append(f"categories by OneHotEncoder: {', '.join(counts)}")
        if self.scaler_ is not None:
            said.append("numbers scaled by StandardScaler")
        return "; ".join(said)

    def _holes(self, numbers: Numbers, categories: NDArray[Any]) -> dict[str, int]:
        """Count the holes of each column that has some."""
        plain = [name for name in self.names if name not in self.encode]
        counts = zip(plain, np.isnan(numbers).sum(axis=0).tolist(), strict=True)
        words = zip(self._encoded(), (categories == None).sum(axis=0).tolist(), strict=True)  # noqa: E711
        return {name: count for name, count in [*counts, *words] if count}

    def _told(self, names: Sequence[str]) -> str:
        """Say how many holes some columns had."""
        told = [f"{self.holes_[name]:,} in {name}" for name in names if name in self.holes_]
        return f": {', '.join(told)}" if told else ""

    def _filled(self, categories: NDArray[Any]) -> NDArray[Any]:
        """Give holes the most frequent category, or one of their own."""
        if self.chooser_ is not None:
            return np.asarray(self.chooser_.transform(categories))
        return np.where(categories == None, MISSING, categories)  # noqa: E711

    def _encoded(self) -> list[str]:
        """Names of the columns of categories, in the order of the table."""
        return [name for name in self.names if name in self.encode]

    def _parts(self, X: Any) -> tuple[Numbers, NDArray[Any]]:
        """Part a table into numbers, with NaN in the holes, and words, with None there."""
        if self.named and hasattr(X, "columns"):
            X = X[list(self.names)]
        table = np.asarray(X)
        if table.ndim != 2 or table.shape[1] != len(self.names):
            raise ValueError(f"the table must have {len(self.names)} columns, got {table.shape}")
        is_category = np.array([name in self.encode for name in self.names], dtype=bool)
        numbers = _floats(table[:, ~is_category])
        words = np.array(
            [[word(cell) for cell in row] for row in table[:, is_category].tolist()], dtype=object
        ).reshape(len(table), int(is_category.sum()))
        if self.impute is None and np.isnan(numbers).any():
            raise ValueError("the table has holes, and nothing says what to fill them with")
        return numbers, words

    def _warn_of_new(self, categories: NDArray[Any]) -> None:
        assert self.encoder_ is not None
        for name, column, known in zip(
            self._encoded(), categories.T, self.encoder_.categories_, strict=True
        ):
            new = sorted(set(column.tolist()) - set(known.tolist()))
            if new:
                warnings.warn(
                    f"column {name!r} has values that the model has not seen: "
                    f"{', '.join(new[:5])}{', ...' if len(new) > 5 else ''}; they count as none "
                    "of its categories",
                    stacklevel=3,
                )

    # As plain data

    def plain(self) -> tuple[dict[str, Any], dict[str, Numbers]]:
        """Give what a file must hold: a header for JSON, and arrays."""
        header: dict[str, Any] = {
            "names": list(self.names),
            "named": self.named,
            "encode": self._encoded(),
            "impute": self.impute,
            "standardise": self.standardise,
            "holes": self.holes_,
        }
        arrays = {}
        if self.encoder_ is not None:
            header["categories"] = [known.tolist() for known in self.encoder_.categories_]
        if self.chooser_ is not None:
            header["most_frequent"] = self.chooser_.statistics_.tolist()
        if self.imputer_ is not None:
            arrays["fill"] = self.imputer_.statistics_
        if self.scaler_ is not None:
            arrays["mean"], arrays["scale"] = self.scaler_.mean_, self.scaler_.scale_
        return header, arrays

    @classmethod
    def from_plain(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Make it again from what ``plain`` gave.

        Raises
        ------
        ValueError
            If the parts contradict each other.
        """
        names, encode = _words(header["names"]), _words(header["encode"])
        if header["impute"] not in ("mean", "median", "most_frequent", None):
            raise ValueError(f"there is no way to impute by {header['impute']!r}")
        made = cls(
            names,
            named=bool(header["named"]),
            encode=encode,
            impute=header["impute"],
            standardise=bool(header["standardise"]),
        )
        if not set(encode) <= set(names) or len(set(names)) < len(names):
            raise ValueError("the columns of the preparation contradict each other")
        made._restore(header, arrays, len(names) - len(encode))
        return made

    def _restore(
        self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], count: int
    ) -> None:
        """Fit each transformer to a row that teaches it what it has known."""
        holes = header.get("holes", {})
        self.holes_ = {name: int(holes[name]) for name in self.names if name in holes}
        self.imputer_ = self.scaler_ = self.chooser_ = self.encoder_ = None
        if self.impute is not None and count:
            fill = _row(arrays, "fill", count)
            self.imputer_ = SimpleImputer(strategy=self.impute).fit(fill.reshape(1, -1))
        if self.standardise and count:
            self.scaler_ = _scaler(_row(arrays, "mean", count), _row(arrays, "scale", count))
        if not self.encode:
            return
        known = [_words(column) for column in header["categories"]]
        if len(known) != len(self.encode) or not all(known):
            raise ValueError("there are not categories for every column of them")
        self.encoder_ = OneHotEncoder(
            categories=[np.array(column, dtype=object) for column in known],
            handle_unknown="ignore",
            sparse_output=False,
        ).fit(np.array([[column[0] for column in known]], dtype=object))
        if self.impute is not None and "most_frequent" in header:
            chosen = _words(header["most_frequent"])
            if len(chosen) != len(known):
                raise ValueError("there is not a most frequent category for every column")
            self.chooser_ = _chooser().fit(np.array([chosen], dtype=object))


def _chooser() -> SimpleImputer:
    return SimpleImputer(strategy="most_frequent", missing_values=None)


def _scaler(mean: Numbers, scale: Numbers) -> StandardScaler:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_, scaler.var_ = mean, scale, scale**2
    scaler.n_features_in_ = mean.size
    return scaler


def _is_hole(cell: object) -> bool:
    """Whether a cell is None, or NaN, NaT or NA, which do not equal themselves."""
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # NA of pandas does not know whether it does
        return True


def _floats(cells: NDArray[Any]) -> Numbers:
    """Numbers as such, with NaN in the holes, whatever stands for them."""
    if cells.dtype == object:
        cells = np.where(np.frompyfunc(_is_hole, 1, 1)(cells).astype(bool), np.nan, cells)
    return cells.astype(np.float64)


def word(cell: object) -> str | None:
    """Give a category as text, or nothing where there is no value."""
    if _is_hole(cell) or cell == "":
        return None
    whole = isinstance(cell, float) and cell.is_integer()
    return f"{cell:.0f}" if whole else str(cell)


def _words(values: Any) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{values!r:.60} is not a list of names")
    return values


def _row(arrays: Mapping[str, NDArray[Any]], name: str, count: int) -> Numbers:
    row = arrays[name]
    if row.shape != (count,) or row.dtype != np.float64 or not np.isfinite(row).all():
        raise ValueError(f"{name} is not a row of {count} finite numbers")
    return row
