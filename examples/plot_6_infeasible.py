"""
Constraints that cannot be satisfied
====================================

Pairs come from people and programs, and sometimes they contradict each other. What then happens,
how the error is read, and what can be done.
"""

# %%
# Two ways to fail
# ----------------
#
# Must-link is transitive. Here 0 goes with 1, 1 with 2, and 2 with 3; but 0 and 3 are to be apart.

import matplotlib.pyplot as plt
import numpy as np

from kempe import Constraints, InfeasibleConstraintsError, KempeKMeans
from kempe.plotting import plot_constraint_graph

X = np.random.default_rng(0).normal(size=(60, 2))

try:
    KempeKMeans(n_clusters=3).fit(X, must_link=[(0, 1), (1, 2), (2, 3)], cannot_link=[(0, 3)])
except InfeasibleConstraintsError as error:
    print(error)

# %%
# The message names the path. One of its pairs is wrong, or the cannot-link pair is; which one, only
# you can know. ``certificate`` has the same as data.

# %%
# The other way is too few clusters. Rows that are all apart from each other need a cluster each.

apart = [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3), (3, 4)]
try:
    KempeKMeans(n_clusters=3).fit(X, cannot_link=apart)
except InfeasibleConstraintsError as error:
    print(error)
    print(error.certificate)

# %%
# Ask before you fit
# ------------------
#
# ``check`` needs no data. It says whether a number of clusters suffices, and what is known about
# the smallest one that does.

constraints = Constraints(cannot_link=apart, n_rows=60)
for n_clusters in (3, 4):
    print(constraints.check(n_clusters))

# %%
# Not every proof is a clique. Of these eleven rows no three are all apart from each other, yet
# three clusters are not enough (it is the graph of Grötzsch). The error then lists pairs that
# cannot all hold, as few as could be found.

ring = [(i, (i + 1) % 5) for i in range(5)]
spokes = [(5 + i, (i + step) % 5) for i in range(5) for step in (1, 4)]
hub = [(10, 5 + i) for i in range(5)]
star = Constraints(cannot_link=ring + spokes + hub, n_rows=60)
report = star.check(3)
print(report.feasible, report.smallest())
print(report.certificate)

# %%
# Drawn, with the clusters of a fit with four.

model = KempeKMeans(n_clusters=4, random_state=0).fit(X, constraints=star)
plot_constraint_graph(star, model.labels_)
plt.show()

# %%
# What to do
# ----------
#
# Raise ``n_clusters`` to the smallest number that works, or drop pairs. If pairs have come in
# batches, find the one that spoils it by adding batch after batch.

batches = [[(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 3)], [(2, 3)], [(3, 4)]]
kept = Constraints(n_rows=60)
for number, batch in enumerate(batches):
    longer = kept | Constraints(cannot_link=batch, n_rows=60)
    if longer.check(3):
        kept = longer
    else:
        print(f"batch {number} does not go with those before it: {longer.check(3).certificate}")

labels = KempeKMeans(n_clusters=3, random_state=0).fit(X, constraints=kept).labels_

# %%
# What the result makes of the pairs that were left out can be counted.

print(constraints.violations(labels))
