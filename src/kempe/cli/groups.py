"""Options that belong together: told once, in a data class, and given to commands as one object.

A command has a parameter of that class; ``expanded`` makes an option of each of its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple, get_type_hints


class Without(NamedTuple):
    """Beside a group in ``Annotated``: a field that the command has no option for."""

    field: str


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Make a function with an option for each field of the groups that a command has."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: _Group.of(hints[name]) for name in signature(command).parameters}
    options: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        group = groups[name]
        alone = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])
        options += [alone] if group is None else group.options()

    def call(**said: Any) -> None:
        grouped = {name: group.take(said) for name, group in groups.items() if group is not None}
        command(**grouped, **said)

    call.__doc__ = command.__doc__
    call.__annotations__ = {option.name: option.annotation for option in options}
    call.__signature__ = Signature(options)  # type: ignore[attr-defined]
    return call


class _Group(NamedTuple):
    """A data class of options, and those of its fields that are not wanted."""

    kind: type
    unwanted: frozenset[str]

    @classmethod
    def of(cls, hint: Any) -> _Group | None:
        kind = getattr(hint, "__origin__", hint)
        if not (isinstance(kind, type) and is_dataclass(kind)):
            return None
        beside = getattr(hint, "__metadata__", ())
        return cls(kind, frozenset(item.field for item in beside if isinstance(item, Without)))

    def _wanted(self) -> Iterator[Any]:
        return (field for field in fields(self.kind) if field.name not in self.unwanted)

    def options(self) -> list[Parameter]:
        """Give a parameter for each field."""
        hints = get_type_hints(self.kind, include_extras=True)
        return [
            Parameter(
                field.name,
                Parameter.KEYWORD_ONLY,
                default=Parameter.empty if field.name in _required(self.kind) else field.default,
                annotation=hints[field.name],
            )
            for field in self._wanted()
        ]

    def take(self, said: dict[str, Any]) -> Any:
        """Make the object of what was said, and take it from there."""
        return self.kind(**{field.name: said.pop(field.name) for field in self._wanted()})


def _required(kind: type) -> set[str]:
    """Names of the fields without a default."""
    parameters = signature(kind).parameters.values()
    return {parameter.name for parameter in parameters if parameter.default is Parameter.empty}
