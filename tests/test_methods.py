"""The registry of methods."""

from __future__ import annotations

import pytest

from kempe import KSKM, KempeKMeans, methods
from kempe.clusterer import ConstrainedClusterer
from kempe.kskm import ExactParams

RIVALS = ["PCCC", "BLPKMCC", "BLPKMCC_plain", "S_MDEClust", "COPKM", "COPKM_P", "ICOPKM", "CLCKM"]
RIVALS += ["PCKMeans", "PCCC_squared", "COPKM_text", "COPKM_P_text"]

TEXT = {
    "max_mutations": 200,
    "exact": False,
    "after_perturbation": "step",
    "patience": None,
}
AS_RUN = TEXT | {
    "relocation": "coincide",
    "after_perturbation": "settle",
    "failures_before_return": 6,
    "patience": 11,
}


def exact(*, nonempty):
    return {
        "max_mutations": 50,
        "exact": ExactParams("auto", None, False, False, False, nonempty),
    }


@pytest.mark.parametrize("name", RIVALS)
def test_every_rival_can_be_created_by_its_name(name):
    model = methods.create(name, n_clusters=3, random_state=0, time_limit=1.0)
    assert isinstance(model, ConstrainedClusterer)
    assert model.time_limit == 1.0
    assert name in methods.names()


def test_rivals_have_the_settings_of_the_paper():
    assert methods.create("S_MDEClust", 3).population_size == 10
    assert methods.create("BLPKMCC", 3).metric == "sqeuclidean"
    assert methods.create("BLPKMCC_plain", 3).metric == "euclidean"
    pccc = methods.create("PCCC", 3)
    assert (pccc.n_nearest, pccc.repositioning, pccc.quality) == (10, "inertia", "euclidean")
    assert methods.create("PCCC_squared", 3).quality == "sqeuclidean"


def test_every_rival_starts_as_its_publication_says():
    starts = {name: methods.create(name, 3).init for name in RIVALS}
    plus_plus = {name for name, init in starts.items() if init == "k-means++"}
    assert plus_plus == {"PCCC", "PCCC_squared", "COPKM_P", "COPKM_P_text"}
    assert starts.pop("PCKMeans") == "neighbourhoods"
    assert {starts[name] for name in set(starts) - plus_plus} == {"random"}


def test_methods_whose_programs_draw_their_own_start_are_given_none():
    given = {name for name in methods.names() if methods.takes_start(name)}
    own = {"PCKMeans", "BLPKMCC", "BLPKMCC_plain", "IPC_KMeans", "S_MDEClust"}
    assert set(methods.names()) - given == own


def test_ipc_kmeans_descends_from_a_semidefinite_relaxation(planted, violations):
    case = planted(3)
    model = methods.create("IPC_KMeans", 3, random_state=0)
    assert (model.init, model.metric) == ("sdp", "sqeuclidean")
    model.fit(case.X, constraints=case.constraints)
    assert violations(model.labels_, case.constraints) == []


def test_options_override_the_settings_of_the_paper():
    assert methods.create("S_MDEClust", 3, population_size=5).population_size == 5
    assert methods.create("COPKM", 3, init="k-means++").init == "k-means++"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("KSKM", AS_RUN | {"perturbation": 2 / 3}),
        ("KSKM_repo", AS_RUN | {"perturbation": 0.0}),
        ("KSKM_E", AS_RUN | exact(nonempty=False) | {"perturbation": 0.8}),
        ("KSKM_E_repo", AS_RUN | exact(nonempty=False) | {"perturbation": 0.0}),
        ("KSKM_text", TEXT | {"perturbation": 0.8}),
        ("KSKM_repo_text", TEXT | {"perturbation": 0.0}),
        ("KSKM_E_text", TEXT | exact(nonempty=True) | {"perturbation": 0.8}),
        ("KSKM_E_repo_text", TEXT | exact(nonempty=True) | {"perturbation": 0.0}),
        ("kempe", KempeKMeans().get_params()),
    ],
)
def test_kempe_swap_methods_have_the_settings_of_the_paper(name, settings, planted, violations):
    model = methods.create(name, n_clusters=3, random_state=5)
    assert isinstance(model, KempeKMeans if name == "kempe" else KSKM)
    for parameter, value in settings.items():
        if parameter not in ("n_clusters", "random_state"):
            assert getattr(model, parameter) == value, parameter
    assert (model.n_clusters, model.random_state) == (3, 5)
    case = planted(1)
    model.set_params(max_mutations=3).fit(case.X, constraints=case.constraints)
    assert violations(model.labels_, case.constraints) == []


def test_a_method_that_nobody_knows_is_refused_with_the_names_that_are_known():
    with pytest.raises(ValueError, match=r"unknown method 'KSKN'; known are kempe, KSKM"):
        methods.create("KSKN", n_clusters=3)
