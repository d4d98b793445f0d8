# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Codes 0, 1, ... of values, and items by level and group: one pass after the other over arrays of all items.

Each loop has a NumPy twin in `_codes_ref.py`.
"""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from ._sorting cimport sort_by_value

cdef enum:
    RANGE = 4  # counters per item up to which whole numbers are counted

ctypedef fused number:
    int64_t
    double


def dense(const number[::1] x, int64_t[::1] codes):
    """Write the place of each value among the distinct ones; False where x is neither sorted nor of few whole numbers."""
    cdef Py_ssize_t i, n = x.shape[0], k
    cdef number low = x[0], high = x[0]
    cdef int64_t code = 0
    cdef int64_t* place
    cdef bint fine = True
    cdef number[4] lows, highs
    lows[0] = lows[1] = lows[2] = lows[3] = highs[0] = highs[1] = highs[2] = highs[3] = x[0]
    with nogil:
        codes[0] = 0
        for i in range(1, n):
            if not x[i] >= x[i - 1]:
                fine = False
                break
            code += x[i] != x[i - 1]
            codes[i] = code
    if fine:
        return True
    with nogil:
        for i in range(0, n - 3, 4):  # four chains, none of which waits for another
            for k in range(4):
                lows[k] = min(lows[k], x[i + k])
                highs[k] = max(highs[k], x[i + k])
        for i in range(n - n % 4, n):
            low, high = min(low, x[i]), max(high, x[i])
        for k in range(4):
            low, high = min(low, lows[k]), max(high, highs[k])
    if not <double> high - <double> low <= RANGE * <double> n:
        return False
    place = <int64_t*> calloc(<Py_ssize_t> (high - low) + 1, sizeof(int64_t))
    if place == NULL:
        raise MemoryError
    fine = True
    with nogil:
        for i in range(n):
            k = <Py_ssize_t> (x[i] - low)
            if not low + k == x[i]:  # a fraction, or nan
                fine = False
                break
            codes[i] = k
            place[k] = 1
        if fine:
            code = 0
            for k in range(<Py_ssize_t> (high - low) + 1):
                code += place[k]
                place[k] = code - 1
            if code <= <int64_t> (high - low):  # some numbers between do not occur
                for i in range(n):
                    codes[i] = place[codes[i]]
    free(place)
    return fine


def dense_by_order(const double[::1] x, int64_t[::1] codes):
    """Do the work of `dense` for any finite values; False where some are not."""
    cdef Py_ssize_t i, n = x.shape[0]
    cdef int64_t code = 0
    cdef double check = 0.0
    cdef int32_t* order
    for i in range(n):
        check += x[i] * 0.0
    if check != 0.0 or n >= 1 << 31:  # nan, and positions beyond 32 bits
        return False
    order = <int32_t*> malloc((3 * n + 1) * sizeof(int32_t))
    if order == NULL:
        raise MemoryError
    with nogil:
        sort_by_value(&x[0], n, order, order + n, order + 2 * n)
        for i in range(n):
            code += i > 0 and x[order[i]] != x[order[i - 1]]
            codes[order[i]] = code
    free(order)
    return True


cdef void sort_part(const int64_t[::1] level, const int64_t[::1] group, Py_ssize_t start, Py_ssize_t stop,
                    int64_t n_levels, int64_t low, int64_t n_groups, int64_t* by_level, int64_t* place,
                    int64_t[::1] order) noexcept nogil:
    """Sort items start:stop, whose groups are low, low + 1, ...: by level, then by group, keeping the order of equals."""
    cdef Py_ssize_t k
    cdef int64_t i, size, total = 0
    if n_groups == 1:
        by_level = &order[start]
    memset(place, 0, n_levels * sizeof(int64_t))
    for k in range(start, stop):
        place[level[k]] += 1
    for k in range(n_levels - 1, -1, -1):
        size, place[k] = place[k], total
        total += size
    for k in range(start, stop):
        by_level[place[level[k]]] = k
        place[level[k]] += 1
    if n_groups == 1:
        return
    memset(place, 0, n_groups * sizeof(int64_t))
    for k in range(start, stop):
        place[group[k] - low] += 1
    total = start
    for k in range(n_groups):
        size, place[k] = place[k], total
        total += size
    for k in range(stop - start):
        i = by_level[k]
        order[place[group[i] - low]] = i
        place[group[i] - low] += 1


def is_sorted(const int64_t[::1] x):
    """Return whether no number is less than the one before it."""
    cdef Py_ssize_t i, n_falls = 0
    with nogil:
        for i in range(1, x.shape[0]):
            n_falls += x[i] < x[i - 1]
    return n_falls == 0


def sort_levels(const int64_t[::1] level, const int64_t[::1] group, bint is_sorted, Py_ssize_t first, int64_t n_levels,
                int64_t n_groups, int64_t[::1] order, int64_t[::1] rank, int64_t[::1] starts):
    """Write the items by (group, level descending, index), their level counted from 0 in its group, and where groups begin.

    Groups are less than n_groups; or, where items are sorted by them, less than n_groups above group[0]. Items are
    counted from `first`. `starts` has room for n_groups + 1 numbers; returns the first that was written: some groups may be
    empty.
    """
    cdef Py_ssize_t k, n = level.shape[0], start = 0, stop, at = n_groups
    cdef int64_t i, before, r = 0
    cdef int64_t* by_level = <int64_t*> malloc(max(n, 1) * sizeof(int64_t))
    cdef int64_t* place = <int64_t*> malloc(max(n_levels, n_groups) * sizeof(int64_t))
    if by_level == NULL or place == NULL:
        free(by_level)
        free(place)
        raise MemoryError
    with nogil:
        while start < n:
            stop = n
            if is_sorted:  # one group at a time, or as many as have an item for each counter
                stop = min(n, start + n_levels)
                while stop < n and group[stop] == group[stop - 1]:
                    stop += 1
                sort_part(level, group, start, stop, n_levels, group[start], group[stop - 1] - group[start] + 1,
                          by_level, place, order)
            else:
                sort_part(level, group, 0, n, n_levels, 0, n_groups, by_level, place, order)
            start = stop
        starts[at] = first + n
        for k in range(n - 1, -1, -1):
            i, before = order[k], order[min(k + 1, n - 1)]
            if group[i] != group[before]:
                r = 0
                at -= 1
                starts[at] = first + k + 1
            elif level[i] != level[before]:
                r += 1
            rank[k] = r
        if n > 0:
            at -= 1
            starts[at] = first
        if first > 0:
            for k in range(n):
                order[k] += first
    free(by_level)
    free(place)
    return at
