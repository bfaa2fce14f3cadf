"""Certificates: a clustering, a lower bound on the inertia of any other, and what proves it.

A certificate proves statements about *at most k* clusters. (With at least k groups of positive
weight that is the same as exactly k non-empty ones: splitting a cluster never raises the inertia
and keeps the pairs.) ``kempe/proof/checking`` says why each step holds, and checks it.

Facts
    All facts are about rows. A *group* is a set of rows known to be in one cluster; any of its
    rows stands for it. Groups of weight zero take part in deductions and in no matrix.
Tree
    The nodes of a tree come in preorder, the root first. A node has the facts of its parent, those
    it is given (``together``, ``apart``), and those that it deduces, in order. Its ``kind`` says
    how the clusterings that agree with these facts are bounded.
Parts
    A certificate has one tree for all rows, or several, each for the problem in which the rows
    outside of its ``rows`` have weight zero; the facts are about all rows everywhere. The inertia
    of a clustering is at least the sum of its inertias in these problems, so the bounds add up.
    (A clustering that a "fixing" node leaves out is no better than the labels on its part alone.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kempe import cards
from kempe.constraints import as_constraints
from kempe.exceptions import FileFormatError
from kempe.storage import DAMAGED, read_archive, write_archive

RowPair = tuple[int, int]
Relation = Literal["together", "apart"]
NodeKind = Literal["bound", "fixing", "split", "few", "contradiction"]
Method = Literal["sdp", "parts"]

FILE_KIND = "certificate"
FILE_VERSION = 1
_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_METHODS: tuple[Method, ...] = get_args(Method)
_NODE_KINDS: tuple[NodeKind, ...] = get_args(NodeKind)


@dataclass(frozen=True)
class Deduction:
    """Two rows that a clique of cannot-linked rows forces together or apart.

    Attributes
    ----------
    kind
        ``"together"``: the clique has k - 1 rows, each apart from both rows of the pair, which
        leaves one cluster to both. ``"apart"``: it has k rows, each apart from one row of the pair
        at least, so that with the pair in one cluster there would be k + 1 rows pairwise apart.
    pair
        The two rows.
    clique
        Rows that are pairwise apart.
    """

    kind: Relation
    pair: RowPair
    clique: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cuts:
    """Inequalities sum_{j in J} Z_ij <= Z_ii + sum_{j<l in J} Z_jl and their multipliers.

    Numbers are those of groups in a node: groups of positive weight in the order of their first
    rows. Z_ij is 1 / (weight of the cluster) if groups i and j are in one cluster, else 0.

    Attributes
    ----------
    centres : int32 array of shape (m,)
        Group i of each cut.
    offsets : int64 array of shape (m + 1,)
        The members J of cut t are ``members[offsets[t]:offsets[t + 1]]``.
    members : int32 array
        Groups, distinct in each cut and different from its centre.
    multipliers : float64 array of shape (m,)
        Not negative, unless J are k groups that are pairwise apart: then the cut is an equality.
    """

    centres: NDArray[np.int32]
    offsets: NDArray[np.int64]
    members: NDArray[np.int32]
    multipliers: NDArray[np.float64]

    @classmethod
    def none(cls) -> Cuts:
        """No cuts."""
        return cls.of([], [], [])

    @classmethod
    def of(
        cls, centres: Sequence[int], members: Sequence[Sequence[int]], multipliers: Sequence[float]
    ) -> Cuts:
        """Cuts from lists of members.

        Parameters
        ----------
        centres
            The group in the middle of each cut.
        members
            The other groups of each cut.
        multipliers
            One number for each cut.
        """
        flat, offsets = _joined(members)
        return cls(
            np.asarray(centres, dtype=np.int32),
            offsets,
            flat.astype(np.int32),
            np.asarray(multipliers, dtype=np.float64),
        )


@dataclass(frozen=True, eq=False)
class Multipliers:
    """What bounds a node: a matrix over its groups of positive weight, and cuts.

    Attributes
    ----------
    slack : float32 array of shape (N, N)
        Symmetric; not negative, unless the two groups are apart.
    cuts
        The cuts.
    scale
        A power of two, the unit of ``slack`` and of the multipliers of the cuts: the matrix in the
        theorem is G + scale * (slack - sum of multiplier * cut). It keeps single precision usable
        whatever the unit of the data is.
    """

    slack: NDArray[np.float32]
    cuts: Cuts = field(default_factory=Cuts.none)
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the tree.

    Attributes
    ----------
    parent
        Position of the parent, ``None`` for the root.
    kind
        How the clusterings that agree with the facts are bounded:

        - ``"bound"``: by ``multipliers``.
        - ``"fixing"``: by ``multipliers``, which also show that a clustering with any of the pairs
          ``fixed`` together is no better than the labels. The one child is given these apart.
        - ``"split"``: the two children are given ``pair`` together and apart.
        - ``"few"``: there are at most k groups of positive weight, each a cluster of its own.
        - ``"contradiction"``: there are none. The ``witness`` is k + 1 rows pairwise apart, or two
          rows that are both together and apart.
    together, apart
        Pairs of rows given by the parent.
    deductions
        What follows from the facts, in order.
    multipliers, fixed, pair, witness
        See ``kind``.
    """

    parent: int | None
    kind: NodeKind
    together: tuple[RowPair, ...] = ()
    apart: tuple[RowPair, ...] = ()
    deductions: tuple[Deduction, ...] = ()
    multipliers: Multipliers | None = None
    fixed: tuple[RowPair, ...] = ()
    pair: RowPair | None = None
    witness: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """A tree, and the rows whose inertia it bounds.

    Attributes
    ----------
    rows : int64 array
        Rows, disjoint from those of other parts. The others have weight zero in this tree.
    nodes
        The tree in preorder.
    """

    rows: NDArray[np.int64]
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Verification:
    """What a check has proven.

    Attributes
    ----------
    lower_bound
        No clustering that obeys the constraints has a smaller inertia (rounded down).
    inertia
        That of the labels (rounded up).
    n_nodes
        Number of nodes that were checked.
    """

    lower_bound: float
    inertia: float
    n_nodes: int

    @property
    def gap(self) -> float:
        """How far the labels can be from the best clustering, relative to their inertia."""
        return relative_gap(self.lower_bound, self.inertia)


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
        No clustering that obeys the constraints has a smaller inertia.
    inertia
        Inertia of the labels.
    data_hash
        What :func:`data_hash` gives for data, weights, constraints and k.
    gap_wanted
        The relative gap at which the labels count as optimal.
    history : float64 array of shape (m, 3)
        Seconds, lower bound and inertia at that time.
    seconds
        Wall time that the proof took to find.
    method
        ``"sdp"``: one tree over all rows; ``"parts"``: several, for data too large for that.
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

    @property
    def gap(self) -> float:
        """How far the labels can be from the best clustering, relative to their inertia."""
        return relative_gap(self.lower_bound, self.inertia)

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
        trees = "one tree" if self.method == "sdp" else f"{len(self.parts):,} parts"
        return "\n".join(
            [
                f"inertia       {self.inertia:,.9g}",
                f"lower bound   {self.lower_bound:,.9g}",
                f"gap           {100 * self.gap:.3g} %, {verdict} "
                f"(wanted {100 * self.gap_wanted:.3g} %)",
                f"proof         {trees}, {self.n_nodes:,} nodes",
                f"time          {self.seconds:.2f} s",
            ]
        )

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
        constraints: object = None,
        sample_weight: ArrayLike | None = None,
    ) -> Verification:
        """Check the whole proof against the data; nothing in the certificate is trusted.

        Parameters
        ----------
        X, must_link, cannot_link, constraints, sample_weight
            Those for which the certificate was made.

        Raises
        ------
        CertificateError
            If the certificate is for other data, or if a step of the proof does not hold.
        """
        from kempe.proof.checking import check

        pairs = as_constraints(must_link, cannot_link, constraints)
        rows, weights = data_arrays(X, sample_weight)
        pairs.check_rows(rows.shape[0])
        return check(self, rows, weights, pairs.must_link, pairs.cannot_link)

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
        arrays = _parts_to_arrays(self.parts)
        arrays |= {"labels": self.labels, "history": self.history}
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
                labels=arrays.pop("labels"),
                history=arrays.pop("history"),
                parts=_parts_from_arrays(arrays),
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
    """
    digest = hashlib.sha256(f"kempe {n_clusters}".encode())
    # Adding 0.0 makes -0.0 and 0.0 the same.
    numbers = [np.asarray(values, dtype="<f8") + 0.0 for values in (X, weights)]
    for array in (*numbers, _unordered(must_link), _unordered(cannot_link)):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _unordered(pairs: NDArray[Any]) -> NDArray[np.int64]:
    table = np.sort(np.asarray(pairs, dtype="<i8").reshape(-1, 2), axis=1)
    return np.unique(table, axis=0)


# How trees become arrays: a list of lists is one array of all items and one of where each starts.


def _joined(lists: Iterable[Iterable[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    items = [np.fromiter(values, dtype=np.int64) for values in lists]
    flat = np.concatenate([np.empty(0, dtype=np.int64), *items])
    return flat, _offsets(values.size for values in items)


def _offsets(counts: Iterable[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts], dtype=np.int64)


def _pieces(flat: NDArray[Any], offsets: NDArray[Any]) -> Iterator[NDArray[Any]]:
    if flat.ndim != 1 or offsets.ndim != 1 or offsets.dtype != np.int64:
        raise ValueError("a list of lists is something else")
    if offsets[0] != 0 or offsets[-1] != flat.size or (np.diff(offsets) < 0).any():
        raise ValueError("a list does not end where the next one starts")
    return (flat[a:b] for a, b in pairwise(offsets))


def _flat_pairs(pairs: Iterable[RowPair]) -> Iterator[int]:
    return (row for pair in pairs for row in pair)


def _as_pairs(flat: NDArray[Any]) -> tuple[RowPair, ...]:
    return tuple((int(a), int(b)) for a, b in flat.reshape(-1, 2).tolist())


def _parts_to_arrays(parts: Sequence[Part]) -> dict[str, NDArray[Any]]:
    nodes = [node for part in parts for node in part.nodes]
    deductions = [deduction for node in nodes for deduction in node.deductions]
    lists: dict[str, Iterable[Iterable[int]]] = {
        "part_rows": (part.rows for part in parts),
        "together": (_flat_pairs(node.together) for node in nodes),
        "apart": (_flat_pairs(node.apart) for node in nodes),
        "fixed": (_flat_pairs(node.fixed) for node in nodes),
        "pair": (node.pair or () for node in nodes),
        "witness": (node.witness for node in nodes),
        "cliques": (deduction.clique for deduction in deductions),
    }
    arrays = {
        "tree_offsets": _offsets(len(part.nodes) for part in parts),
        "deduction_offsets": _offsets(len(node.deductions) for node in nodes),
        "parents": np.array([-1 if node.parent is None else node.parent for node in nodes]),
        "kinds": np.array([_NODE_KINDS.index(node.kind) for node in nodes], dtype=np.int8),
        "relations": np.array([_RELATIONS.index(d.kind) for d in deductions], dtype=np.int8),
        "pairs": np.array([d.pair for d in deductions], dtype=np.int64).reshape(-1, 2),
    }
    for name, values in lists.items():
        arrays[name], arrays[f"{name}_offsets"] = _joined(values)
    return {**arrays, **_multipliers_to_arrays([node.multipliers for node in nodes])}


def _whole(arrays: dict[str, NDArray[Any]], name: str, below: int) -> list[int]:
    """Numbers from 0 up to some other."""
    values = arrays[name]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{name} are no whole numbers")
    if values.min(initial=0) < 0 or values.max(initial=0) >= below:
        raise ValueError(f"{name} are not in 0, ..., {below - 1}")
    return [int(value) for value in values]


def _parts_from_arrays(arrays: dict[str, NDArray[Any]]) -> tuple[Part, ...]:
    def lists(name: str) -> list[NDArray[Any]]:
        return list(_pieces(arrays[name], arrays[f"{name}_offsets"]))

    numbered = np.arange(arrays["relations"].size)
    deductions = [
        Deduction(_RELATIONS[kind], (int(pair[0]), int(pair[1])), tuple(clique.tolist()))
        for kind, pair, clique in zip(
            _whole(arrays, "relations", len(_RELATIONS)),
            arrays["pairs"].reshape(-1, 2).tolist(),
            lists("cliques"),
            strict=True,
        )
    ]
    nodes = [
        Node(
            parent=None if parent < 0 else int(parent),
            kind=_NODE_KINDS[kind],
            together=_as_pairs(together),
            apart=_as_pairs(apart),
            deductions=tuple(deductions[number] for number in own),
            multipliers=multipliers,
            fixed=_as_pairs(fixed),
            pair=_as_pairs(pair)[0] if pair.size else None,
            witness=tuple(witness.tolist()),
        )
        for parent, kind, together, apart, own, multipliers, fixed, pair, witness in zip(
            arrays["parents"].tolist(),
            _whole(arrays, "kinds", len(_NODE_KINDS)),
            lists("together"),
            lists("apart"),
            list(_pieces(numbered, arrays["deduction_offsets"])),
            _multipliers_from_arrays(arrays),
            lists("fixed"),
            lists("pair"),
            lists("witness"),
            strict=True,
        )
    ]
    trees = _pieces(np.arange(len(nodes)), arrays["tree_offsets"])
    return tuple(
        Part(rows, tuple(nodes[number] for number in tree))
        for rows, tree in zip(lists("part_rows"), trees, strict=True)
    )


def _multipliers_to_arrays(every: Sequence[Multipliers | None]) -> dict[str, NDArray[Any]]:
    """Of the symmetric slack one triangle is stored; a node without multipliers has scale 0."""
    found = [multipliers for multipliers in every if multipliers is not None]
    cuts = [multipliers.cuts for multipliers in found]
    triangles = [m.slack[np.tril_indices(m.slack.shape[0])] for m in found]
    none = np.empty(0)
    members = [np.diff(c.offsets) for c in cuts]
    return {
        "scales": np.array([0.0 if m is None else m.scale for m in every]),
        "sizes": np.array([m.slack.shape[0] for m in found], dtype=np.int64),
        "slack": np.concatenate([none.astype(np.float32), *triangles]),
        "cuts_offsets": _offsets(c.centres.size for c in cuts),
        "centres": np.concatenate([none.astype(np.int32), *(c.centres for c in cuts)]),
        "members": np.concatenate([none.astype(np.int32), *(c.members for c in cuts)]),
        "member_counts": np.concatenate([none.astype(np.int32), *members]).astype(np.int32),
        "multipliers": np.concatenate([none, *(c.multipliers for c in cuts)]),
    }


def _multipliers_from_arrays(arrays: dict[str, NDArray[Any]]) -> list[Multipliers | None]:
    # As numbers of Python: those of an array could wrap, and a small triangle claim a huge matrix.
    sizes, cuts = _whole(arrays, "sizes", 2**31), arrays["cuts_offsets"]
    counts = [c.astype(np.int64) for c in _pieces(arrays["member_counts"], cuts)]
    triangles = _pieces(arrays["slack"], _offsets(size * (size + 1) // 2 for size in sizes))
    members = _pieces(arrays["members"], _offsets(c.sum() for c in counts))
    found = zip(
        sizes,
        triangles,
        _pieces(arrays["centres"], cuts),
        counts,
        members,
        _pieces(arrays["multipliers"], cuts),
        strict=True,
    )
    every: list[Multipliers | None] = []
    for scale in arrays["scales"].tolist():
        if scale == 0.0:
            every.append(None)
            continue
        size, triangle, centres, count, member, mu = _next(found)
        own = Cuts(centres, _offsets(count), member, mu)
        every.append(Multipliers(_mirrored(triangle, size), own, scale))
    return every


def _next(items: Iterator[Any]) -> Any:
    for item in items:
        return item
    raise ValueError("fewer multipliers than scales")


def _mirrored(triangle: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    slack = np.zeros((size, size), dtype=np.float32)
    lower = np.tri(size, dtype=bool)
    slack[lower] = triangle
    slack.T[lower] = triangle
    return slack
