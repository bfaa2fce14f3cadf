"""Tables in LaTeX, in the manner of the package booktabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{symbol: f"\\{symbol}" for symbol in "&%_#${}"},
}
_MARK = re.compile("|".join(map(re.escape, _MARKS)))


def latex_text(text: str) -> str:
    r"""Text that LaTeX sets as it is.

    Examples
    --------
    >>> print(latex_text("KSKM_E, 50 %"))
    KSKM\_E, 50 \%
    """
    return _MARK.sub(lambda found: _MARKS[found[0]], " ".join(text.split()))


def latex_table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], *, n_left: int = 1
) -> str:
    """Give a table.

    Parameters
    ----------
    caption, head
        Text, which is escaped.
    rows
        Cells as LaTeX, see ``latex_text``.
    n_left
        Columns that are aligned on the left.
    """
    columns = "l" * n_left + "r" * (len(head) - n_left)
    lines = "".join(f"{' & '.join(row)} \\\\\n" for row in rows)
    return (
        "\\begin{table}\n"
        f"\\caption{{{latex_text(caption)}}}\n"
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        f"{' & '.join(map(latex_text, head))} \\\\\n\\midrule\n"
        f"{lines}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )
