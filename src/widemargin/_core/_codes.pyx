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
    MOST_LEVELS = 1 << 30
    AT_ONCE = 16  # numbers that are compared before any is asked

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


cdef void sort_part(const int64_t* level, const int64_t* group, Py_ssize_t n, int64_t n_levels, int64_t n_groups,
                    int64_t* by_level, int64_t* place, int64_t* order) noexcept nogil:
    """Sort some items by level, then by group, keeping the order of equals; groups are less than n_groups."""
    cdef Py_ssize_t k
    cdef int64_t i, size, total = 0
    if n_groups == 1:
        by_level = order
    memset(place, 0, n_levels * sizeof(int64_t))
    for k in range(n):
        place[level[k]] += 1
    for k in range(n_levels - 1, -1, -1):
        size, place[k] = place[k], total
        total += size
    for k in range(n):
        by_level[place[level[k]]] = k
        place[level[k]] += 1
    if n_groups == 1:
        return
    memset(place, 0, n_groups * sizeof(int64_t))
    for k in range(n):
        place[group[k]] += 1
    total = 0
    for k in range(n_groups):
        size, place[k] = place[k], total
        total += size
    for k in range(n):
        i = by_level[k]
        order[place[group[i]]] = i
        place[group[i]] += 1


cdef Py_ssize_t count_ranks(const int64_t* level, const int64_t* group, const int64_t* order, Py_ssize_t n,
                            int64_t* rank, int64_t* starts, Py_ssize_t at, Py_ssize_t first) noexcept nogil:
    """Count the levels of sorted items from 0 in each group, and write before `at` where groups begin, from `first` on."""
    cdef Py_ssize_t k
    cdef int64_t i, before = order[n - 1], r = 0
    for k in range(n - 1, -1, -1):
        i = order[k]
        if group[i] != group[before]:
            r = 0
            at -= 1
            starts[at] = first + k + 1
        elif level[i] != level[before]:
            r += 1
        rank[k] = r
        before = i
    starts[at - 1] = first
    return at - 1


def sort_levels(const int64_t[::1] level, const int64_t[::1] group, int64_t n_levels, int64_t n_groups,
                int64_t[::1] order, int64_t[::1] rank, int64_t[::1] starts):
    """Write the items by (group, level descending, index), their level counted from 0 in its group, and where groups begin.

    `starts` has room for n_groups + 1 numbers; returns the first that was written: some groups may be empty.
    """
    cdef Py_ssize_t n = level.shape[0], at = n_groups
    cdef int64_t* by_level = <int64_t*> malloc(max(n, 1) * sizeof(int64_t))
    cdef int64_t* place = <int64_t*> malloc(max(n_levels, n_groups) * sizeof(int64_t))
    if by_level == NULL or place == NULL:
        free(by_level)
        free(place)
        raise MemoryError
    starts[at] = n
    with nogil:
        if n > 0:
            sort_part(&level[0], &group[0], n, n_levels, n_groups, by_level, place, &order[0])
            at = count_ranks(&level[0], &group[0], &order[0], n, &rank[0], &starts[0], at, 0)
    free(by_level)
    free(place)
    return at


cdef Py_ssize_t find_runs(const int64_t* x, Py_ssize_t size, int64_t* starts) noexcept nogil:
    """Do the work of `runs`, several numbers at a time: most are the one before them."""
    cdef Py_ssize_t i = 1, k, end, n = 0
    cdef int64_t change
    starts[0] = 0
    while i < size:
        end = i + AT_ONCE
        change = end > size
        if end <= size:
            for k in range(AT_ONCE):
                change |= x[i + k] ^ x[i + k - 1]
        if change != 0:
            for k in range(i, min(end, size)):
                if x[k] != x[k - 1]:
                    if x[k] < x[k - 1]:
                        return 0
                    n += 1
                    starts[n] = k
        i = end
    starts[n + 1] = size
    return n + 1


def runs(const int64_t[::1] x, int64_t[::1] starts):
    """Write where runs of equal numbers begin, and the end; return how many they are, 0 where they do not ascend."""
    cdef Py_ssize_t n = 0
    if x.shape[0] > 0:
        with nogil:
            n = find_runs(&x[0], x.shape[0], &starts[0])
    return n


