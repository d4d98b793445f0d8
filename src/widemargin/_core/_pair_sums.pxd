# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What the compiled loops over implicit pairs share: when a table of sums beats running ones."""

cdef enum:
    FEW = 24  # up to so many levels one running sum per level beats fewer that are added up
    MOST = 4  # thresholds at once
    TABLE = 1 << 20  # most entries of a table of prefix sums

ctypedef fused product:  # the precision of products with X or K, which may be wider than theirs
    float
    double


cdef inline Py_ssize_t cells(Py_ssize_t n, Py_ssize_t levels) noexcept nogil:
    """Return the entries of a table of prefix sums by item and level; 0 where running sums are better."""
    cdef Py_ssize_t size = (n + 1) * (levels + 1)
    return size if levels <= FEW and size <= TABLE else 0
