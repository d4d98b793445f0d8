# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What the compiled loops over implicit pairs share: when a table of sums beats a tree, and products of either precision."""

from scipy.linalg.cython_blas cimport dgemv, sgemv

cdef enum:
    FEW = 24  # up to so many levels one running sum per level beats a tree
    MOST = 4  # thresholds at once
    TABLE = 1 << 20  # most entries of a table of prefix sums

ctypedef fused product:  # the precision of products with X or K, which may be wider than theirs
    float
    double


cdef inline Py_ssize_t cells(Py_ssize_t n, Py_ssize_t levels) noexcept nogil:
    """Return the entries of a table of prefix sums by item and level; 0 where a tree is better."""
    cdef Py_ssize_t size = (n + 1) * (levels + 1)
    return size if levels <= FEW and size <= TABLE else 0


cdef inline void gemv(bint transposed, const product* X, Py_ssize_t n, Py_ssize_t p, Py_ssize_t stride,
                      const product* x, product* y) noexcept nogil:
    """Write y = X x, or X' x, for n rows of X that begin `stride` entries apart."""
    cdef char form = b"N" if transposed else b"T"  # BLAS counts by columns
    cdef int rows = <int> n, columns = <int> p, lead = <int> stride, one = 1
    cdef product scale = 1.0, zero = 0.0
    if product is float:
        sgemv(&form, &columns, &rows, &scale, <float*> X, &lead, <float*> x, &one, &zero, y, &one)
    else:
        dgemv(&form, &columns, &rows, &scale, <double*> X, &lead, <double*> x, &one, &zero, y, &one)
