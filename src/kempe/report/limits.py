"""What limits on the sizes of clusters cost: the same clustering without them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kempe.engine import KempeKMeans
from kempe.sizes import SizeLimits

if TYPE_CHECKING:
    from kempe.report.report import Report

# A search that goes on from the clustering itself needs few mutations to find what limits forbid.
MUTATIONS = 200


@dataclass(frozen=True, eq=False)
class LimitCost:
    """Limits, and what the same search reaches without them.

    Attributes
    ----------
    limits
        Fewest and most rows of each cluster.
    free
        The objective without limits.
    share
        How far the objective within limits lies above, as a share of that.
    """

    limits: SizeLimits
    free: float
    share: float

    @classmethod
    def of(cls, report: Report) -> LimitCost | None:
        """Search on without limits; ``None`` if there are none.

        Parameters
        ----------
        report
            About a clustering within limits.
        """
        said, problem = report.settings, report.problem
        limits = SizeLimits.of(
            said.get("size_min"), said.get("size_max"), problem.n_rows, problem.n_clusters
        )
        if limits is None:
            return None
        soft = {name: said[name] for name in ("confidence", "soft_price") if name in said}
        mutations = min(MUTATIONS, report.result.n_mutations)
        model = KempeKMeans(problem.n_clusters, max_mutations=mutations, random_state=0, **soft)
        model.fit(
            problem.rows,
            constraints=problem.constraints,
            sample_weight=problem.row_weight,
            init=report.labels,
        )
        free = min(model.objective_, report.result.objective)
        return cls(limits, free, report.result.objective / free - 1 if free > 0 else 0.0)
