"""
Choose C by whole queries, from a polars frame
==============================================

Scikit-learn's own search over a pipeline. Metadata routing carries the queries to `fit`, to `score` and to the
splitter, and the names of the features stay with them.
"""

import matplotlib.pyplot as plt
import polars as pl
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import RankingSVM
from widemargin.datasets import make_graded_queries
from widemargin.model_selection import QueryKFold

data = make_graded_queries(20, docs_per_query=8, n_features=30, noise=0.1, random_state=0)
names = ["clicks", "length", "age", *(f"word {k}" for k in range(27))]
df = pl.DataFrame(data.X, schema=names).with_columns(grade=data.y, query=data.qid)

# %%
# Five lines, from the frame to the model.
sklearn.set_config(enable_metadata_routing=True)
model = make_pipeline(StandardScaler(), RankingSVM())
search = GridSearchCV(model, {"rankingsvm__C": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]}, cv=QueryKFold(5))
search.fit(df.drop("grade", "query"), df["grade"], qid=df["query"])
best = search.best_estimator_

# %%
weights = sorted(
    zip(best[-1].coef_.round(3).tolist(), best[0].feature_names_in_, strict=True), key=lambda w: -abs(w[0])
)
print("the strongest of 30 features:", weights[:3])
sklearn.set_config(enable_metadata_routing=False)

found = search.cv_results_
fig, ax = plt.subplots(figsize=(5, 3.4), layout="constrained")
ax.errorbar(found["param_rankingsvm__C"].data, found["mean_test_score"], found["std_test_score"] / 5**0.5, fmt="k-o")
ax.set(xscale="log", xlabel="C", ylabel="share of pairs in the right order,\nunseen queries")
