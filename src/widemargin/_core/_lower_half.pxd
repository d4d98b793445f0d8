# cython: language_level=3
"""What other compiled loops ask of `_lower_half.pyx`."""

ctypedef fused real:
    float
    double

cdef enum:
    ROWS = 256  # whose sums by column are in the precision of the block, before float64 takes them
    COLUMNS = 1024  # at a time, whose sums are in the nearest cache

cdef void add_block(const real* block, Py_ssize_t n, Py_ssize_t m, Py_ssize_t stride, Py_ssize_t row, Py_ssize_t column,
                    const real* v, double* out, real* across, Py_ssize_t size, bint is_pair) noexcept nogil
