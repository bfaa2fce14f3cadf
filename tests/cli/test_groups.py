"""Options told once for several commands, and options that only the command line knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

import kempe
from kempe.cli.errors import codes_of_errors
from kempe.cli.groups import Without, expanded
from kempe.tables import TableError, Unsaid


@dataclass(frozen=True)
class _Fruit:
    name: Annotated[str, typer.Argument()]
    number: Annotated[int, typer.Option(help="How many.")] = 3
    ripe: Annotated[bool, typer.Option("--ripe")] = False


def _made(function):
    app = typer.Typer()
    app.command()(expanded(function))
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_a_group_gives_an_option_for_each_field():
    def buy(price: Annotated[int, typer.Option()], fruit: _Fruit, quick: bool = False) -> None:
        """Buy fruit."""
        typer.echo(f"{price} {fruit} {quick}")

    run = _made(buy)
    done = run("apple", "--price", "5", "--number", "7", "--ripe")
    assert done.output == "5 _Fruit(name='apple', number=7, ripe=True) False\n"
    assert run("apple", "--price", "5").output.startswith("5 _Fruit(name='apple', number=3")
    assert "Buy fruit." in run("--help").output
    assert run("--price", "5").exit_code == 2  # an argument without a default is needed


def test_a_field_can_be_left_out():
    def buy(fruit: Annotated[_Fruit, Without("ripe")]) -> None:
        typer.echo(fruit.ripe)

    run = _made(buy)
    assert run("apple").output == "False\n"
    assert run("apple", "--ripe").exit_code == 2


@pytest.mark.parametrize("unsaid", Unsaid)
def test_the_command_line_adds_its_option_to_what_tables_say(unsaid, capsys):
    with pytest.raises(typer.Exit), codes_of_errors():
        raise TableError("something is wrong", unsaid)
    assert re.search(r"something is wrong[;:\n] .*--[a-z]", capsys.readouterr().err)


def test_nothing_but_the_command_line_knows_its_options():
    """Messages of the library are read by people who call it from Python, too."""
    folder = Path(kempe.__file__).parent
    option = re.compile(r"""["' ]--[a-z][a-z-]+""")
    found = {
        f"{path.relative_to(folder)}:{number}"
        for path in folder.glob("tables/*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if option.search(line)
    }
    assert not found
