"""
Documents by embeddings, with partial labels
============================================

Texts become vectors, somebody reads a few of them, and the clusters follow what was read.
"""

# %%
# The texts are those that scikit-learn's own classes come with: what each is for and how it is
# used. Their topic is the part of the library they belong to. Any other texts work the same way.

import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils import all_estimators

from kempe import Constraints, KempeKMeans

TOPICS = ("cluster", "covariance", "decomposition", "ensemble", "linear_model", "preprocessing")
documents, topics = [], []
for _, estimator in all_estimators():
    topic = estimator.__module__.split(".")[1]
    if topic in TOPICS:
        documents.append(inspect.getdoc(estimator))
        topics.append(topic)
topics = np.array(topics)
print(f"{len(documents)} texts about {len(TOPICS)} topics")

# %%
# TF-IDF counts words and is sparse; k-means wants a few dense columns. ``TruncatedSVD`` gives them,
# and ``Normalizer`` makes all vectors equally long, so that distances compare directions: the usual
# recipe for embeddings, those of a language model included.

embedding = make_pipeline(
    TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english"),
    TruncatedSVD(n_components=30, random_state=0),
    Normalizer(copy=False),
)
X = embedding.fit_transform(documents)

# %%
# Somebody reads 30 of the texts and notes their topics. The others are ``None``: nothing is known.

read = np.random.default_rng(0).permutation(len(documents))[:30]
known = np.full(len(documents), None, dtype=object)
known[read] = topics[read]
constraints = Constraints.from_labels(known)
print(constraints.summary())

# %%
# The adjusted Rand index of the texts that nobody has read compares the clusters with the topics:
# 0 is chance, 1 is perfect.

unread = np.setdiff1d(np.arange(len(documents)), read)
plain = KMeans(n_clusters=len(TOPICS), n_init=10, random_state=0).fit(X)
model = KempeKMeans(n_clusters=len(TOPICS), random_state=0).fit(X, constraints=constraints)
for name, found in (("k-means", plain), ("kempe", model)):
    score = adjusted_rand_score(topics[unread], found.labels_[unread])
    print(f"{name:8} adjusted Rand index {score:.2f}")

# %%
# Each known topic has a cluster of its own, so clusters can be given names: that of the texts in
# them that were read.

names = {model.labels_[row]: topics[row] for row in read}
print(", ".join(sorted(names.values())))

# %%
# What the clusters hold, topic by topic.

clusters = sorted(names, key=names.get)
counts = [[np.sum((model.labels_ == c) & (topics == topic)) for c in clusters] for topic in TOPICS]
_, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
ax.imshow(counts, cmap="Purples")
ax.set_xticks(range(len(clusters)), [names[c] for c in clusters], rotation=30, ha="right")
ax.set_yticks(range(len(TOPICS)), TOPICS)
ax.set_xlabel("cluster")
ax.set_ylabel("topic")
for (row, column), count in np.ndenumerate(counts):
    shade = "white" if count > np.max(counts) / 2 else "black"
    ax.annotate(int(count), (column, row), ha="center", va="center", color=shade)
plt.show()

# %%
# Which texts of those that nobody has read lie farthest from the centre of their cluster? They are
# the ones to read next.

distances = model.transform(X)[np.arange(len(X)), model.labels_]
for row in sorted(unread, key=lambda row: -distances[row])[:3]:
    print(f"{distances[row]:.2f}  {documents[row].splitlines()[0]}")
