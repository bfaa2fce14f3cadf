"""
How many clusters?
==================

Pairs help here, too. They say how many clusters are needed at least, and some of them can be held
back to judge a clustering that was made without them.
"""

# %%
# 178 wines of three growers. Somebody has tasted forty pairs of them, and said of each whether both
# come from one grower.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from kempe import Constraints, KempeKMeans, choose_k
from kempe.selection import held_out_scores

raw, grower = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(raw)
rng = np.random.default_rng(0)
pairs = rng.permutation(len(X))[:80].reshape(40, 2)
same = grower[pairs[:, 0]] == grower[pairs[:, 1]]
constraints = Constraints(pairs[same], pairs[~same], n_rows=len(X))
print(constraints.summary())

# %%
# ``choose_k`` fits every number of clusters with all pairs, and several times with four fifths of
# them. What the others say is the score: the share of held-out pairs that the clustering respects,
# both kinds counting equally.

choice = choose_k(X, range(2, 9), constraints=constraints, n_splits=20, random_state=0)
print(choice.summary())
for candidate in choice.candidates:
    print(
        f"k = {candidate.n_clusters}: inertia {candidate.inertia:6.0f}, "
        f"silhouette {candidate.silhouette:.2f}, "
        f"held-out pairs {candidate.held_out:.2f} ± {candidate.held_out_error:.2f}"
    )

# %%
# The inertia falls whatever happens, so it decides nothing. The other two have a peak. The
# suggestion is the smallest number within a standard error of the highest score.

choice.plot()
plt.show()

# %%
# The same scores judge other decisions, for example whether to scale the columns.

model = KempeKMeans(n_clusters=3, random_state=0)
for name, data in (("scaled", X), ("as measured", raw)):
    scores = held_out_scores(model, data, constraints, n_splits=20)
    print(f"{name:12} {np.nanmean(scores):.2f}")

# %%
# From the shell, with a column of names for the wines that are known::
#
#     kempe choose-k wines.csv --labels-column grower --standardise --to 8 --plot choice.svg
