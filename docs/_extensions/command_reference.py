"""The directive ``command-reference``: every command with its options, read from the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from typer.main import get_command

from kempe.cli.app import app as kempe


def commands(command: Any, context: Any) -> Iterator[tuple[Any, Any]]:
    """Give every command that does something, with its context, groups taken apart."""
    if not hasattr(command, "list_commands"):
        yield command, context
        return
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        yield from commands(child, child.context_class(child, info_name=name, parent=context))


def every_command() -> Iterator[tuple[Any, Any]]:
    """Give every command of the program."""
    root = get_command(kempe)
    return commands(root, root.context_class(root, info_name="kempe"))


class CommandReference(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Make the sections."""
        return [self._section(command, context) for command, context in every_command()]

    def _section(self, command: Any, context: Any) -> nodes.section:
        path = context.command_path
        section = nodes.section(ids=[nodes.make_id(path)], names=[path])
        section += nodes.title(text=path)
        for paragraph in (command.help or "").split("\n\n"):
            section += self._paragraph(" ".join(paragraph.split()))
        pieces = " ".join([path, *command.collect_usage_pieces(context)])
        section += nodes.literal_block(pieces, pieces, language="text")
        section += self._options(command, context)
        return section

    def _options(self, command: Any, context: Any) -> nodes.definition_list:
        listed = nodes.definition_list(classes=["options"])
        for parameter in command.get_params(context):
            record = parameter.get_help_record(context)
            if record is None:  # an argument of plain click has no text of its own
                continue
            name, text = record
            term = nodes.term("", "", nodes.literal(text=name.strip()))
            listed += nodes.definition_list_item(
                "", term, nodes.definition("", self._paragraph(text))
            )
        return listed

    def _paragraph(self, text: str) -> nodes.Node:
        """Read the backquotes of a help text as Markdown does."""
        source = text.replace("[", "\\[")
        node = nodes.Element()
        self.state.nested_parse(StringList([source], "command"), self.content_offset, node)
        return node[0] if node.children else nodes.paragraph()


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
