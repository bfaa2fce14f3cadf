"""How far a clustering can be from the best one, with a proof that anyone can check."""

from kempe.proof.certificate import OptimalityCertificate, Verification

__all__ = ["OptimalityCertificate", "Verification"]
