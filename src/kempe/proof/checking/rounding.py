"""Rounding to one side, and how far floating-point numbers can be off."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from kempe.exceptions import CertificateError

Floats = NDArray[np.float64]

# Twice the unit round-off. The factor leaves room for terms of second order, for libraries that
# multiply by reciprocals, and for computing the error bounds themselves in floating point.
EPSILON = 2.0**-52
# Next to a weight of 1, a smaller one could underflow in products.
LIGHTEST = 2.0**-400
# Far above what underflows, far below what matters next to lengths of 1.
TINY = 2.0**-450


def require(holds: bool, reason: str) -> None:
    """Raise an error with the reason, unless something holds."""
    if not holds:
        raise CertificateError(reason)


def gamma(n: float) -> float:
    """Relative error of a sum of n products, or of n operations, in any order."""
    return n * EPSILON / (1 - n * EPSILON)


def sum_of_squares(rows: Floats, weights: Floats | float = 1.0) -> float:
    """Weighted sum of squares."""
    return math.fsum(weights * np.einsum("ij,ij->i", rows, rows))


def exponent_of(values: Floats) -> int:
    """Exponent of a power of two just above all values."""
    return int(np.frexp(max(values.max(initial=0.0), -values.min(initial=0.0)))[1])


def power(scale: float) -> int:
    """Exponent of a power of two."""
    mantissa, exponent = math.frexp(scale)
    require(mantissa == 0.5, f"the scale {scale!r} is no power of two")
    return exponent - 1


def rescaled(value: float, exponent: int, towards: float) -> float:
    """Value times a power of two, rounded to one side."""
    try:
        return math.nextafter(math.ldexp(value, exponent), towards)
    except OverflowError:
        return math.inf