def level_runs(const int64_t[::1] rank, const int64_t[::1] starts, int64_t[::1] ends):
    """Write where the runs of sorted items of one group and one level end, as many as `rank` tells; return the pairs.

    Nothing branches: each item says that its run ends behind it, and the last one is right.
    """
    cdef Py_ssize_t q, k, first = 0
    cdef int64_t top, begin, n_pairs = 0
    with nogil:
        for q in range(starts.shape[0] - 1):
            begin, top = starts[q], rank[starts[q]]
            for k in range(starts[q], starts[q + 1]):
                ends[first + top - rank[k]] = k + 1
            for k in range(first, first + top + 1):
                n_pairs += (ends[k] - begin) * (starts[q + 1] - ends[k])
                begin = ends[k]
            first += top + 1
    return n_pairs


cdef bint count_levels(const number* x, Py_ssize_t n, number low, Py_ssize_t n_levels, int32_t* level, int64_t* place,
                       int64_t* ranks, Py_ssize_t first, int64_t* order, int64_t* rank) noexcept nogil:
    """Sort a group whose values are few whole numbers by counting; False where one is a fraction."""
    cdef Py_ssize_t i, k, r = 0, end = n
    memset(place, 0, n_levels * sizeof(int64_t))
    for i in range(n):
        k = <Py_ssize_t> (x[i] - low)
        if not low + k == x[i]:
            return False
        level[i] = <int32_t> k
        place[k] += 1
    for k in range(n_levels):
        end -= place[k]
        ranks[k] = r
        r += place[k] > 0
        place[k] = end
    for i in range(n):
        k = level[i]
        order[place[k]] = first + i
        rank[place[k]] = ranks[k]
        place[k] += 1
    return True


cdef void sort_values(const number* x, Py_ssize_t n, double* u, int32_t* by_u, Py_ssize_t first, int64_t* order,
                      int64_t* rank) noexcept nogil:
    """Sort a group of any values that are exact as float64."""
    cdef Py_ssize_t i, k, begin = 0, r = 0
    for i in range(n):
        u[i] = <double> x[i]
    sort_by_value(u, n, by_u, by_u + n, by_u + 2 * n)
    for i in range(1, n + 1):
        if i == n or u[by_u[i]] != u[by_u[i - 1]]:
            for k in range(begin, i):  # the best come first, and equals as they lie
                order[n - i + k - begin] = first + by_u[k]
                rank[n - i + k - begin] = r
            begin, r = i, r + 1


def sort_runs(const number[::1] x, const int64_t[::1] starts, int64_t[::1] order, int64_t[::1] rank):
    """Write the items of groups that lie one after the other by (group, value descending, index), and their ranks.

    Ranks count the different values of a group from 0. Values are finite, and exact as float64; whole numbers of a range not
    much wider than the group are counted, others sorted.
    """
    cdef Py_ssize_t q, a, i, n, most = 1, n_levels, room = 0, n_groups = starts.shape[0] - 1
    cdef number low, high
    cdef bint is_whole = True
    cdef double* u
    cdef int32_t* by_u
    cdef int64_t* place = NULL
    for q in range(n_groups):
        most = max(most, starts[q + 1] - starts[q])
    if most >= 1 << 31:
        raise ValueError("a group has 2^31 items or more")
    u = <double*> malloc(most * sizeof(double))
    by_u = <int32_t*> malloc((3 * most + 1) * sizeof(int32_t))
    if u == NULL or by_u == NULL:
        free(u)
        free(by_u)
        raise MemoryError
    with nogil:
        for q in range(n_groups):
            a, n = starts[q], starts[q + 1] - starts[q]
            low = high = x[a]
            for i in range(a + 1, a + n):
                low, high = min(low, x[i]), max(high, x[i])
            is_whole = is_whole and <double> high - <double> low < min(RANGE * n, MOST_LEVELS)
            n_levels = <Py_ssize_t> (high - low) + 1 if is_whole else 0
            if n_levels > room:
                free(place)
                room = n_levels
                place = <int64_t*> malloc(2 * room * sizeof(int64_t))
                is_whole = place != NULL
            if is_whole:
                is_whole = count_levels(&x[a], n, low, n_levels, by_u, place, place + n_levels, a, &order[a], &rank[a])
            if not is_whole:
                sort_values(&x[a], n, u, by_u, a, &order[a], &rank[a])
    free(u)
    free(by_u)
    free(place)
