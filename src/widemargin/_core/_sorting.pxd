# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The ascending order of few values, which compiled loops ask for at every look."""

from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cdef enum:
    SMALL = 16  # insertion sort below
    CROWD = 256  # values of one bucket that are worth buckets of their own
    DEEPEST = 4  # times that this is done


cdef inline void insertion_sort(const double* x, int32_t* idx, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef int32_t k
    cdef double v
    for i in range(1, n):
        k = idx[i]
        v = x[k]
        j = i - 1
        while j >= 0 and x[idx[j]] > v:
            idx[j + 1] = idx[j]
            j -= 1
        idx[j + 1] = k


cdef inline void merge_sort(const double* x, int32_t* idx, int32_t* tmp, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t half, a, b, k
    if n <= SMALL:
        insertion_sort(x, idx, n)
        return
    half = n // 2
    merge_sort(x, idx, tmp, half)
    merge_sort(x, idx + half, tmp, n - half)
    for a in range(half):
        tmp[a] = idx[a]
    a, b, k = 0, half, 0
    while a < half and b < n:
        if x[idx[b]] < x[tmp[a]]:
            idx[k] = idx[b]
            b += 1
        else:
            idx[k] = tmp[a]
            a += 1
        k += 1
    while a < half:
        idx[k] = tmp[a]
        a += 1
        k += 1


cdef inline bint spread(const double* x, const int32_t* idx, Py_ssize_t n, double* low, double* scale) noexcept nogil:
    """Find which of n equal buckets takes (x - low) * scale; False where there is none: for one value, nan, or overflow."""
    cdef Py_ssize_t i
    cdef double high, check = 0.0
    low[0] = high = x[idx[0]]
    for i in range(n):
        low[0] = min(low[0], x[idx[i]])
        high = max(high, x[idx[i]])
        check += x[idx[i]] * 0.0
    if not (low[0] < high and check == 0.0):
        return False
    scale[0] = (n - 1) / (high - low[0])
    return 0.0 < scale[0] < 1e300


cdef inline void sort_few(const double* x, int32_t* idx, Py_ssize_t n, int32_t* tmp) noexcept nogil:
    if n > SMALL:
        merge_sort(x, idx, tmp, n)
    elif n > 1:
        insertion_sort(x, idx, n)


cdef inline void sort_bucket(const double* x, int32_t* idx, Py_ssize_t n, int32_t* tmp, int deeper) noexcept nogil:
    """Sort some positions. Where they are many, the others are far off: by buckets again, but not again and again."""
    cdef Py_ssize_t i, b, start = 0
    cdef double low, scale
    cdef int32_t* count = NULL
    if deeper > 0 and n > CROWD and spread(x, idx, n, &low, &scale):
        count = <int32_t*> calloc(n + 1, sizeof(int32_t))
    if count == NULL:
        sort_few(x, idx, n, tmp)
        return
    for i in range(n):
        count[<Py_ssize_t> ((x[idx[i]] - low) * scale) + 1] += 1
    for i in range(n):
        count[i + 1] += count[i]
    for i in range(n):
        b = <Py_ssize_t> ((x[idx[i]] - low) * scale)
        tmp[count[b]] = idx[i]
        count[b] += 1
    memcpy(idx, tmp, n * sizeof(int32_t))
    for b in range(n):  # count[b] is now the end of bucket b
        sort_bucket(x, idx + start, count[b] - start, tmp, deeper - 1)
        start = count[b]
    free(count)


cdef inline void sort_by_value(const double* x, Py_ssize_t n, int32_t* idx, int32_t* tmp, int32_t* count) noexcept nogil:
    """Fill idx with the ascending order of x: one pass over n equal buckets, then a sort inside each.

    Linear for any spread-out values; a crowded bucket (outliers) is spread again before it costs its own n log n.
    """
    cdef Py_ssize_t i, b, start = 0
    cdef double low, scale
    for i in range(n):
        idx[i] = <int32_t> i
    if n <= SMALL or not spread(x, idx, n, &low, &scale):
        sort_few(x, idx, n, tmp)
        return
    memset(count, 0, (n + 1) * sizeof(int32_t))
    for i in range(n):
        b = <Py_ssize_t> ((x[i] - low) * scale)
        tmp[i] = <int32_t> b
        count[b + 1] += 1
    for i in range(n):
        count[i + 1] += count[i]
    for i in range(n):
        b = tmp[i]
        idx[count[b]] = <int32_t> i
        count[b] += 1
    for b in range(n):  # count[b] is now the end of bucket b
        sort_bucket(x, idx + start, count[b] - start, tmp, DEEPEST)
        start = count[b]
