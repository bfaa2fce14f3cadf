"""The commands put together. Each is a module of its own and imports what is heavy when it runs."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from kempe.cli.certify import certify
from kempe.cli.check import check
from kempe.cli.console import complain
from kempe.cli.demo import demo
from kempe.cli.fit import fit
from kempe.cli.listing import methods
from kempe.cli.predict import predict
from kempe.cli.verify import verify
from kempe.exceptions import CertificateError, InfeasibleConstraintsError, NoSolutionFoundError

BAD_INPUT = 2
NO_SOLUTION = 1


class Commands(TyperGroup):
    """Turns errors into one line and an exit code: 2 for bad input, 1 for no solution or proof."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()  # here, where a full disk is an error with a message
            return answer
        except (InfeasibleConstraintsError, NoSolutionFoundError, CertificateError) as error:
            code = _explain(error, NO_SOLUTION)
        except (ValueError, TypeError, OSError, ImportError) as error:
            code = _explain(error, BAD_INPUT)
        raise typer.Exit(code)


class _LazyBench(TyperGroup):
    """The benchmark commands, imported when they are used."""

    def _load(self) -> Any:
        return get_command(import_module("kempe.cli.bench").app)

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the benchmark commands."""
        return list(self._load().list_commands(ctx))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Give one of the benchmark commands."""
        return self._load().get_command(ctx, cmd_name)


def _explain(error: Exception, code: int) -> int:
    complain(_one_line(error))
    return code


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error) or type(error).__name__


def _show_version(wanted: bool) -> None:
    if wanted:
        from kempe import __version__

        typer.echo(f"kempe {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    help="Cluster data so that every must-link and cannot-link constraint holds.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Cluster data so that every must-link and cannot-link constraint holds."""


app.command()(demo)
app.command()(fit)
app.command()(predict)
app.command()(check)
app.command()(methods)
app.command()(certify)
app.command()(verify)

if find_spec("kempe.cli.bench") is not None:
    _bench = typer.Typer(cls=_LazyBench, no_args_is_help=True)
    app.add_typer(_bench, name="bench", help="Run and report the benchmarks of the paper.")
