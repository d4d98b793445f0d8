"""The ascending order of few values, which compiled loops ask for at every look."""

from libc.stdint cimport int32_t
from libc.string cimport memset

cdef enum:
    SMALL = 16  # insertion sort below


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


cdef inline void sort_by_value(const double* x, Py_ssize_t n, int32_t* idx, int32_t* tmp, int32_t* count) noexcept nogil:
    """Fill idx with the ascending order of x: one pass over n equal buckets, then a sort inside each.

    Linear for any spread-out values; a crowded bucket (outliers, ties) costs its own n log n.
    """
    cdef Py_ssize_t i, b, start, size
    cdef double low = x[0], high = x[0], scale
    for i in range(n):
        idx[i] = <int32_t> i
        low = min(low, x[i])
        high = max(high, x[i])
    if n <= SMALL or not low < high:
        insertion_sort(x, idx, n)
        return
    scale = (n - 1) / (high - low)
    if not scale < 1e300:  # a spread near the smallest number
        merge_sort(x, idx, tmp, n)
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
    start = 0
    for b in range(n):  # count[b] is now the end of bucket b
        size = count[b] - start
        if size > SMALL:
            merge_sort(x, idx + start, tmp, size)
        elif size > 1:
            insertion_sort(x, idx + start, size)
        start = count[b]
