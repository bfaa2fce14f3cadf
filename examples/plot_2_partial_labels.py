"""
Partial labels
==============

Labels that are known for some rows become constraints: rows with equal labels stay together, rows
with different labels stay apart, and nothing is said about the others.
"""

# %%
# Of the 178 wines we pretend to know the grower of every twelfth.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from kempe import Constraints, KempeKMeans
from kempe.plotting import plot_constraint_graph

X, grower = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
rng = np.random.default_rng(3)
known = np.full(grower.size, -1)
asked = rng.choice(grower.size, size=grower.size // 12, replace=False)
known[asked] = grower[asked]

constraints = Constraints.from_labels(known)
print(constraints.summary())

# %%
# Few pairs are enough to say everything: each group of equal labels becomes a chain of must-link
# pairs, and one cannot-link pair stands for two groups. After the merging of must-linked rows the
# cannot-link graph is a triangle.

plot_constraint_graph(constraints, known)

# %%
# How much do labels help? Clusters are compared with all growers, also those that were not asked.

asking_order = rng.permutation(grower.size)
shares = [0.0, 0.05, 0.1, 0.2, 0.4]
agreement = []
for share in shares:
    asked = asking_order[: int(share * grower.size)]
    known = np.full(grower.size, -1)
    known[asked] = grower[asked]
    model = KempeKMeans(n_clusters=3, random_state=0, max_mutations=20)
    model.fit(X, constraints=Constraints.from_labels(known))
    agreement.append(adjusted_rand_score(grower, model.labels_))

_, ax = plt.subplots(layout="constrained")
ax.plot(shares, agreement, "o-", color="#332288")
ax.set_xlabel("share of wines whose grower is known")
ax.set_ylabel("adjusted Rand index of the clusters")
plt.show()

# %%
# Labels in text, missing values, and another mark for "unknown" work as well.

print(Constraints.from_labels(["Barolo", None, "Grignolino", "Barolo"]))
print(Constraints.from_labels(["Barolo", "?", "Grignolino", "Barolo"], unlabelled="?"))
