"""How far a clustering can be from the best one, with a proof that anyone can check."""

from kempe.proof.certificate import OptimalityCertificate, Verification
from kempe.proof.progress import ProofCallbacks, ProofState

__all__ = ["OptimalityCertificate", "ProofCallbacks", "ProofState", "Verification"]
