"""What goes wrong, as a line on the screen and an exit code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from kempe.exceptions import (
    RELAX,
    CertificateError,
    InfeasibleConstraintsError,
    NoSolutionFoundError,
    WorkerLostError,
)

NOT_PROVEN = 1
BAD_INPUT = 2
INFEASIBLE = 3
NOTHING_FOUND = 4
INTERRUPTED = 130


@contextmanager
def codes_of_errors() -> Iterator[None]:
    """Show an error that is no fault of the program in one line, and end with its code."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
            return
        except BrokenPipeError:
            raise  # whoever reads has had enough, which is no error
        except KeyboardInterrupt:
            message, code = "stopped by Ctrl-C before there was anything to show", INTERRUPTED
        except InfeasibleConstraintsError as error:
            message, code = _one_line(error), INFEASIBLE
        except NoSolutionFoundError as error:
            message, code = _one_line(error), NOTHING_FOUND
        except CertificateError as error:
            message, code = _one_line(error), NOT_PROVEN
        except (ValueError, TypeError, OSError, ImportError, MemoryError, WorkerLostError) as error:
            message, code = _one_line(error), BAD_INPUT
    complain(message)
    raise typer.Exit(code)


def complain(message: str) -> None:
    """Show an error."""
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(message, err=True)


def _show_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    typer.echo(f"note: {message}", file=sys.stderr)


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory; {error}".rstrip("; ")
    if isinstance(error, InfeasibleConstraintsError) and error.advice == RELAX:
        return f"{error.message}; {RELAX.replace('kempe.relax', 'kempe relax')}"
    return (str(error) or type(error).__name__) + _advice(error)


def _advice(error: BaseException) -> str:
    """Say by which option a table could be read, if there is one."""
    from kempe.tables.errors import TableError, Unsaid

    if not isinstance(error, TableError) or error.unsaid is None:
        return ""
    return {
        Unsaid.NAMES_OR_VALUES: ": say --header or --no-header",
        Unsaid.NAMES: "; if its first line holds names, use --header",
        Unsaid.IDS: "; if pairs are of ids, name the column of ids of the data: --id-column NAME",
        Unsaid.ENCODING: "; save it as UTF-8, or say --encoding, for example cp1250",
        Unsaid.FORM: _FORMS,
        Unsaid.SOFT: ": give the file as --soft",
    }[error.unsaid]


_FORMS = """
  files of pairs, by ids if there is an --id-column and by row numbers from 0 if not:
    --must-link, --cannot-link   two columns         ann,bob
    --constraints                three columns       ann,bob,must-link  or  ann,bob,-1
                                 JSON                {"ml": [[0, 1]], "cl": [[2, 3], [4, 5]]}
    --soft                       and how sure        first,second,kind,confidence  above
                                                     ann,bob,must-link,0.9
                                 or a probability    first,second,probability  above  ann,bob,0.2
    --groups                     group and member    house 7,ann"""
