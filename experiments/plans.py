"""The paper's experiments as plans."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent / "plans"


def names() -> list[str]:
    """Name the plans."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def plan_file(name: str) -> Path:
    """Give the file of a plan; a path is one itself."""
    if name in names():
        return FOLDER / f"{name}.toml"
    path = Path(name)
    if not path.is_file():
        raise ValueError(
            f"{name} is neither a file nor a plan of the paper; those are {', '.join(names())}"
        )
    return path
