"""The cannot-link graph: what it looks like, whether it can be coloured, and proofs if not."""

from kempe.graph.cannot_link import CannotLinkGraph

__all__ = ["CannotLinkGraph"]
