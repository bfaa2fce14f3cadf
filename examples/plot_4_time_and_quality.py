"""
Choosing a time budget
======================

A longer search finds lower inertia, with less and less gain. How long is long enough, and how to
say so.
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
# The history says what a shorter budget would have given, without another run. A gain of less than
# the differences between the clusters that matter to you is not worth waiting for.

history = model.result_.statistics
for budget in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0):
    reached = [i for i, elapsed in enumerate(history.elapsed) if elapsed <= budget]
    if reached:
        above = history.best_inertia[reached[-1]] / model.inertia_ - 1
        print(f"after {budget:4.2f} s: {100 * above:.2f} % above the end")

# %%
# A budget in seconds depends on the machine, and so does the result. Where results must be
# repeatable, turn the seconds into mutations: so many were made in two seconds here.

print(f"{model.result_.n_mutations / model.result_.runtime:,.0f} mutations per second")

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
