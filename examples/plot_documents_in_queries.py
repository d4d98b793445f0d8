"""
Ranking documents within queries
================================

Grades are compared within a query only. C is chosen by cross-validation over whole queries, along a path of warm
starts.
"""

from widemargin import RankingSVM, RankingSVMCV
from widemargin.datasets import make_graded_queries
from widemargin.metrics import ndcg_score
from widemargin.model_selection import c_path
from widemargin.plotting import CPathDisplay, LearningCurveDisplay

data = make_graded_queries(60, docs_per_query=(8, 25), n_features=12, noise=1.0, random_state=0)
train = data.qid < 40
X, y, qid = data.X[train], data.y[train], data.qid[train]
test = (data.X[~train], data.y[~train])

search = RankingSVMCV(Cs=[1e-4, 1e-3, 1e-2, 1e-1, 1.0], cv=4).fit(X, y, qid=qid)
ndcg = ndcg_score(test[1], search.predict(test[0]), qid=data.qid[~train], k=10)
print(f"C = {search.C_:g}, NDCG@10 on unseen queries = {ndcg:.3f}, certified gap {search.duality_gap_:.1e}")

# %%
# The path itself: the score on held-out queries, and the gap that certifies every point of it.
path = c_path(RankingSVM(), X, y, [1e-4, 1e-3, 1e-2, 1e-1, 1.0], qid=qid)
scores = [model.score(*test, qid=data.qid[~train]) for model in path.estimators]
CPathDisplay.from_path(path, scores=scores, score_name="concordance on unseen queries")

# %%
# How many queries are enough?
LearningCurveDisplay.from_estimator(RankingSVM(C=search.C_), X, y, qid=qid, sizes=[2, 4, 8, 16, 28], cv=4)
