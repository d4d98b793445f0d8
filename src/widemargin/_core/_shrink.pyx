# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The minimum of 1/2 x'Hx - b'x + sum |x_i|, from an x whose zeros are mostly right. Its NumPy twin is `_shrink_ref.py`.

Active sets: with signs known the coefficients that are not zero solve a linear system. Coefficients come in a block,
those whose slope exceeds 1; those that would change their sign become zero together, or, where that does not help, the
first one does that makes the sum rise on the way. The factor of the system follows what comes and goes, row by row.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t
from libc.string cimport memmove

from scipy.linalg.cython_blas cimport ddot, dgemv, drot, drotg, dtrsv
from scipy.linalg.cython_lapack cimport dpotrf

import numpy as np

cdef double ENOUGH = 0.03  # by which a slope must exceed 1
cdef double RAISED = 1.0 + 1e-10  # what the diagonal is multiplied by: columns may depend on each other


def least(H, b, x, Py_ssize_t limit):
    """Return the minimum, or how far `limit` linear systems lead to it, and their number; None without a factor."""
    cdef Point point = Point(H, b, x)
    if point.is_lost:
        return None
    with nogil:
        while point.n_solves < limit and point._grow():
            while point.n_solves < limit and not point._descend():
                pass
    return np.asarray(point.x), point.n_solves


