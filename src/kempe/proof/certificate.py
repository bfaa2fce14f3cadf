"""Certificates: a clustering, a lower bound on the inertia of any other, and what proves it.

A certificate proves statements about *at most k* clusters. (With at least k groups of positive
weight that is the same as exactly k non-empty ones: splitting a cluster never raises the inertia
and keeps the pairs.) ``kempe/proof/checking`` says why each step holds, and checks it.
``kempe/proof/nodes.py`` says what a proof consists of.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe import cards
from kempe.exceptions import CertificateError, FileFormatError
from kempe.fit_arguments import as_constraints
from kempe.proof.arrays import parts_from_arrays, parts_to_arrays
from kempe.proof.nodes import Cuts, Deduction, Multipliers, Node, Part, SoftPairs
from kempe.sizes import SizeLimits
from kempe.storage import DAMAGED, read_archive, write_archive

__all__ = [
    "Cuts",
    "Deduction",
    "Method",
    "Multipliers",
    "Node",
    "OptimalityCertificate",
    "Part",
    "Verification",
    "data_arrays",
    "data_hash",
    "relative_gap",
]

Method = Literal["sdp", "parts", "prices"]

FILE_KIND = "certificate"
FILE_VERSION = 1
SOFT_ARRAYS = ("pairs", "together", "prices")
_METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Verification:
    """What a check has proven.

    Attributes
    ----------
    lower_bound
        No clustering that obeys the constraints has a smaller inertia, or a smaller objective if
        there are soft pairs (rounded down).
    inertia
        That of the labels (rounded up).
    n_nodes
        Number of nodes that were checked.
    objective
        The inertia, and the prices of the soft pairs that the labels break (rounded up).
    n_clusters
        The number of clusters of those clusterings, k.
    """

    lower_bound: float
    inertia: float
    n_nodes: int
    objective: float
    n_clusters: int

    @property
    def gap(self) -> float:
        """How far the labels can be from the best clustering, relative to their objective."""
        return relative_gap(self.lower_bound, self.objective)


@dataclass(frozen=True, eq=False)
class OptimalityCertificate:
    """A clustering and a proof of how good it is.

    Attributes
    ----------
    labels : int32 array
        The clustering.
    n_clusters
        Number of clusters, k.
    parts
        The proof: one tree, or several over disjoint rows.
    lower_bound
        No clustering that obeys the constraints has a smaller inertia, or a smaller objective if
        there are soft pairs.
    inertia
        Inertia of the labels.
    data_hash
        What :func:`data_hash` gives for data, weights, constraints, k, limits on sizes and prices
        of soft pairs.
    gap_wanted
        The relative gap at which the labels count as optimal.
    history : float64 array of shape (m, 3)
        Seconds, lower bound and objective at that time.
    seconds
        Wall time that the proof took to find.
    method
        What carries the bound. ``"sdp"``: one tree over all rows; ``"parts"``: several, for data
        too large for that; ``"prices"``: prices of all groups at once.
    soft
        Soft pairs and the prices at which the objective counts them; ``None`` if there are none.
    """

    labels: NDArray[np.int32]
    n_clusters: int
    parts: tuple[Part, ...]
    lower_bound: float
    inertia: float
    data_hash: str
    gap_wanted: float = 1e-4
    history: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 3)))
    seconds: float = 0.0
    method: Method = "sdp"
    soft: SoftPairs | None = None

    @property
    def objective(self) -> float:
        """Inertia of the labels, and the prices of the soft pairs that they break."""
        if self.soft is None:
            return self.inertia
        same = self.labels[self.soft.pairs[:, 0]] == self.labels[self.soft.pairs[:, 1]]
        return math.fsum([self.inertia, *self.soft.prices[same != self.soft.together].tolist()])

    @property
    def gap(self) -> float:
        """How far the labels can be from the best clustering, relative to their objective."""
        return relative_gap(self.lower_bound, self.objective)

    @property
    def is_optimal(self) -> bool:
        """Whether the gap is closed to what was wanted."""
        return self.gap <= self.gap_wanted

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return sum(len(part.nodes) for part in self.parts)

    def summary(self) -> str:
        """Describe the certificate in a few lines."""
        verdict = "optimal" if self.is_optimal else "not proven optimal"
        parts = f"{len(self.parts):,} parts"
        trees = {"sdp": "one tree", "parts": parts, "prices": "prices of all groups"}[self.method]
        return "\n".join(
            [
                f"inertia       {self.inertia:,.9g}",
                *self._about_prices(),
                f"lower bound   {self.lower_bound:,.9g}",
                f"gap           {100 * self.gap:.3g} %, {verdict} "
                f"(wanted {100 * self.gap_wanted:.3g} %)",
                f"proof         {trees}, {self.n_nodes:,} node{'s' * (self.n_nodes != 1)}",
                f"time          {self.seconds:.2f} s",
            ]
        )

    def _about_prices(self) -> list[str]:
        if self.soft is None:
            return []
        same = self.labels[self.soft.pairs[:, 0]] == self.labels[self.soft.pairs[:, 1]]
        broken = int(np.count_nonzero(same != self.soft.together))
        about = f"with the prices of {broken:,} broken of {len(same):,} soft pairs"
        about += "" if self.method == "sdp" else "; the bound leaves them out"
        return [f"objective     {self.objective:,.9g}, {about}"]

    def __repr__(self) -> str:
        return (
            f"OptimalityCertificate(inertia={self.inertia:.6g}, "
            f"lower_bound={self.lower_bound:.6g}, gap={self.gap:.3g}, n_nodes={self.n_nodes})"
        )

    def _repr_html_(self) -> str:
        """Show the summary in a notebook."""
        return cards.card("Certificate", cards.facts(cards.facts_of(self.summary())))

    def verify(
        self,
        X: ArrayLike,
        *,
        must_link: object = None,
        cannot_link: object = None,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        constraints: object = None,
        sample_weight: ArrayLike | None = None,
        size_min: ArrayLike | None = None,
        size_max: ArrayLike | None = None,
        verbose: int = 0,
    ) -> Verification:
        """Check the whole proof against the data; nothing in the certificate is trusted.

        Parameters
        ----------
        X, must_link, cannot_link, soft_must_link, soft_cannot_link
            Those for which the certificate was made. Prices of soft pairs are those of the
            certificate, which ``soft`` shows: they are part of what it proves.
        constraints, sample_weight, size_min, size_max
            The same.
        verbose
            1 shows a progress bar, with the time that is left, if the check takes long.

        Raises
        ------
        CertificateError
            If the certificate is for other data, or if a step of the proof does not hold.
        """
        from kempe.proof.checking import check
        from kempe.proof.progress import checking_bar

        pairs = as_constraints(
            must_link,
            cannot_link,
            constraints,
            soft_must_link=soft_must_link,
            soft_cannot_link=soft_cannot_link,
        )
        rows, weights = data_arrays(X, sample_weight)
        pairs.check_rows(rows.shape[0])
        limits = SizeLimits.of(size_min, size_max, rows.shape[0], self.n_clusters)
        sizes = None if limits is None else (limits.least, limits.most)
        inputs = self, rows, weights, pairs.must_link, pairs.cannot_link, sizes
        self._check_soft(*pairs.soft.stacked()[:2])
        with checking_bar(self, verbose) as report:
            return check(*inputs, self.soft, report)

    def _check_soft(self, pairs: NDArray[Any], together: NDArray[np.bool_]) -> None:
        """Raise an error unless the certificate has these soft pairs; prices are its own."""
        soft = self.soft or SoftPairs.none()
        known = _priced(replace(soft, prices=np.zeros(len(soft.pairs))))
        given = _priced(SoftPairs(pairs, together, np.zeros(len(pairs))))
        if not np.array_equal(known, given):
            raise CertificateError(
                f"the certificate is for {len(soft.pairs)} soft pairs, not for these {len(pairs)}"
            )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the certificate to a file: numbers only, nothing in it is ever executed.

        Parameters
        ----------
        path
            The file; an existing one is replaced, whole or not at all.
        """
        header = {
            "n_clusters": self.n_clusters,
            "lower_bound": self.lower_bound,
            "inertia": self.inertia,
            "data_hash": self.data_hash,
            "gap_wanted": self.gap_wanted,
            "seconds": self.seconds,
            "method": self.method,
        }
        arrays = parts_to_arrays(self.parts)
        arrays |= {"labels": self.labels, "history": self.history}
        if self.soft is not None:
            arrays |= {
                "soft_pairs": self.soft.pairs.astype(np.int64),
                "soft_together": self.soft.together.astype(np.int8),
                "soft_prices": self.soft.prices,
            }
        write_archive(Path(path), FILE_KIND, FILE_VERSION, header, arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> OptimalityCertificate:
        """Read what :meth:`save` wrote.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        FileFormatError
            If the file is damaged or something else.
        """
        header, arrays, _ = read_archive(Path(path), FILE_KIND, FILE_VERSION)
        try:
            return cls(
                soft=_soft_from_arrays(arrays),
                labels=arrays.pop("labels"),
                history=arrays.pop("history"),
                parts=parts_from_arrays(arrays),
                n_clusters=int(header["n_clusters"]),
                lower_bound=float(header["lower_bound"]),
                inertia=float(header["inertia"]),
                data_hash=str(header["data_hash"]),
                gap_wanted=float(header["gap_wanted"]),
                seconds=float(header["seconds"]),
                method=_METHODS[_METHODS.index(header["method"])],
            )
        except DAMAGED as error:
            raise FileFormatError(f"{path} is not a complete certificate: {error!r}") from error


def _soft_from_arrays(arrays: dict[str, NDArray[Any]]) -> SoftPairs | None:
    """Take soft pairs out of the arrays of a file, which has none if it is older."""
    if "soft_pairs" not in arrays:
        return None
    pairs, together, prices = (arrays.pop(f"soft_{name}") for name in SOFT_ARRAYS)
    m = len(pairs)
    if (pairs.shape, together.shape, prices.shape) != ((m, 2), (m,), (m,)):
        raise ValueError("every soft pair needs a kind and a price")
    if pairs.dtype.kind + together.dtype.kind + prices.dtype.kind != "iif":
        raise ValueError("soft pairs are numbers of another kind")
    return SoftPairs(pairs, together != 0, prices)


def relative_gap(lower_bound: float, inertia: float) -> float:
    """How far the inertia is above the bound, as a share of the inertia."""
    return (inertia - lower_bound) / inertia if inertia > 0 else 0.0


def data_arrays(
    X: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give data and weights as certificates mean them: double precision, weight 1 by default."""
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got shape {rows.shape}")
    weights = np.ones(rows.shape[0]) if sample_weight is None else np.asarray(sample_weight)
    if weights.shape != rows.shape[:1]:
        raise ValueError(f"{rows.shape[0]} rows need as many weights, got shape {weights.shape}")
    return rows, weights.astype(np.float64)


def data_hash(
    X: NDArray[np.float64],
    weights: NDArray[np.float64],
    must_link: NDArray[Any],
    cannot_link: NDArray[Any],
    n_clusters: int,
    limits: tuple[NDArray[Any], NDArray[Any]] | None = None,
    soft: SoftPairs | None = None,
) -> str:
    """SHA-256 of the problem; the order of the pairs and of the rows in a pair does not matter.

    Parameters
    ----------
    X
        Data of shape (n_rows, n_features).
    weights
        Weight of each row.
    must_link, cannot_link
        Pairs of row numbers, of shape (m, 2).
    n_clusters
        Number of clusters.
    limits
        Fewest and most rows of each cluster, if there are any.
    soft
        Soft pairs and their prices, if there are any.
    """
    digest = hashlib.sha256(f"kempe {n_clusters}".encode())
    # Adding 0.0 makes -0.0 and 0.0 the same.
    numbers = [np.asarray(values, dtype="<f8") + 0.0 for values in (X, weights)]
    sizes = [np.asarray(values, dtype="<i8") for values in limits or ()]
    prices = [] if soft is None else [_priced(soft)]
    for array in (*numbers, _unordered(must_link), _unordered(cannot_link), *sizes, *prices):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _priced(soft: SoftPairs) -> NDArray[np.float64]:
    """Soft pairs, their kinds and prices, whatever the order: four numbers each."""
    ends = np.sort(np.asarray(soft.pairs).reshape(-1, 2), axis=1)
    table = np.column_stack([ends, soft.together, soft.prices]).astype("<f8")
    return table[np.lexsort(table.T[::-1])]


def _unordered(pairs: NDArray[Any]) -> NDArray[np.int64]:
    table = np.sort(np.asarray(pairs, dtype="<i8").reshape(-1, 2), axis=1)
    # Row numbers are below 2**31, so one number stands for a pair, and sorts many times faster.
    keys = (table[:, 0] << 32) | table[:, 1]
    keys.sort()
    keys = keys[np.diff(keys, prepend=-1) != 0]
    return np.column_stack([keys >> 32, keys & (2**32 - 1)])
