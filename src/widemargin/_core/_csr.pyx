# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Products with some rows of a CSR matrix, where they lie: no copy, sums in float64 whatever the values are.

By vectors: rows start:stop of the matrix, or, where `which` is not empty, the rows which[start:stop].
"""

from libc.stdint cimport int32_t, int64_t

ctypedef fused real:
    float
    double

ctypedef fused index:
    int32_t
    int64_t


def product(const real[::1] data, const index[::1] indices, const index[::1] indptr, const int64_t[::1] which,
            Py_ssize_t start, Py_ssize_t stop, const double[::1] w, double[::1] out):
    """Write X w of the rows to out."""
    cdef Py_ssize_t k, i
    cdef index e
    cdef double total
    with nogil:
        for k in range(start, stop):
            i = which[k] if which.shape[0] else k
            total = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                total += data[e] * w[indices[e]]
            out[k - start] = total


def adjoint(const real[::1] data, const index[::1] indices, const index[::1] indptr, const int64_t[::1] which,
            Py_ssize_t start, Py_ssize_t stop, const double[::1] g, double[::1] out, bint squared):
    """Add X' g of the rows to out; of the squared entries where asked."""
    cdef Py_ssize_t k, i
    cdef index e
    cdef double x
    with nogil:
        for k in range(start, stop):
            if g[k - start] == 0.0:
                continue
            i = which[k] if which.shape[0] else k
            for e in range(indptr[i], indptr[i + 1]):
                x = data[e]
                out[indices[e]] += g[k - start] * (x * x if squared else x)


def times(const double[::1] data, const index[::1] indices, const index[::1] indptr, const int64_t[::1] which,
          const real[:, :] X, double[:, :] out):
    """Write some rows of the matrix times a dense one to the rows of out; both in any layout."""
    cdef Py_ssize_t k, j, p = X.shape[1]
    cdef index e
    cdef double c
    cdef const real* row
    cdef double* to
    cdef bint is_packed = X.strides[1] == sizeof(real) and out.strides[1] == sizeof(double)
    cdef bint is_first
    with nogil:
        for k in range(which.shape[0]):
            is_first = True
            for e in range(indptr[which[k]], indptr[which[k] + 1]):
                c = data[e]
                if is_packed:
                    row, to = &X[indices[e], 0], &out[k, 0]
                    if is_first:
                        for j in range(p):
                            to[j] = c * row[j]
                    else:
                        for j in range(p):
                            to[j] += c * row[j]
                else:
                    for j in range(p):
                        out[k, j] = c * X[indices[e], j] + (0.0 if is_first else out[k, j])
                is_first = False
            if is_first:  # a row without entries
                for j in range(p):
                    out[k, j] = 0.0