cdef class Point:
    """An x, the residual b - H x, the signs of the support, and the factor L L' of H on it, in the order of `support`."""

    cdef Py_ssize_t n, k, n_solves
    cdef bint is_lost
    cdef const double[:, ::1] H
    cdef double[::1] b, x, residual, sign, d, to, kept, left
    cdef double[:, ::1] L  # of Fortran: L[j, i] is row i and column j
    cdef int64_t[::1] support, crossed

    def __init__(self, H, b, x):
        self.H, self.b, self.n = np.ascontiguousarray(H), b, b.size
        self.x, self.residual, self.sign = x.copy(), b - H @ x, np.sign(x)
        self.d, self.to, self.kept, self.left = (np.zeros(self.n) for _ in range(4))
        self.support, self.crossed = (np.zeros(self.n, dtype=np.int64) for _ in range(2))
        self.L = np.empty((self.n, self.n))
        self._factor()

    cdef void _factor(self) noexcept:
        """Factor H on the support of x."""
        cdef Py_ssize_t i, j
        cdef int k, n = self.n, failed = 0
        for j in range(self.n):
            if self.x[j] != 0.0:
                self.support[self.k] = j
                self.k += 1
        for j in range(self.k):
            for i in range(j, self.k):
                self.L[j, i] = self.H[self.support[j], self.support[i]]
            self.L[j, j] *= RAISED
        k = self.k
        if k:
            dpotrf(b"L", &k, &self.L[0, 0], &n, &failed)
        self.is_lost = failed != 0

    cdef bint _grow(self) noexcept nogil:
        """Let coefficients in that are worth more than they cost; say whether there is something to do."""
        cdef Py_ssize_t j
        cdef bint any_new = False
        for j in range(self.n):
            if self.sign[j] == 0.0 and fabs(self.residual[j]) > 1.0 + ENOUGH and self._append(j):
                self.sign[j] = 1.0 if self.residual[j] > 0.0 else -1.0
                any_new = True
        return any_new or (self.n_solves == 0 and self.k > 0)

    cdef bint _append(self, Py_ssize_t j) noexcept nogil:
        """Let a column in; say whether it does not depend on the others."""
        cdef Py_ssize_t i
        cdef int k = self.k, n = self.n, one = 1
        cdef double left
        for i in range(self.k):
            self.to[i] = self.H[j, self.support[i]]
        if k:
            dtrsv(b"L", b"N", b"N", &k, &self.L[0, 0], &n, &self.to[0], &one)
        left = self.H[j, j] * RAISED - ddot(&k, &self.to[0], &one, &self.to[0], &one)
        if not left > 10.0 * (RAISED - 1.0) * self.H[j, j]:
            return False
        for i in range(self.k):
            self.L[i, self.k] = self.to[i]
        self.L[self.k, self.k] = sqrt(left)
        self.support[self.k] = j
        self.k += 1
        return True

    cdef void _remove(self, Py_ssize_t i) noexcept nogil:
        """Let the column in place i go."""
        cdef Py_ssize_t j, last = self.k - 1
        cdef int left, one = 1
        cdef double c, s, x, y
        self.sign[self.support[i]] = 0.0
        for j in range(last + 1):  # the row goes
            memmove(&self.L[j, i], &self.L[j, i + 1], (last - i) * sizeof(double))
        for j in range(i, last):  # what is then above the diagonal is turned into it
            x, y, left = self.L[j, j], self.L[j + 1, j], last - j
            drotg(&x, &y, &c, &s)
            drot(&left, &self.L[j, j], &one, &self.L[j + 1, j], &one, &c, &s)
        for j in range(i, last):
            self.support[j] = self.support[j + 1]
        self.k = last

    cdef bint _descend(self) noexcept nogil:
        """Go towards the minimum for the present signs; say whether it was reached."""
        cdef Py_ssize_t i, j, n_crossed = 0
        cdef double before
        self._newton()
        for i in range(self.k - 1, -1, -1):  # with the others these are not worth their cost
            j = self.support[i]
            if self.x[j] == 0.0 and self.d[j] * self.sign[j] <= 0.0:
                self._remove(i)
                self.d[j] = 0.0
                n_crossed += 1
        if n_crossed:
            return self.k == 0
        before = self._value()
        for j in range(self.n):
            self.kept[j], self.left[j] = self.x[j], self.residual[j]
            self.to[j] = self.x[j] + self.d[j]
            if self.to[j] * self.sign[j] < 0.0:
                self.to[j] = 0.0
                n_crossed += 1
        self._move()
        if n_crossed == 0:
            return True
        if self._value() < before:
            for i in range(self.k - 1, -1, -1):
                if self.x[self.support[i]] == 0.0:
                    self._remove(i)
        else:
            for j in range(self.n):
                self.x[j], self.residual[j] = self.kept[j], self.left[j]
            self._search()
        return False

    cdef void _newton(self) noexcept nogil:
        """Set d, which leads to the minimum for the present signs."""
        cdef Py_ssize_t i, j
        cdef int k = self.k, n = self.n, one = 1
        self.n_solves += 1
        for i in range(self.k):
            j = self.support[i]
            self.to[i] = self.residual[j] - self.sign[j]
        if k:
            dtrsv(b"L", b"N", b"N", &k, &self.L[0, 0], &n, &self.to[0], &one)
            dtrsv(b"L", b"T", b"N", &k, &self.L[0, 0], &n, &self.to[0], &one)
        for j in range(self.n):
            self.d[j] = 0.0
        for i in range(self.k):
            self.d[self.support[i]] = self.to[i]

    cdef double _value(self) noexcept nogil:
        cdef Py_ssize_t j
        cdef double value = 0.0
        for j in range(self.n):
            value += fabs(self.x[j]) - 0.5 * self.x[j] * (self.b[j] + self.residual[j])
        return value

    cdef void _move(self) noexcept nogil:
        """Go to `to`."""
        cdef Py_ssize_t j
        cdef int n = self.n, one = 1
        cdef double unit = 1.0, negative = -1.0
        for j in range(self.n):
            self.x[j], self.residual[j] = self.to[j], self.b[j]
        dgemv(b"T", &n, &n, &negative, <double*>&self.H[0, 0], &n, &self.x[0], &one, &unit, &self.residual[0], &one)

    cdef void _search(self) noexcept nogil:
        """Go to the lowest point on the way; a coefficient that is met at zero there leaves."""
        cdef Py_ssize_t i, j, met = -1, n_crossed = 0
        cdef int n = self.n, one = 1
        cdef double unit = 1.0, zero = 0.0, slope = 0.0, bend, step = 1.0, at
        dgemv(b"T", &n, &n, &unit, <double*>&self.H[0, 0], &n, &self.d[0], &one, &zero, &self.kept[0], &one)
        bend = ddot(&n, &self.d[0], &one, &self.kept[0], &one)
        for j in range(self.n):
            slope += (self.sign[j] - self.residual[j]) * self.d[j]
            if (self.x[j] + self.d[j]) * self.sign[j] < 0.0:
                self._insert(n_crossed, j)
                n_crossed += 1
        for i in range(n_crossed):
            j = self.crossed[i]
            at = -self.x[j] / self.d[j]
            if slope + at * bend >= 0.0:
                break
            slope += 2.0 * fabs(self.d[j])
            if slope + at * bend >= 0.0:
                step, met = at, j
                break
            self.sign[j] = -self.sign[j]
        if met < 0:
            step = min(1.0, -slope / bend)
        for j in range(self.n):
            self.x[j] += step * self.d[j]
            self.residual[j] -= step * self.kept[j]
        if met >= 0:
            self.x[met] = 0.0
            for i in range(self.k):
                if self.support[i] == met:
                    self._remove(i)
                    break

    cdef void _insert(self, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
        """Put j among the i that cross zero, the first on the way first."""
        cdef double at = -self.x[j] / self.d[j]
        while i > 0 and -self.x[self.crossed[i - 1]] / self.d[self.crossed[i - 1]] > at:
            self.crossed[i] = self.crossed[i - 1]
            i -= 1
        self.crossed[i] = j
