"""Every rival is a scikit-learn estimator."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kempe.rivals import BLPKMCC, CLCKM, COPKM, COPKM_P, ICOPKM, PCCC, PCKMeans, S_MDEClust

RIVALS = [
    COPKM(n_clusters=3),
    COPKM_P(n_clusters=3),
    ICOPKM(n_clusters=3),
    CLCKM(n_clusters=3),
    BLPKMCC(n_clusters=3),
    PCCC(n_clusters=3),
    PCKMeans(n_clusters=3),
    S_MDEClust(n_clusters=3, population_size=4, max_generations=2),
]

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a seed draws other starting rows when rows are repeated, as in scikit-learn's KMeans"
    ),
}


@pytest.mark.slow
@parametrize_with_checks(RIVALS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_scikit_learn_conformity(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", RIVALS, ids=lambda e: type(e).__name__)
def test_a_pipeline_passes_the_pairs_on(estimator, planted, violations):
    case = planted(1, n_pairs=12)
    model = make_pipeline(StandardScaler(), clone(estimator).set_params(random_state=0))
    name = model.steps[-1][0]
    pairs = {f"{name}__constraints": case.constraints}
    model.fit(case.X, **pairs)
    assert violations(model[-1].labels_, case.constraints) == []
