"""Fitted models as files that execute nothing when they are read.

A file is an archive of :mod:`kempe.storage`: arrays, and a header with the name of the class, its
parameters and the rest of what was fitted. What is loaded equals what was saved; what cannot be
written as plain data is refused.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kempe import __version__
from kempe.exceptions import FileFormatError
from kempe.search.result import BrokenPairs, Result, Solution, Statistics
from kempe.soft_pairs import PairPrice
from kempe.storage import DAMAGED, read_archive, write_archive

KIND = "model"
# 2: a preparation of the table, and names of clusters.
VERSION = 2

Arrays = dict[str, NDArray[Any]]
Model = TypeVar("Model")

_PLAIN = (type(None), bool, int, float, str)


def write_model(path: str | Path, model: Any, preparation: Any = None) -> None:
    """Write a fitted model to a file, all of it or nothing.

    Parameters
    ----------
    path
        The file.
    model
        A fitted estimator.
    preparation
        What made its data of a table, if something did: a fitted ``Preparation``.

    Raises
    ------
    TypeError
        If a parameter is no plain data, or the class is not one of kempe's own.
    ValueError
        If ``n_clusters`` was changed after fitting.
    """
    if not type(model).__module__.startswith("kempe."):
        raise TypeError(f"{type(model).__name__} is no method of kempe, which could load it again")
    _check_n_clusters(model)
    arrays: Arrays = {}
    parameters = {
        name: _encoded(value, f"parameters/{name}", arrays)
        for name, value in model.get_params(deep=False).items()
    }
    header = {
        "class": type(model).__name__,
        "parameters": parameters,
        "fitted": _encoded_attributes(vars(model), arrays),
        "versions": {
            "kempe": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
    if preparation is not None:
        header["preparation"], more = preparation.plain()
        arrays |= {f"preparation/{name}": array for name, array in more.items()}
    write_archive(path, KIND, VERSION, header, arrays)


def read_model(
    path: str | Path,
    models: Mapping[str, type[Model]],
    settings: Mapping[str, type],
    preparation: Callable[[Mapping[str, Any], Arrays], Any],
) -> tuple[Model, Any]:
    """Read a model that :func:`write_model` wrote, and its preparation, if there is one.

    Parameters
    ----------
    path
        The file.
    models
        Classes that a file may name.
    settings
        Data classes that may be values of parameters.
    preparation
        Makes a preparation of its plain data.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, from a newer version, or contradicts itself.
    """
    header, arrays, _ = read_archive(path, KIND, VERSION)
    try:
        model = _unfitted(header, arrays, models, settings)
        vars(model).update(_decoded_attributes(header["fitted"], arrays))
        _check_n_clusters(model)
        prepared = _decoded_preparation(header, arrays, preparation)
        if prepared is not None and len(prepared.get_feature_names_out()) != model.n_features_in_:  # type: ignore[attr-defined]
            raise ValueError("the preparation does not give the columns of the model")
    except DAMAGED as error:
        raise FileFormatError(f"{path} is no valid kempe model: {_told(error)}") from error
    return model, prepared


def _decoded_preparation(
    header: Mapping[str, Any],
    arrays: Arrays,
    preparation: Callable[[Mapping[str, Any], Arrays], Any],
) -> Any:
    if "preparation" not in header:
        return None
    own = {name.removeprefix("preparation/"): array for name, array in arrays.items()}
    return preparation(header["preparation"], own)


def _check_n_clusters(model: Any) -> None:
    """Refuse a model that was not fitted with the number of clusters that it names."""
    if len(model.cluster_centers_) != model.n_clusters:
        raise ValueError(f"{len(model.cluster_centers_)} centers for {model.n_clusters} clusters")


def _told(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)


# Parameters


def _encoded(value: Any, name: str, arrays: Arrays) -> Any:
    """Give a parameter as JSON has it; an array goes to the arrays."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, _PLAIN):
        return value
    if type(value) is np.ndarray and value.dtype.kind in "biuf":
        arrays[name] = value
        return {"array": name}
    if isinstance(value, list | tuple):
        items = [_encoded(item, f"{name}/{i}", arrays) for i, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    if is_dataclass(value) and not isinstance(value, type):
        content = {
            field.name: _encoded(getattr(value, field.name), f"{name}/{field.name}", arrays)
            for field in fields(value)
        }
        return {"settings": type(value).__name__, "values": content}
    parameter = name.split("/")[1]
    raise TypeError(
        f"{parameter}={value!r} cannot be saved, because it is no plain data; "
        f"call set_params({parameter}=None) first, which leaves the fitted model as it is"
    )


def _decoded(value: Any, arrays: Arrays, settings: Mapping[str, type]) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list):
        return [_decoded(item, arrays, settings) for item in value]
    match value:
        case {"array": name}:
            return arrays[name]
        case {"tuple": items}:
            return tuple(_decoded(items, arrays, settings))
        case {"settings": name, "values": content}:
            made = {key: _decoded(item, arrays, settings) for key, item in content.items()}
            return _known(settings, name)(**made)
    raise ValueError(f"{value!r} is no parameter")


