"""
Pipelines and metadata routing
==============================

Constraints reach the clusterer at the end of a pipeline without further ado.
"""

# %%
# With scikit-learn's metadata routing switched on, a pipeline passes ``constraints`` (or
# ``must_link`` and ``cannot_link``) on to the step that asks for them, and kempe's clusterers ask
# by default.

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kempe import Constraints, KempeKMeans

X, grower = load_wine(return_X_y=True, as_frame=True)
known = np.where(np.random.default_rng(0).random(len(X)) < 0.2, grower, -1)
constraints = Constraints.from_labels(known)

with sklearn.config_context(enable_metadata_routing=True):
    pipeline = make_pipeline(StandardScaler(), KempeKMeans(n_clusters=3, random_state=0))
    pipeline.set_output(transform="pandas")
    pipeline.fit(X, constraints=constraints)

labels = pipeline[-1].labels_
print(f"adjusted Rand index {adjusted_rand_score(grower, labels):.3f}")

# %%
# The wines in the plane in which they vary most. Rings are wines whose grower was known.

plane = PCA(2).fit_transform(StandardScaler().fit_transform(X))
plt.scatter(*plane.T, c=labels, cmap="tab10", s=18)
plt.scatter(*plane[known >= 0].T, s=80, facecolors="none", edgecolors="black", linewidths=0.8)
plt.xlabel("component 1")
plt.ylabel("component 2")
plt.title("Wines in three clusters")
plt.show()

# %%
# ``labels_`` satisfy the constraints. ``predict`` is for new rows, about which there are none: it
# gives the nearest cluster.

print(pipeline.predict(X.head()))

# %%
# ``transform`` gives distances to the cluster centres, here as a data frame because of
# ``set_output``.

print(pipeline.transform(X.head()).round(2))

# %%
# To fit on a part of the data, take the same part of the constraints. Row numbers are renumbered,
# and rows that were joined through a row that is left out stay together.

part = np.arange(0, len(X), 2)
model = KempeKMeans(n_clusters=3, random_state=0)
model.fit(StandardScaler().fit_transform(X.iloc[part]), constraints=constraints.subset(part))
print(model.labels_[:10])
