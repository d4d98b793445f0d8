"""Data for property tests. Features are small integers: ties, duplicates and contradictions happen."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from widemargin import ComparisonSVM, MarginClassifier, MarginRegressor, OrdinalSVM, Pairs, RankingSVM, TopRankSVM


@dataclass(frozen=True)
class Data:
    """What an estimator is fitted on: rows (or pairs over rows) and what was observed."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray | None = None
    index: np.ndarray | None = None

    def fit(self, model, *, X=None, sample_weight=None):
        """Fit a model on these data, with other features if given."""
        X = self.X if X is None else X
        metadata = {} if self.qid is None else {"qid": self.qid}
        metadata |= {} if sample_weight is None else {"sample_weight": sample_weight}
        return model.fit(X if self.index is None else Pairs(X, self.index), self.y, **metadata)

    def take(self, rows):
        """Return the chosen rows (or pairs), in that order, repeats included."""
        if self.index is not None:
            return replace(self, y=self.y[rows], index=self.index[rows])
        return Data(self.X[rows], self.y[rows], None if self.qid is None else self.qid[rows])


@st.composite
def features(draw, min_rows=3, max_rows=10, max_columns=3):
    """Draw a matrix of small integers, as floats."""
    shape = draw(st.integers(min_rows, max_rows)), draw(st.integers(1, max_columns))
    return draw(hnp.arrays(np.int64, shape, elements=st.integers(-4, 4))).astype(float)


def _labels(draw, n, low, high):
    """Draw n labels of which the first two differ."""
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(low, high)))
    y[0], y[1] = low, draw(st.integers(low + 1, high))
    return y


@st.composite
def graded(draw, n_grades=4, n_queries=3):
    """Draw grades within queries; the first query has something to compare."""
    X = draw(features())
    y = _labels(draw, len(X), 0, n_grades - 1)
    qid = draw(hnp.arrays(np.int64, len(X), elements=st.integers(0, n_queries - 1)))
    qid[:2] = 0
    return Data(X, y, qid)


@st.composite
def ordered(draw, n_ranks=4):
    """Draw ordered labels, at least two of them."""
    X = draw(features())
    return Data(X, _labels(draw, len(X), 0, n_ranks - 1))


@st.composite
def targets(draw):
    """Draw integer targets."""
    X = draw(features())
    return Data(X, draw(hnp.arrays(np.int64, len(X), elements=st.integers(-5, 5))).astype(float))


@st.composite
def compared(draw, ties=True):
    """Draw pairs of different items with outcomes, a win among them, and a tie if there may be ties."""
    X = draw(features())
    n_pairs = draw(st.integers(2, 12))
    first = draw(hnp.arrays(np.int64, n_pairs, elements=st.integers(0, len(X) - 1)))
    step = draw(hnp.arrays(np.int64, n_pairs, elements=st.integers(1, len(X) - 1)))
    y = draw(hnp.arrays(np.int64, n_pairs, elements=st.sampled_from([-1, 0, 1] if ties else [-1, 1])))
    y[0] = 1
    y[1] = 0 if ties else y[1]
    return Data(X, y, index=np.column_stack([first, (first + step) % len(X)]))


@st.composite
def chosen(draw):
    """Draw choices from sets; the first set has a chosen and a rejected row."""
    return replace(draw(graded(n_grades=2)))


@st.composite
def separated(draw):
    """Draw two classes that some direction separates by at least 1."""
    data = draw(ordered(n_ranks=2))
    direction = np.zeros(data.X.shape[1])
    direction[0] = 1.0
    gap = data.X[:, 0].max() - data.X[:, 0].min() + draw(st.integers(1, 3))
    return replace(data, X=data.X + gap * np.multiply.outer(data.y, direction))


SEEDS = st.integers(0, 2**16)
CS = st.sampled_from([0.01, 0.3, 1.0, 10.0])
EVERY = {
    RankingSVM: graded(),
    OrdinalSVM: ordered(),
    MarginClassifier: ordered(n_ranks=2),
    MarginRegressor: targets(),
    TopRankSVM: chosen(),
    ComparisonSVM: compared(),
}
