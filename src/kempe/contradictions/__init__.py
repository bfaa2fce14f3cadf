"""Constraints that contradict each other: which pairs to give up, and proof that so many must."""

from kempe.contradictions.contradiction import Contradiction
from kempe.contradictions.relaxation import Relaxation, RelaxProgress
from kempe.contradictions.relaxing import relax

__all__ = ["Contradiction", "RelaxProgress", "Relaxation", "relax"]