def _known(classes: Mapping[str, Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in classes:
        raise ValueError(f"there is no {name!r} in this version of kempe")
    return classes[name]


def _unfitted(
    header: dict[str, Any],
    arrays: Arrays,
    models: Mapping[str, type[Model]],
    settings: Mapping[str, type],
) -> Model:
    given = {
        name: _decoded(value, arrays, settings) for name, value in header["parameters"].items()
    }
    model: Any = _known(models, header["class"])(**given)
    model._validate_params()
    return model  # type: ignore[no-any-return]


# What was fitted

# Numbers that only a fit with soft pairs has.
_OF_SOFT_PAIRS = ("soft_violation", "noise")


def _encoded_attributes(model: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Give the attributes that fitting made as JSON has them; arrays go to the arrays."""
    arrays["labels"], arrays["centers"] = model["labels_"], model["cluster_centers_"]
    fitted = {name: model[f"{name}_"] for name in ("inertia", "n_iter", "n_features_in")}
    if "feature_names_in_" in model:
        fitted["feature_names_in"] = [str(name) for name in model["feature_names_in_"]]
    if "cluster_names_" in model:
        fitted["cluster_names"] = [str(name) for name in model["cluster_names_"]]
    for name in _OF_SOFT_PAIRS:
        if f"{name}_" in model:
            fitted[name] = model[f"{name}_"]
    return fitted | {"result": _encoded_result(model["result_"], arrays)}


def _decoded_attributes(fitted: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    n_features = _whole(fitted, "n_features_in", 1)
    centers = _array(arrays, "centers", 2, np.float64, np.float32)
    if not centers.size or centers.shape[1] != n_features:
        raise ValueError(f"centers of shape {centers.shape} do not have {n_features} features")
    if not np.isfinite(centers).all():
        raise ValueError("centers contain NaN or infinity")
    attributes = {
        "cluster_centers_": centers,
        "labels_": _clusters(arrays, "labels", len(centers)),
        "inertia_": _number(fitted, "inertia"),
        "n_iter_": _whole(fitted, "n_iter", 1),
        "n_features_in_": n_features,
        "result_": _decoded_result(fitted["result"], arrays, len(centers)),
    }
    if "feature_names_in" in fitted:
        names = _texts(fitted["feature_names_in"], n_features)
        attributes["feature_names_in_"] = np.array(names, dtype=object)
    if "cluster_names" in fitted:
        clusters = _texts(fitted["cluster_names"], len(centers))
        attributes["cluster_names_"] = np.array(clusters, dtype=object)
    for name in _OF_SOFT_PAIRS:
        if name in fitted:
            attributes[f"{name}_"] = _number(fitted, name)
    return attributes


def _encoded_result(result: Result, arrays: Arrays) -> dict[str, Any]:
    history = result.statistics
    kinds = sorted(set(history.kind))
    arrays["colours"] = result.solution.colours
    arrays["history/iteration"] = np.array(history.iteration, dtype=np.int64)
    arrays["history/kind"] = np.searchsorted(kinds, history.kind).astype(np.int32)
    for column in history.columns[2:]:
        arrays[f"history/{column}"] = np.array(getattr(history, column), dtype=np.float64)
    plain = (*_COUNTED, "stop_reason", "inertia", "objective", "runtime", "cpu_time")
    encoded = {"kinds": kinds} | {name: getattr(result, name) for name in plain}
    return encoded | ({} if result.broken is None else _encoded_broken(result.broken, arrays))


_COUNTED = ("n_mutations", "n_supernodes", "n_edges")
_MEASURED = ("inertia", "best_inertia", "elapsed")
# Written where it is not the inertia: lists of the history, and what stands for them otherwise.
_OBJECTIVE = {"objective": "inertia", "best_objective": "best_inertia"}


def _decoded_result(result: dict[str, Any], arrays: Arrays, n_clusters: int) -> Result:
    n_mutations, n_supernodes, n_edges = (_whole(result, name, 0) for name in _COUNTED)
    (stop_reason,) = _texts([result["stop_reason"]], 1)
    colours = _clusters(arrays, "colours", n_clusters)
    if colours.size != n_supernodes:
        raise ValueError(f"{colours.size} colours for {n_supernodes} supernodes")
    inertia = _number(result, "inertia")
    # Files of earlier versions do not have it.
    objective = _number(result, "objective") if "objective" in result else inertia
    return Result(
        solution=Solution(colours, inertia, objective),
        n_mutations=n_mutations,
        stop_reason=stop_reason,
        statistics=_decoded_history(result["kinds"], arrays),
        runtime=_number(result, "runtime"),
        cpu_time=_number(result, "cpu_time"),
        n_supernodes=n_supernodes,
        n_edges=n_edges,
        broken=_decoded_broken(result["broken"], arrays) if "broken" in result else None,
    )


def _encoded_broken(broken: BrokenPairs, arrays: Arrays) -> dict[str, Any]:
    """Give the soft pairs that were broken; names of rows only where they are not numbers."""
    for column in ("pairs", "together", "confidence", "price"):
        arrays[f"broken/{column}"] = getattr(broken, column)
    price = broken.pair_price
    plain: dict[str, Any] = {}
    if price is not None:
        plain |= {"unit": price.unit, "assumed": price.assumed}
    if broken.names != [tuple(pair) for pair in broken.pairs.tolist()]:
        plain["names"] = [[_plain_name(name) for name in pair] for pair in broken.names]
    return {"broken": plain}


def _plain_name(name: Any) -> Any:
    """Give the name of a row as JSON has it; what is neither text nor number becomes text."""
    value = name.item() if isinstance(name, np.generic) else name
    return value if isinstance(value, int | float | str) else str(value)


def _decoded_broken(broken: dict[str, Any], arrays: Arrays) -> BrokenPairs:
    pairs = _array(arrays, "broken/pairs", 2, np.int64, np.int32)
    together = _array(arrays, "broken/together", 1, np.bool_)
    confidence, price = (
        _array(arrays, f"broken/{name}", 1, np.float64) for name in ("confidence", "price")
    )
    names = [tuple(pair) for pair in broken.get("names", pairs.tolist())]
    lengths = {len(column) for column in (pairs, together, confidence, price, names)}
    if len(lengths) > 1 or pairs.shape[1] != 2 or any(len(pair) != 2 for pair in names):
        raise ValueError("the columns of broken pairs have different lengths")
    pair_price = None
    if "unit" in broken:
        pair_price = PairPrice(_number(broken, "unit"), _number(broken, "assumed"))
    return BrokenPairs(pairs, together, confidence, price, names, pair_price)


def _decoded_history(kinds: Any, arrays: Arrays) -> Statistics:
    names = _texts(kinds, len(kinds))
    iteration = _array(arrays, "history/iteration", 1, np.int64)
    kind = _array(arrays, "history/kind", 1, np.int32)
    measured = {name: _array(arrays, f"history/{name}", 1, np.float64) for name in _MEASURED}
    for name, otherwise in _OBJECTIVE.items():
        known = f"history/{name}" in arrays
        measured[name] = (
            _array(arrays, f"history/{name}", 1, np.float64) if known else measured[otherwise]
        )
    if len({column.size for column in (iteration, kind, *measured.values())}) > 1:
        raise ValueError("the columns of the history have different lengths")
    if kind.size and (kind.min() < 0 or kind.max() >= len(names)):
        raise ValueError("the history has a kind of solution without a name")
    return Statistics(
        iteration=iteration.tolist(),
        kind=[names[number] for number in kind.tolist()],
        **{name: column.tolist() for name, column in measured.items()},
    )


# Checks


def _array(arrays: Arrays, name: str, n_dimensions: int, *types: type) -> NDArray[Any]:
    array = arrays[name]
    if array.ndim != n_dimensions or array.dtype not in types:
        raise ValueError(f"{name} is an array of shape {array.shape} and type {array.dtype}")
    return np.ascontiguousarray(array)


def _clusters(arrays: Arrays, name: str, n_clusters: int) -> NDArray[np.int32]:
    clusters = _array(arrays, name, 1, np.int32)  # none of a model that was fitted on a cluster
    if clusters.min(initial=0) < 0 or clusters.max(initial=0) >= n_clusters:
        raise ValueError(f"{name} are not numbers of the {n_clusters} clusters")
    return clusters


def _whole(values: Mapping[str, Any], name: str, least: int) -> int:
    value = values[name]
    if type(value) is not int or value < least:
        raise ValueError(f"{name} must be a whole number from {least}, not {value!r}")
    return value


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values[name]
    if not isinstance(value, int | float) or not (0 <= value < math.inf):
        raise ValueError(f"{name} must be a finite number from 0, not {value!r}")
    return float(value)


def _texts(values: Any, count: int) -> Sequence[str]:
    if not isinstance(values, list) or len(values) != count:
        raise ValueError(f"{values!r} is not a list of {count} names")
    for value in values:
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is no name")
    return values
