# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Products with a symmetric matrix by blocks of its lower half: each entry is read once and serves twice.

Two products of BLAS would read a block twice, or stride through it; memory is what large matrices wait for.
"""

from libc.stdint cimport int16_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from "_fetch.h":
    ctypedef struct Ahead:
        const char* at
        Py_ssize_t step
    void fetch(Ahead ahead, Py_ssize_t row) noexcept nogil

cdef extern from "_lower_half.h":
    void lower_half_narrow(const float* block, Py_ssize_t n, Py_ssize_t width, Py_ssize_t stride, Py_ssize_t lead,
                           const float* x, const float* y, double* down, float* across, Py_ssize_t size,
                           Py_ssize_t room, bint is_pair) noexcept nogil
    void lower_half_double(const double* block, Py_ssize_t n, Py_ssize_t width, Py_ssize_t stride, Py_ssize_t lead,
                           const double* x, const double* y, double* down, double* across, Py_ssize_t size,
                           Py_ssize_t room, bint is_pair) noexcept nogil
    void split_row(const double* x, Py_ssize_t n, float* near, int16_t* rest) noexcept nogil
    void join_row(const float* near, const int16_t* rest, Py_ssize_t n, double* x) noexcept nogil

cdef enum:
    JOINED = 4  # rows at a time, which the nearest cache holds
    AHEAD = 8  # rows that are fetched before they are joined

ctypedef fused other:
    float
    double

cdef void add_block(const real* block, Py_ssize_t n, Py_ssize_t m, Py_ssize_t stride, Py_ssize_t row, Py_ssize_t column,
                    const real* v, double* out, real* across, Py_ssize_t size, bint is_pair) noexcept nogil:
    """Do the work of `add_product` for a vector, or for two, `size` entries apart; 2 * COLUMNS sums are written over."""
    cdef Py_ssize_t p, q, a, c, i, rows, width, lead
    for p in range((n + ROWS - 1) // ROWS):
        a = p * ROWS
        rows = min(ROWS, n - a)
        for q in range((m + COLUMNS - 1) // COLUMNS):
            c = q * COLUMNS
            width, lead = min(COLUMNS, m - c), row + a - column - c
            memset(across, 0, (2 if is_pair else 1) * COLUMNS * sizeof(real))
            if real is float:
                lower_half_narrow(block + a * stride + c, rows, width, stride, lead, v + column + c, v + row + a,
                                  out + row + a, across, size, COLUMNS, is_pair)
            else:
                lower_half_double(block + a * stride + c, rows, width, stride, lead, v + column + c, v + row + a,
                                  out + row + a, across, size, COLUMNS, is_pair)
            for i in range(width):
                out[column + c + i] += across[i]
            if is_pair:
                for i in range(width):
                    out[size + column + c + i] += across[COLUMNS + i]


def add_product(const real[:, :] block, Py_ssize_t row, Py_ssize_t column, const real[:, ::1] V, double[:, ::1] out):
    """Add to each row of out what a block of the lower half of K gives of K v, v a row of V, and its mirror image.

    The block begins at (row, column). Entries above the diagonal are not read. Those of a row follow each other. Two
    rows of V are multiplied at a time.
    """
    cdef Py_ssize_t n = block.shape[0], m = block.shape[1], stride = block.strides[0] // sizeof(real), k
    cdef real* across = <real*> malloc(2 * COLUMNS * sizeof(real))
    if across == NULL:
        raise MemoryError
    with nogil:
        for k in range((V.shape[0] + 1) // 2):
            add_block(&block[0, 0], n, m, stride, row, column, &V[2 * k, 0], &out[2 * k, 0], across, V.shape[1],
                      2 * k + 1 < V.shape[0])
    free(across)


def gather(const real[:, :] strip, Py_ssize_t column, const int64_t[::1] items, Py_ssize_t first, Py_ssize_t end,
           other[:, ::1] out):
    """Write K[items, items[first:end]] from the strip that begins at `column`, from the diagonal down."""
    cdef Py_ssize_t i, j, row
    with nogil:
        for i in range(first, items.shape[0]):
            row = items[i] - column
            for j in range(first, min(end, i + 1)):
                out[i, j] = <other> strip[row, items[j] - column]


def split(const double[:, :] values, float[:, :] near, int16_t[:, :] rest):
    """Write values as float32 and what those miss, to two parts in 10^12. Entries of a row follow each other."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(values.shape[0]):
            split_row(&values[i, 0], values.shape[1], &near[i, 0], &rest[i, 0])


def add_fine_product(const float[:, ::1] near, const int16_t[:, ::1] rest, Py_ssize_t row, Py_ssize_t column,
                     const double[:, ::1] V, double[:, ::1] out):
    """Do the work of `add_product` for each row of V, with values that were split; two rows at a time.

    Some rows are joined again in the nearest cache; meanwhile others are fetched, since memory waits for no arithmetic.
    """
    cdef Py_ssize_t n = near.shape[0], m = near.shape[1], size = V.shape[1], lead = row - column, a, i, k, p, rows
    cdef Ahead near_ahead = Ahead(NULL, m * sizeof(float)), rest_ahead = Ahead(NULL, m * sizeof(int16_t))
    cdef double* joined = <double*> malloc(JOINED * m * sizeof(double))
    if joined == NULL:
        raise MemoryError
    with nogil:
        for k in range((V.shape[0] + 1) // 2):
            for p in range((n + JOINED - 1) // JOINED):
                a = p * JOINED
                rows, near_ahead.at, rest_ahead.at = min(JOINED, n - a), NULL, NULL
                if a + AHEAD + rows <= n:
                    near_ahead.at = <const char*> &near[a + AHEAD, 0]
                    rest_ahead.at = <const char*> &rest[a + AHEAD, 0]
                for i in range(rows):
                    fetch(near_ahead, i)
                    fetch(rest_ahead, i)
                    join_row(&near[a + i, 0], &rest[a + i, 0], min(m, lead + a + i + 1), joined + i * m)
                lower_half_double(joined, rows, m, m, lead + a, &V[2 * k, column], &V[2 * k, row + a],
                                  &out[2 * k, row + a], &out[2 * k, column], size, size, 2 * k + 1 < V.shape[0])
    free(joined)
