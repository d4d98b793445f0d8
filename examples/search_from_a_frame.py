"""Choose C of a ranker by whole queries, from a polars frame, with scikit-learn's own search."""

import polars as pl
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from widemargin import RankingSVM
from widemargin.datasets import make_graded_queries
from widemargin.model_selection import QueryKFold

data = make_graded_queries(20, n_features=3, random_state=0)
df = pl.DataFrame(data.X, schema=["clicks", "length", "age"]).with_columns(grade=data.y, query=data.qid)

# The five lines: routing carries `query` to fit, score and the splitter.
sklearn.set_config(enable_metadata_routing=True)
model = make_pipeline(StandardScaler(), RankingSVM())
search = GridSearchCV(model, {"rankingsvm__C": [1e-3, 1e-2, 1e-1]}, cv=QueryKFold(5))
search.fit(df.drop("grade", "query"), df["grade"], qid=df["query"])
best = search.best_estimator_

print(f"C = {best[-1].C}: {search.best_score_:.3f} of the pairs within unseen queries are in the right order")
print(dict(zip(best[0].feature_names_in_, best[-1].coef_.round(3).tolist(), strict=True)))
sklearn.set_config(enable_metadata_routing=False)
