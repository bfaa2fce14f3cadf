"""The command line, a module for each command."""

from kempe.cli.app import app


def main() -> None:
    """Run the command line."""
    app(prog_name="kempe")


__all__ = ["app", "main"]
