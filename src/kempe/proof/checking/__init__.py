"""The checker: proves a lower bound from a certificate, and trusts nothing in it.

It shares no code with what finds certificates and needs numpy and scipy only. Whoever doubts a
bound needs to read this folder, and the meaning of the fields in ``nodes.py`` and
``certificate.py``:

- ``check.py``: the claims, the labels, the parts;
- ``facts.py`` and ``tree.py``: which groups are together or apart, and the cases of a proof;
- ``groups.py`` and ``rounding.py``: groups of rows as points, and what rounding can do to them;
- a file for each kind of bound: ``spectrum.py``, by the eigenvalues of a matrix, and ``prices.py``,
  by what a cluster anywhere can take;
- ``terms.py``: what limits on sizes and soft pairs add to the first of them.
"""

from kempe.proof.checking.check import check, prove

__all__ = ["check", "prove"]
