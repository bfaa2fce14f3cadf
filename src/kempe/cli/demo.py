"""``kempe demo``: handwritten digits, with and without constraints."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kempe.cli.console import check_outputs

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from kempe.constraints import Constraints

SHARE = 0.05

T = TypeVar("T")


def demo(
    out: Annotated[Path, typer.Option(metavar="PNG", help="Where to write the picture.")] = Path(
        "kempe-demo.png"
    ),
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Seed of the constraints and of the runs.")
    ] = 0,
) -> None:
    """Cluster handwritten digits, with constraints and without."""
    from rich.console import Console
    from sklearn.datasets import load_digits
    from threadpoolctl import threadpool_limits

    check_outputs([out])
    X, digits = load_digits(return_X_y=True)
    constraints = draw_constraints(digits, SHARE, seed)
    console = Console(highlight=False)
    console.print(
        f"Digits: {X.shape[0]:,} images of {X.shape[1]} pixels in 10 clusters; "
        f"{constraints.summary()}\n",
        soft_wrap=True,
    )
    # One thread: on data this small, many only wait for each other when the machine is busy.
    with threadpool_limits(1):
        runs = [_plain(X, seed), _constrained(X, constraints, seed)]
        console.print(_table(runs, digits, constraints))
        drawn = _draw(X, runs, constraints, seed, out)
    if drawn:
        console.print(f"\nPicture: {out}", soft_wrap=True)


@dataclass(frozen=True)
class Run:
    """A clustering of the digits."""

    name: str
    labels: NDArray[np.int32]
    inertia: float
    seconds: float


def draw_constraints(labels: NDArray[np.integer], share: float, seed: int) -> Constraints:
    """Pairs of rows at random, as many as a ``share`` of the rows has among itself."""
    import numpy as np

    from kempe.constraints import Constraints

    n_rows = labels.size
    some = int(np.ceil(share * n_rows))
    pairs = np.random.default_rng(seed).integers(n_rows, size=(some * (some - 1) // 2, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    return Constraints(pairs[same], pairs[~same], n_rows=n_rows)


def _plain(X: NDArray[np.float64], seed: int) -> Run:
    from sklearn.cluster import KMeans

    model, seconds = _timed(lambda: KMeans(n_clusters=10, n_init=10, random_state=seed).fit(X))
    return Run("k-means", model.labels_, model.inertia_, seconds)


def _constrained(X: NDArray[np.float64], constraints: Constraints, seed: int) -> Run:
    from kempe.methods import create

    model = create("kempe", n_clusters=10, random_state=seed)
    _, seconds = _timed(lambda: model.fit(X, constraints=constraints))
    return Run("kempe", model.labels_, model.inertia_, seconds)


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started


def satisfied(labels: NDArray[np.integer], constraints: Constraints) -> tuple[int, int]:
    """How many must-link and cannot-link pairs a labelling respects."""
    ml, cl = (labels[pairs] for pairs in (constraints.must_link, constraints.cannot_link))
    return int((ml[:, 0] == ml[:, 1]).sum()), int((cl[:, 0] != cl[:, 1]).sum())


def _table(runs: list[Run], truth: NDArray[np.integer], constraints: Constraints) -> Table:
    from rich.table import Table
    from sklearn.metrics import adjusted_rand_score

    table = Table()
    table.add_column("method")
    for name in ("inertia", "must-link held", "cannot-link held", "ARI", "seconds"):
        table.add_column(name, justify="right")
    for run in runs:
        together, apart = satisfied(run.labels, constraints)
        table.add_row(
            run.name,
            f"{run.inertia:,.0f}",
            f"{together:,}/{len(constraints.must_link):,}",
            f"{apart:,}/{len(constraints.cannot_link):,}",
            f"{adjusted_rand_score(truth, run.labels):.3f}",
            f"{run.seconds:.2f}",
        )
    return table


def _draw(
    X: NDArray[np.float64], runs: list[Run], constraints: Constraints, seed: int, out: Path
) -> bool:
    """Write the picture; False if matplotlib is missing."""
    from kempe.cli.console import note

    try:
        import matplotlib
    except ImportError:
        note('No picture: it needs matplotlib, pip install "kempe[plot]".')
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from kempe.plotting import plot_clusters
    from kempe.report.beside import matched
    from kempe.storage import replacing

    places = _embed(X, seed)
    figure, panels = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
    reference = runs[-1].labels
    for panel, run in zip(panels, runs, strict=True):
        plot_clusters(
            places, matched(run.labels, reference, 10), constraints, ax=panel, max_pairs=40
        )
        broken = sum(map(len, (constraints.must_link, constraints.cannot_link))) - sum(
            satisfied(run.labels, constraints)
        )
        panel.set_title(f"{run.name}: {broken:,} constraints violated")
    with replacing(out, "wb") as file:
        figure.savefig(file, format=out.suffix.lstrip(".") or "png", dpi=110)
    plt.close(figure)
    return True


def _embed(X: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Places in the plane that keep neighbours together."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    # Enough for a picture; the defaults take several times as long.
    tsne = TSNE(init="pca", perplexity=15, max_iter=300, angle=0.8, random_state=seed)
    return tsne.fit_transform(PCA(20, random_state=seed).fit_transform(X))  # type: ignore[no-any-return]
