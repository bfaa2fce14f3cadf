"""Tables in files: rows to cluster, pairs of rows, labels.

``open_table`` takes whatever the file is. A ``Table`` has names of columns and gives columns as
numbers or as text; what it says about a cell names the file and the line.
"""

from kempe.tables.constraint_file import names_in, read_constraint_file
from kempe.tables.errors import TableError, Unsaid
from kempe.tables.formats import open_table
from kempe.tables.ids import Ids
from kempe.tables.joined import JoinedTable
from kempe.tables.pairs import PairSet, groups_in_column, read_groups, read_pairs
from kempe.tables.source import STANDARD, Source
from kempe.tables.sureness import read_linked, read_soft_pairs
from kempe.tables.table import Table, TextColumnsError
from kempe.tables.writing import write_table

__all__ = [
    "STANDARD",
    "Ids",
    "JoinedTable",
    "PairSet",
    "Source",
    "Table",
    "TableError",
    "TextColumnsError",
    "Unsaid",
    "groups_in_column",
    "names_in",
    "open_table",
    "read_constraint_file",
    "read_groups",
    "read_linked",
    "read_pairs",
    "read_soft_pairs",
    "write_table",
]
