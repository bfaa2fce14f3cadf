"""
Partial labels
==============

Labels that are known for some rows become constraints: rows with equal labels stay together, rows
with different labels stay apart, and nothing is said about the others.
"""

# %%
# Of 1,797 handwritten digits we pretend that somebody has read every tenth.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from kempe import Constraints, KempeKMeans
from kempe.plotting import plot_constraint_graph

X, digit = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(digit.size)


def known_labels(share):
    """Digits of a share of the images, -1 for the others."""
    read = order[: int(share * digit.size)]
    labels = np.full(digit.size, -1)
    labels[read] = digit[read]
    return labels


labels = known_labels(0.1)
constraints = Constraints.from_labels(labels)
print(constraints.summary())

# %%
# Few pairs are enough to say everything: each group of equal labels becomes a chain of must-link
# pairs, and one cannot-link pair stands for two groups. After the merging of must-linked rows there
# are ten supernodes, each apart from all others.

plot_constraint_graph(constraints, labels)
plt.show()

# %%
# How much do labels help? Clusters are compared with the digits of those images that nobody has
# read.

shares = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4]
agreement = []
for share in shares:
    labels = known_labels(share)
    model = KempeKMeans(n_clusters=10, max_mutations=64, random_state=0)
    model.fit(X, constraints=Constraints.from_labels(labels))
    unread = labels == -1
    agreement.append(adjusted_rand_score(digit[unread], model.labels_[unread]))

_, ax = plt.subplots(layout="constrained")
ax.plot(shares, agreement, "o-", color="#332288")
ax.set_xlabel("share of images that somebody has read")
ax.set_ylabel("adjusted Rand index of the others")
plt.show()

# %%
# Labels in text, missing values, and another mark for "unknown" work as well.

print(Constraints.from_labels(["seven", None, "three", "seven"]))
print(Constraints.from_labels(["seven", "?", "three", "seven"], unlabelled="?"))
