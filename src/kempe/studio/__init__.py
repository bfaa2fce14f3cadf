"""A page in the browser that asks a person about pairs and shows the clusters that follow."""

from kempe.studio.server import Studio
from kempe.studio.table import Cells

__all__ = ["Cells", "Studio"]
