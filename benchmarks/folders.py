"""Where benchmark data and reference figures are looked for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kempe import datasets
from kempe.datasets.sources import folders

ROOT = Path(__file__).resolve().parents[1]


def paper_values() -> dict[tuple[str, str, float, str, str], float | None]:
    """Give the numbers of the paper's tables; see ``experiments.tables``."""
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))  # a script has only its own folder there
    from experiments.tables import paper_values

    return paper_values()


def shared() -> Path:
    """Folder with data and reference figures: $KEMPE_SHARED, else ``shared`` by the repository."""
    beside = ROOT.parent / "shared"
    return Path(os.environ.get("KEMPE_SHARED", beside))


def use_shared_data() -> None:
    """Let this process and its workers find the data files, unless $KEMPE_DATA says otherwise."""
    data = shared() / "data"
    if data.is_dir():
        os.environ.setdefault("KEMPE_DATA", str(data))


def available(dataset: str) -> bool:
    """Whether a data set can be had without the internet."""
    collection, name = dataset.split("/")
    if collection in ("COL2", "COL3"):
        return bool(datasets.describe(dataset))
    return any((folder / collection / f"{name}.npz").is_file() for folder in folders())
