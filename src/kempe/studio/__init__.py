"""A page in the browser that asks a person about pairs and shows the clusters that follow."""

from kempe.studio.server import Studio
from kempe.studio.table import NamedColumns

__all__ = ["NamedColumns", "Studio"]
