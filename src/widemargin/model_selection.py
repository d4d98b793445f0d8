"""Ways to split preference data for validation: by query, by pair of items, by item.

Give one of these as `cv` to scikit-learn's searches. They are deterministic: without `shuffle` the folds are fixed by
the data, with `shuffle` also by `random_state`.
"""

import heapq

import numpy as np
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state, check_scalar


class _BalancedKFold(BaseCrossValidator):
    """What the splitters share: parameters, and folds of nearly equal size made of units that stay whole."""

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X=None, y=None, groups=None):
        """Return the number of folds; the arguments are ignored, they exist for scikit-learn.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def _fold_of_unit(self, sizes, unit):
        """Return the fold of each unit: the lightest so far, units taken by falling size or in random order."""
        check_scalar(self.n_splits, "n_splits", (int, np.integer), min_val=2)
        if self.n_splits > sizes.size:
            raise ValueError(
                f"n_splits={self.n_splits} is more than the {sizes.size} {unit} of the data; "
                "use fewer splits or more data."
            )
        order = np.argsort(-sizes, kind="stable")
        if self.shuffle:
            order = check_random_state(self.random_state).permutation(sizes.size)
        fold, heap = np.empty(sizes.size, dtype=np.int64), [(0, k) for k in range(self.n_splits)]
        for i in order:
            load, fold[i] = heap[0]
            heapq.heapreplace(heap, (load + int(sizes[i]), int(fold[i])))
        return fold
