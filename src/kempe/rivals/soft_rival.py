"""What rivals share that know soft pairs: their ``fit``, and what is told of broken pairs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.base import _fit_context

from kempe.clusterer import ConstrainedClusterer
from kempe.constraints import Constraints
from kempe.fit_arguments import constraints_of_fit
from kempe.problem import Centroids, Problem
from kempe.rivals.soft import WeightedPairs, weighed_links, weights_of
from kempe.search.result import BrokenPairs, Result


class SoftRival(ConstrainedClusterer):
    """Base class: subclasses search with weighted pairs, and say what weight 1 costs."""

    _takes_soft_pairs: ClassVar[bool] = True

    __metadata_request__fit: ClassVar = {
        "soft_must_link": True,
        "soft_cannot_link": True,
        "soft_must_link_confidence": True,
        "soft_cannot_link_confidence": True,
    }

    soft_price: float | None
    soft_violation_: float

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        must_link: object = None,
        cannot_link: object = None,
        constraints: Constraints | None = None,
        sample_weight: ArrayLike | None = None,
        soft_must_link: object = None,
        soft_cannot_link: object = None,
        soft_must_link_confidence: ArrayLike | None = None,
        soft_cannot_link_confidence: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of ``X`` so that every hard constraint holds.

        Parameters
        ----------
        X
            Data of shape (n_rows, n_features). float32 stays float32.
        y
            Ignored; here for scikit-learn's interface.
        must_link, cannot_link
            Pairs of 0-based row numbers that belong together or apart: an (m, 2) array, a list of
            tuples, a data frame of two columns or an n x n sparse matrix.
        constraints
            Both kinds of pairs as one ``Constraints``, instead of the two arguments above. The
            probabilities of its soft pairs are their confidences, 1 where there are none.
        sample_weight
            Weight of each row; all 1 by default.
        soft_must_link, soft_cannot_link
            Pairs, in the same forms, that should belong together or apart.
        soft_must_link_confidence, soft_cannot_link_confidence
            Confidence of each soft pair, or one number for all; 1 by default.

        Returns
        -------
        self

        Raises
        ------
        InfeasibleConstraintsError
            If the hard constraints contradict each other or need more than ``n_clusters`` clusters.
        NoSolutionFoundError
            If the method found no clustering, which may nevertheless exist.
        """
        given = constraints_of_fit(y, must_link, cannot_link, constraints)
        told = (
            soft_must_link,
            soft_cannot_link,
            soft_must_link_confidence,
            soft_cannot_link_confidence,
        )
        if any(part is not None for part in told):
            if given.soft.count:
                raise ValueError("constraints have soft pairs already: give all of them there")
            given = given.with_soft(weighed_links(*told))
        # Weights are no probabilities, so the problem itself knows nothing of these pairs.
        problem = self._build_problem(X, given.without_soft(), sample_weight)
        given.soft.check_rows(problem.n_rows)
        soft = WeightedPairs.of(problem, given.soft)
        result = self._search(problem, soft)
        self._store(X, replace(problem, constraints=given), self._told(problem, given, result))
        self.soft_violation_ = soft.violation(result.solution.colours)
        return self

    @abstractmethod
    def _search(self, problem: Problem, soft: WeightedPairs) -> Result:
        """Cluster the supernodes of a problem, with pairs that may be broken."""

    @abstractmethod
    def _price(self, problem: Problem, centroids: Centroids) -> float:
        """Give what breaking a pair of weight 1 costs."""

    def _solve(self, problem: Problem) -> Result:
        return self._search(problem, WeightedPairs.none())

    def _told(self, problem: Problem, given: Constraints, result: Result) -> Result:
        """Add which soft pairs are broken, and what each costs at the centroids of the result."""
        if not given.soft.count:
            return result
        colours = result.solution.colours
        price = self._price(problem, problem.means(colours)[0])
        labels = problem.labels(colours)
        broken = BrokenPairs.of(given, labels, None, lambda said: price * weights_of(said))
        return replace(result, broken=broken)
