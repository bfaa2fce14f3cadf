"""What a cluster of machines does, by one of them."""

from __future__ import annotations

from contextlib import contextmanager
from unittest.mock import patch

from kempe.engine import params
from kempe.engine.batched import BatchedDescent


@contextmanager
def in_batches():
    """Let fits descend with rows in no constraint moving all at once."""
    with patch.object(params, "SequentialDescent", BatchedDescent):
        yield
