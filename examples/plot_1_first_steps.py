"""
First steps
===========

Cluster points under a handful of must-link and cannot-link pairs, and look at what they change.
"""

# %%
# Two moons are a case in which plain k-means cannot know what we want: the tips of the moons are
# closer to the other moon than to the rest of their own.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons

from kempe import Constraints, KempeKMeans
from kempe.plotting import plot_clusters

X, moon = make_moons(400, noise=0.06, random_state=0)

# %%
# A pair is two row numbers, counted from 0. Here an expert has looked at 80 pairs of points,
# drawn at random, and said of each whether the two belong together.

rng = np.random.default_rng(0)
pairs = rng.permutation(400)[:160].reshape(80, 2)
same = moon[pairs[:, 0]] == moon[pairs[:, 1]]
constraints = Constraints(must_link=pairs[same], cannot_link=pairs[~same])
print(constraints.summary())

# %%
# ``fit`` takes them as ``constraints=``, or as ``must_link=`` and ``cannot_link=``.

model = KempeKMeans(n_clusters=2, random_state=0).fit(X, constraints=constraints)
print(model.result_.summary())

# %%
# Beside it what k-means does without constraints. Red lines are pairs that it violates.

plain = KMeans(n_clusters=2, n_init=10, random_state=0).fit(X)

figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot_clusters(X, plain.labels_, constraints, plain.cluster_centers_, ax=panels[0])
panels[0].set_title(f"k-means, inertia {plain.inertia_:.1f}")
plot_clusters(X, model.labels_, constraints, model.cluster_centers_, ax=panels[1])
panels[1].set_title(f"kempe, inertia {model.inertia_:.1f}")
plt.show()
