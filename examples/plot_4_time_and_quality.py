"""
Time and quality
================

A longer search finds lower inertia, with less and less gain. This example shows the knobs.
"""

# %%
# Thirty overlapping blobs, and some pairs drawn from their labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from kempe import Constraints, KempeKMeans
from kempe.plotting import plot_convergence
from kempe.search import Callbacks

X, blob = make_blobs(1000, centers=30, cluster_std=1.5, random_state=0)
pairs = np.random.default_rng(0).integers(1000, size=(3000, 2))
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
same = blob[pairs[:, 0]] == blob[pairs[:, 1]]
constraints = Constraints(pairs[same], pairs[~same])

# %%
# ``max_mutations`` is the length of the search: 0 means one descent, and by default it grows with
# the number of clusters. ``time_limit`` ends it after some seconds, ``patience`` after some
# mutations without a new best, ``target_inertia`` at a value that is good enough. Whatever comes
# first ends it, and ``stop_reason`` tells which.

for options in (
    {"max_mutations": 0},
    {},
    {"max_mutations": 100_000, "time_limit": 2.0},
):
    model = KempeKMeans(n_clusters=30, random_state=0, **options).fit(X, constraints=constraints)
    result = model.result_
    print(
        f"{options}: inertia {model.inertia_:.1f} after {result.n_mutations} mutations, "
        f"stopped by {result.stop_reason}"
    )

# %%
# The last of these, drawn. If the curve is flat for the last half of the time, more time will not
# help much.

plot_convergence(model.result_)
plt.show()

# %%
# A rule of one's own is a function of the state of the search. This one ends it when the best has
# stood for half of all mutations.


def enough(state):
    """Whether the last half of the mutations, and no fewer than 200, brought nothing."""
    return state.since_best >= max(200, state.iteration / 2)


model = KempeKMeans(n_clusters=30, max_mutations=100_000, stop=enough, random_state=0)
model.fit(X, constraints=constraints)
print(model.result_.summary())

# %%
# A callback sees every solution, for example to keep a record of one's own.


class Improvements(Callbacks):
    """Counts new bests."""

    def __init__(self):
        self.count = 0

    def on_best(self, state):
        """Count one."""
        self.count += 1


improvements = Improvements()
KempeKMeans(n_clusters=30, random_state=0, callbacks=improvements).fit(X, constraints=constraints)
print(f"{improvements.count} improvements")
