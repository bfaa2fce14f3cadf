"""KempeKMeans where KMeans was: understood, refused, and scripts with one line changed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import check_estimator

from kempe import KSKM, KempeKMeans, clusterer
from kempe.engine import params
from kempe.rivals import COPKM

X = np.random.default_rng(0).normal(size=(60, 3))


@pytest.mark.parametrize("estimator", [KempeKMeans, KSKM])
def test_auto_is_the_usual_number_of_searches(estimator):
    auto, one = (estimator(3, n_init=n, random_state=0, max_mutations=3) for n in ("auto", 1))
    np.testing.assert_array_equal(auto.fit(X).labels_, one.fit(X).labels_)
    with pytest.raises(ValueError, match="n_init"):
        estimator(3, n_init="ten").fit(X)


@pytest.mark.parametrize("name", clusterer.OF_KMEANS)
def test_what_only_k_means_has_is_answered_in_a_sentence(name):
    with pytest.raises(TypeError, match=f"KempeKMeans has no {name}, as KMeans has: .*"):
        KempeKMeans(3, **{name: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        KempeKMeans(3, nonsense=1)


def test_methods_that_have_such_a_parameter_keep_it():
    assert COPKM(3, max_iter=7).max_iter == 7


def drawn(X, n_clusters, random_state):
    """Draw centroids as a function for KMeans does."""
    return X[random_state.choice(len(X), n_clusters, replace=False)]


def test_a_function_as_init_draws_the_centroids_of_every_start():
    seen = []

    def noted(X, n_clusters, random_state):
        seen.append(drawn(X, n_clusters, random_state))
        return seen[-1]

    KMeans(3, init=noted, n_init=1, random_state=0).fit(X)  # what is understood there
    seen.clear()
    once = KempeKMeans(3, init=noted, max_mutations=0, random_state=0).fit(X + 100)
    given = KempeKMeans(3, init=seen[0], max_mutations=0, random_state=0).fit(X + 100)
    np.testing.assert_array_equal(once.labels_, given.labels_)
    KempeKMeans(3, init=noted, random_state=0).fit(X + 100)
    assert len(seen) > 3, "every start, not the first alone"
    assert len(np.unique(seen, axis=0)) == len(seen) - 1, "with randomness of their own, repeatable"
    assert (np.array(seen) > 90).all(), "in the coordinates of the data"


def test_what_a_function_gives_as_init_is_checked():
    with pytest.raises(ValueError, match=r"init must have shape \(3, 3\), got \(2, 3\)"):
        KempeKMeans(3, init=lambda X, n_clusters, random_state: X[:2]).fit(X)


def test_a_function_as_init_sees_the_features_of_large_data(monkeypatch):
    """Where a search goes on in few dimensions, starts that users make are made in all of them."""
    monkeypatch.setattr(params, "is_worth_sketching", lambda problem: True)
    wide = np.random.default_rng(0).normal(size=(900, 120))
    model = KempeKMeans(3, init=drawn, max_mutations=20, random_state=0).fit(wide)
    assert model.cluster_centers_.shape == (3, 120)


def test_no_function_sees_all_rows_of_a_dask_array():
    dask = pytest.importorskip("dask.array")
    from kempe.dask import KempeKMeans as InParts

    with pytest.raises(ValueError, match="The 'init' parameter of KempeKMeans must be"):
        InParts(3, init=drawn).fit(dask.from_array(X, chunks=(20, 3)))


def test_copies_are_made_as_before():
    model = KempeKMeans(3, random_state=0, max_mutations=3).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params() == clone(model).get_params()


# Short scripts of the kind that scikit-learn shows; the first line is what changes.
OLD, NEW = "from sklearn.cluster import KMeans", "from kempe import KempeKMeans as KMeans"
SCRIPTS = {
    "digits, scaled, scored": """
import numpy as np
from sklearn import metrics
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
data, digits = load_digits(return_X_y=True)
reduced = PCA(n_components=8, random_state=0).fit_transform(data)
model = KMeans(init="k-means++", n_clusters=10, n_init=2, random_state=0)
model = make_pipeline(StandardScaler(), model)
model.fit(reduced)
score = metrics.v_measure_score(digits, model[-1].labels_)
means = PCA(n_components=8, random_state=0).fit(data).components_
model = KMeans(init=reduced[:10], n_clusters=10, n_init=1).fit(reduced)
""",
    "colours of a picture": """
import numpy as np
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import shuffle
picture = np.random.default_rng(0).random((40, 50, 3))
pixels = picture.reshape(-1, 3)
model = KMeans(n_clusters=8, random_state=0).fit(shuffle(pixels, random_state=0, n_samples=500))
labels = model.predict(pixels)
painted = model.cluster_centers_[labels].reshape(picture.shape)
score = -np.mean((painted - picture) ** 2)
""",
    "silhouettes for several k": """
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score
data, _ = make_blobs(n_samples=200, centers=4, random_state=1)
scores = {}
for k in (2, 3, 4, 5):
    clusterer = KMeans(n_clusters=k, n_init="auto", random_state=10)
    scores[k] = silhouette_score(data, clusterer.fit_predict(data))
score = scores[4]
distances = clusterer.transform(data)
""",
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_scripts_run_with_one_line_changed(script):
    found = {}
    for line in (OLD, NEW):
        names: dict[str, object] = {}
        exec(line + script, names)
        found[line] = names["score"]
    assert found[NEW] >= found[OLD] - 0.05 * abs(found[OLD])


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [KempeKMeans(3), KSKM(3, max_mutations=3)])
def test_check_estimator_passes_but_for_what_is_declared(estimator):
    check_estimator(
        estimator, expected_failed_checks=clusterer.EXPECTED_FAILED_CHECKS, on_skip=None
    )
