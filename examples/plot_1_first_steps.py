"""
First steps: who drives where
=============================

Appointments in a town are divided among five technicians. Those near each other should go to one
person, but nobody can be in two places at once. That is k-means with cannot-link pairs.
"""

# %%
# Forty appointments, at places in a town (in kilometres) and at times of a day (in hours).

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from kempe import Constraints, KempeKMeans
from kempe.plotting import plot_clusters

rng = np.random.default_rng(4)
quarter = rng.integers(4, size=40)
X = np.array([(0, 0), (5, 1), (1, 5), (6, 6)])[quarter] + rng.normal(scale=1.2, size=(40, 2))
begin = 8 + rng.permutation(40) / 4
end = begin + rng.choice([0.25, 0.5, 0.75], size=40)

# %%
# A constraint is a pair of row numbers, counted from 0. Appointments that overlap cannot have the
# same technician. And one customer, who has three of them, wants to see a single face: these are
# must-link pairs.

first, second = np.triu_indices(40, k=1)
overlap = (begin[first] < end[second]) & (begin[second] < end[first])
cannot_link = np.column_stack([first, second])[overlap]
must_link = [(16, 9), (9, 36)]

constraints = Constraints(must_link, cannot_link, n_rows=40)
print(constraints.summary())

# %%
# Are five technicians enough? This question needs no places, only the pairs.

print(constraints.check(5))

# %%
# They are, so ``fit`` finds a plan. It takes the pairs as ``constraints=``, or as ``must_link=``
# and ``cannot_link=``.

model = KempeKMeans(n_clusters=5, random_state=0).fit(X, constraints=constraints)
print(model.result_.summary())

# %%
# The appointments of the first technician, in the order of the day: no two overlap.

for job in sorted(np.flatnonzero(model.labels_ == 0), key=lambda row: begin[row]):
    print(f"appointment {job:2}: {begin[job]:5.2f} to {end[job]:5.2f} h")

# %%
# Beside it what k-means does, which knows nothing of times. Red lines are double bookings. The
# price of a plan that works is a higher inertia: some technicians have to cross the town.

plain = KMeans(n_clusters=5, n_init=10, random_state=0).fit(X)

figure, panels = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for panel, name, found in ((panels[0], "k-means", plain), (panels[1], "kempe", model)):
    plot_clusters(X, found.labels_, constraints, found.cluster_centers_, ax=panel)
    broken = constraints.violations(found.labels_)
    number = len(broken.must_link) + len(broken.cannot_link)
    panel.set_title(f"{name}: inertia {found.inertia_:.0f}, {number} pairs violated")
plt.show()
