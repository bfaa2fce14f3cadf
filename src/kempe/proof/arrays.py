"""Trees of proofs as arrays, which is how they are stored.

A list of lists is one array of all items and one of where each list starts. What is read may be
damaged or forged, so nothing of it is believed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from kempe.proof.nodes import (
    Cuts,
    Deduction,
    Multipliers,
    Node,
    NodeKind,
    Part,
    Prices,
    Relation,
    RowPair,
    joined,
    offsets,
)

_RELATIONS: tuple[Relation, ...] = get_args(Relation)
_NODE_KINDS: tuple[NodeKind, ...] = get_args(NodeKind)
# Arrays that hold numbers of any size; all others hold whole ones. Signed, since others wrap.
_REAL = ("scales", "slack", "multipliers", "price_scales", "price_most", "prices")


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


def parts_to_arrays(parts: Sequence[Part]) -> dict[str, NDArray[Any]]:
    """Give all that trees say as arrays by their names."""
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
        "tree_offsets": offsets(len(part.nodes) for part in parts),
        "deduction_offsets": offsets(len(node.deductions) for node in nodes),
        "parents": np.array([-1 if node.parent is None else node.parent for node in nodes]),
        "kinds": np.array([_NODE_KINDS.index(node.kind) for node in nodes], dtype=np.int8),
        "relations": np.array([_RELATIONS.index(d.kind) for d in deductions], dtype=np.int8),
        "pairs": np.array([d.pair for d in deductions], dtype=np.int64).reshape(-1, 2),
    }
    for name, values in lists.items():
        arrays[name], arrays[f"{name}_offsets"] = joined(values)
    arrays |= _multipliers_to_arrays([node.multipliers for node in nodes])
    return arrays | _prices_to_arrays([node.prices for node in nodes])


def _whole(arrays: dict[str, NDArray[Any]], name: str, below: int) -> list[int]:
    """Numbers from 0 up to some other."""
    values = arrays[name]
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{name} are no whole numbers")
    if values.min(initial=0) < 0 or values.max(initial=0) >= below:
        raise ValueError(f"{name} are not in 0, ..., {below - 1}")
    return [int(value) for value in values]


def _check_types(arrays: dict[str, NDArray[Any]]) -> None:
    for name, values in arrays.items():
        if values.dtype.kind != ("f" if name in _REAL else "i"):
            raise ValueError(f"{name} are numbers of another kind: {values.dtype}")


def parts_from_arrays(arrays: dict[str, NDArray[Any]]) -> tuple[Part, ...]:
    """Read what ``parts_to_arrays`` wrote; ``ValueError`` and the like if it is something else."""
    _check_types(arrays)

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
            prices=prices,
        )
        for parent, kind, together, apart, own, multipliers, fixed, pair, witness, prices in zip(
            arrays["parents"].tolist(),
            _whole(arrays, "kinds", len(_NODE_KINDS)),
            lists("together"),
            lists("apart"),
            list(_pieces(numbered, arrays["deduction_offsets"])),
            _multipliers_from_arrays(arrays),
            lists("fixed"),
            lists("pair"),
            lists("witness"),
            _prices_from_arrays(arrays, arrays["parents"].size),
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
        "cuts_offsets": offsets(c.centres.size for c in cuts),
        "centres": np.concatenate([none.astype(np.int32), *(c.centres for c in cuts)]),
        "members": np.concatenate([none.astype(np.int32), *(c.members for c in cuts)]),
        "member_counts": np.concatenate([none.astype(np.int32), *members]).astype(np.int32),
        "multipliers": np.concatenate([none, *(c.multipliers for c in cuts)]),
    }


def _multipliers_from_arrays(arrays: dict[str, NDArray[Any]]) -> list[Multipliers | None]:
    # As numbers of Python: those of an array could wrap, and a small triangle claim a huge matrix.
    sizes, cuts = _whole(arrays, "sizes", 2**31), arrays["cuts_offsets"]
    counts = [c.astype(np.int64) for c in _pieces(arrays["member_counts"], cuts)]
    triangles = _pieces(arrays["slack"], offsets(size * (size + 1) // 2 for size in sizes))
    members = _pieces(arrays["members"], offsets(c.sum() for c in counts))
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
        own = Cuts(centres, offsets(count), member, mu)
        every.append(Multipliers(_mirrored(triangle, size), own, scale))
    return every


def _next(items: Iterator[Any]) -> Any:
    for item in items:
        return item
    raise ValueError("fewer multipliers or prices than scales")


def _mirrored(triangle: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    slack = np.zeros((size, size), dtype=np.float32)
    lower = np.tri(size, dtype=bool)
    slack[lower] = triangle
    slack.T[lower] = triangle
    return slack


def _prices_to_arrays(every: Sequence[Prices | None]) -> dict[str, NDArray[Any]]:
    """Give lists of prices, units and hubs; a node without prices has scale 0."""
    found = [prices for prices in every if prices is not None]
    none = np.empty(0)
    return {
        "price_scales": np.array([0.0 if p is None else p.scale for p in every]),
        "price_most": np.array([0.0 if p is None else p.most for p in every]),
        "price_offsets": offsets(p.prices.size for p in found),
        "prices": np.concatenate([none, *(p.prices for p in found)]),
        "units": np.concatenate([none.astype(np.int32), *(p.units for p in found)]),
        "hub_offsets": offsets(p.hubs.size for p in found),
        "hubs": np.concatenate([none.astype(np.int32), *(p.hubs for p in found)]),
    }


def _prices_from_arrays(arrays: dict[str, NDArray[Any]], n_nodes: int) -> list[Prices | None]:
    if "price_scales" not in arrays:  # written before there were any
        return [None] * n_nodes
    own = arrays["price_offsets"]
    found = zip(
        _pieces(arrays["prices"], own),
        _pieces(arrays["units"], own),
        _pieces(arrays["hubs"], arrays["hub_offsets"]),
        strict=True,
    )
    every: list[Prices | None] = []
    for scale, most in zip(
        arrays["price_scales"].tolist(), arrays["price_most"].tolist(), strict=True
    ):
        every.append(None)
        if scale != 0.0:
            prices, units, hubs = _next(found)
            every[-1] = Prices(prices, most, units, hubs, scale)
    return every
