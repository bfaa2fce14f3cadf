"""The commands put together. Each is a module of its own, imported when it is used."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command

from kempe.cli.errors import codes_of_errors
from kempe.cli.groups import expanded


class Command(NamedTuple):
    """A command that has not been imported yet.

    Attributes
    ----------
    module
        Module of the command, in this package; it has a function, or an ``app``, of the same name.
    summary
        The first line of its help.
    """

    module: str
    summary: str


# Told here as well, because importing all of them for the list would make everybody wait.
COMMANDS = {
    "demo": Command("demo", "Cluster handwritten digits, with constraints and without."),
    "fit": Command("fit", "Cluster the rows of a table so that every constraint holds."),
    "predict": Command("predict", "Give the nearest cluster of each row, by a saved model."),
    "studio": Command("studio", "Answer questions about pairs in the browser."),
    "check": Command("check", "Say whether the constraints can be satisfied with k clusters."),
    "relax": Command("relax", "Find the fewest pairs to give up so that the others can hold."),
    "choose-k": Command("choose_k", "Try several numbers of clusters."),
    "compare": Command("compare", "Run several methods on a table and test the differences."),
    "methods": Command("listing", "List the methods that --method understands."),
    "certify": Command("certify", "Prove how far a clustering is from the best one at most."),
    "verify": Command("verify", "Check a certificate against the data."),
    "bench": Command("bench", "Run methods on many data sets by a plan, and report on them."),
}


class Commands(TyperGroup):
    """Imports the command that is asked for, and turns errors into one line and an exit code."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import one of the commands."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"kempe.cli.{COMMANDS[cmd_name].module}")
        if hasattr(module, "app"):
            return get_command(module.app)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(cmd_name)(expanded(getattr(module, cmd_name.replace("-", "_"))))
        return get_command(alone)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with codes_of_errors():
            answer = super().invoke(ctx)
            sys.stdout.flush()  # here, where a full disk is an error with a message
            return answer


def _show_version(wanted: bool) -> None:
    if wanted:
        from kempe import __version__

        typer.echo(f"kempe {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes take room from words, and time to draw
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
