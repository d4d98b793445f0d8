"""Model files of SVM-light and SVM-rank (versions 4 to 6), in and out.

Ten lines of the form `value # what it is` are followed by one line `alpha index:value ... #` per support vector; the
utility is sum alpha k(sv, x) - b. Lines are known by their comment, spaces and "qid:", "sid:" and "cost:" aside.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .. import MarginClassifier, MarginRegressor, RankingSVM
from ..kernels import RBF, Linear, Polynomial, Sigmoid
from ._text import ModelFileError, finite, text_lines, write_bytes

HEADER = (
    "kernel type",
    "kernel parameter -d",
    "kernel parameter -g",
    "kernel parameter -s",
    "kernel parameter -r",
    "kernel parameter -u",
    "highest feature index",
    "number of training documents",
    "number of support vectors plus 1",
    "threshold b",
)
KERNELS = {0: "linear", 1: "poly", 2: "rbf", 3: "sigmoid"}
DENSE = 10**7  # entries up to which support vectors are written out


def read_svmlight_model(path, *, n_features=None):
    """Return the model of an SVM-light or SVM-rank file as a `RankingSVM`.

    The threshold b is left out: it is the same for all items, and a ranking does not see it. `support_`, `objective_`
    and what else the file does not say is not set.

    Parameters
    ----------
    path : path-like or binary file object
        What `svm_rank_learn` or `svm_learn` wrote.
    n_features : int, default=None
        Number of columns of the data to be ranked, at least the file's highest feature index, which is the default.

    Returns
    -------
    RankingSVM

    Raises
    ------
    ModelFileError
        The file is damaged or foreign, or its kernel (-t 4) is code. The line is named.
    """
    lines = _Lines(*text_lines(path, "SVM-light"))
    lines.expect_version()
    header = {title: lines.header(title) for title in HEADER}
    highest = lines.integer(header["highest feature index"], at_least=0)
    n_vectors = lines.integer(header["number of support vectors plus 1"], at_least=1) - 1
    n_features = highest if n_features is None else n_features
    if n_features < highest:
        raise ModelFileError(f"the file uses feature {highest}; n_features={n_features} is too few.")
    kernel = lines.kernel(header)
    alpha, vectors = lines.vectors(n_vectors, highest, n_features)
    return _ranker(kernel, alpha, vectors)


def write_svmlight_model(model, path):
    """Write a `RankingSVM` or another model with a utility as an SVM-light file, for `svm_rank_classify`.

    Parameters
    ----------
    model : estimator
        A fitted estimator with one utility and a linear, rbf, poly or sigmoid kernel; no pipeline. The intercept of a
        classifier or regressor becomes the threshold.
    path : path-like or binary file object
        Where to.

    Notes
    -----
    The file says version V6.20, as SVM-rank's do. Programs that read such files keep the numbers of a support vector in
    single precision.
    """
    kernel, alpha, vectors = _expansion(model)
    b = -float(model.intercept_) if isinstance(model, MarginClassifier | MarginRegressor) else 0
    lines = ["SVM-light Version V6.20"]
    values = (*kernel, "empty", vectors.shape[1], len(alpha), len(alpha) + 1, b)
    lines += [f"{value} # {title}" for value, title in zip(values, HEADER, strict=True)]
    lines[-1] += ", each following line is a SV (starting with alpha*y)"
    lines[6] = "empty# kernel parameter -u"
    for a, row in zip(alpha.tolist(), sparse.csr_array(vectors), strict=True):
        pairs = sparse.coo_array(row)
        words = [f"{j + 1}:{v!r}" for j, v in zip(pairs.coords[-1].tolist(), pairs.data.tolist(), strict=True) if v]
        lines.append(" ".join([repr(a), *words, "#"]))
    write_bytes(path, ["".join(f"{line}\n" for line in lines).encode()])


def _expansion(model):
    """Return ((type, d, g, s, r), coefficients, vectors) of a model with one utility."""
    name = type(model).__name__
    if getattr(model, "coef_", None) is not None and np.ndim(model.coef_) == 1:
        return (0, 3, 1, 1, 1), np.ones(1), sparse.csr_array(model.coef_[None, :])
    kernel = getattr(model, "_kernel", None)
    dual = getattr(model, "dual_coef_", None)
    if kernel is None or dual is None or dual.ndim != 1:
        raise ModelFileError(f"{name} has no single utility over features; expected a fitted ranker of widemargin.")
    codes = {
        Linear: lambda k: (0, 3, 1, 1, 1),  # noqa: ARG005
        Polynomial: lambda k: (1, int(k.degree), 1, k.gamma, k.coef0),
        RBF: lambda k: (2, 3, k.gamma, 1, 1),
        Sigmoid: lambda k: (3, 3, 1, k.gamma, k.coef0),
    }
    if type(kernel) not in codes or not float(getattr(kernel, "degree", 1)).is_integer():
        raise ModelFileError(f"{name} has the kernel {kernel!r}; SVM-light has linear, poly, rbf and sigmoid.")
    return codes[type(kernel)](kernel), np.asarray(dual, dtype=float), model.support_vectors_


def _ranker(kernel, alpha, vectors):
    """Return a fitted RankingSVM from an expansion over vectors."""
    model = RankingSVM(**kernel)
    model._kernel = model._kernel_template()  # noqa: SLF001
    model._qid_column, model._n_queries = None, 1  # noqa: SLF001
    model.n_features_in_, model.solver_ = vectors.shape[1], "svm_light"
    if kernel["kernel"] == "linear":
        model.coef_ = np.asarray(vectors.T @ alpha, dtype=float)
        return model
    model.dual_coef_ = alpha
    model.support_vectors_ = vectors if np.prod(vectors.shape) > DENSE else vectors.toarray()
    return model


class _Lines:
    """The lines of a file, one after the other, and a complaint that names the line."""

    def __init__(self, lines, name):
        self._lines = iter(enumerate(lines, start=1))
        self._name, self._at = name, 0

    def refuse(self, what):
        raise ModelFileError(f"{self._name}, line {self._at}: {what}.")

    def next(self, expected):
        """Return the next line."""
        number, line = next(self._lines, (None, None))
        if line is None:
            self._at += 1
            self.refuse(f"the file ends here; expected {expected}")
        self._at = number
        return line

    def expect_version(self):
        line = self.next("'SVM-light Version ...'")
        if not line.startswith("SVM-light Version "):
            self.refuse(f"got {line[:40]!r}; expected 'SVM-light Version ...', which begins an SVM-light model")

    def header(self, title):
        """Return (line number, text) of the value before a comment."""
        line = self.next(f"'... # {title}'")
        while not line.strip():  # some writers leave a line empty
            line = self.next(f"'... # {title}'")
        value, hash_, comment = line.partition("#")
        if not hash_ or not comment.strip().startswith(title):
            self.refuse(f"got {line[:60]!r}; expected a value and '# {title}'")
        return self._at, value.strip()

    def integer(self, place, *, at_least):
        value = self.number(place)
        if not value.is_integer() or value < at_least:
            self.refuse(f"got {place[1]!r}; expected an integer of at least {at_least}")
        return int(value)

    def number(self, place):
        self._at, text = place
        value = finite(text)
        if value is None:
            self.refuse(f"got {text[:40]!r}; expected a finite number")
        return value

    def kernel(self, header):
        """Return the kernel as parameters of an estimator."""
        self.number(header["threshold b"])
        code = self.integer(header["kernel type"], at_least=0)
        if code not in KERNELS:
            self.refuse(f"kernel type {code} is code of its author; expected {', '.join(map(str, KERNELS))}")
        kind = KERNELS[code]
        if kind == "linear":
            return {"kernel": kind}
        gamma = self.number(header["kernel parameter -g" if kind == "rbf" else "kernel parameter -s"])
        if gamma <= 0:
            self.refuse(f"got {gamma:g}; expected a number above 0")
        if kind == "rbf":
            return {"kernel": kind, "gamma": gamma}
        more = {"degree": self.integer(header["kernel parameter -d"], at_least=1)} if kind == "poly" else {}
        return {"kernel": kind, "gamma": gamma, "coef0": self.number(header["kernel parameter -r"]), **more}

    def vectors(self, n_vectors, highest, n_features):
        """Return the coefficients and the vectors, as CSR; the file must end after them."""
        alpha, values, columns, ends = [], [], [], [0]
        for i in range(n_vectors):
            first, *words = self.next(f"support vector {i + 1} of {n_vectors}").partition("#")[0].split() or [""]
            alpha.append(self.number((self._at, first)))
            previous = 0
            for word in words:
                index, _, value = word.partition(":")
                if index in {"qid", "sid", "cost"}:
                    continue
                if not index.isdecimal() or not previous < int(index) <= highest:
                    self.refuse(f"got {word[:40]!r}; expected 'index:value', indices rising from 1 to {highest}")
                previous = int(index)
                columns.append(previous - 1)
                values.append(self.number((self._at, value)))
            ends.append(len(values))
        for number, line in self._lines:
            self._at = number
            if line.strip():
                self.refuse(f"got {line[:40]!r} after the {n_vectors} support vectors that the file announced")
        matrix = sparse.csr_matrix((np.array(values), columns, ends), shape=(n_vectors, n_features))
        return np.array(alpha, dtype=float), matrix
