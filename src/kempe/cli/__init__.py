"""The command line: ``kempe demo``, ``fit``, ``check``, ``methods`` and ``bench``."""

from kempe.cli.app import app


def main() -> None:
    """Run the command line."""
    app(prog_name="kempe")


__all__ = ["app", "main"]
