# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over the active partners of each item of a group: a table for few levels, digits for more, parts for many.

Partners of k at a threshold t are items i of better level with u_i - u_k < t, and of worse level with u_k - u_i < t. Items
are met in ascending order of utility for the former and in descending order for the latter: either way the active ones are
those inserted before some moment. Nothing is taken off a sum, so that a few partners of many items lose no digits.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memset

from ._pair_sums cimport MOST, cells
from ._sorting cimport sort_by_value

cdef extern from "_digits.h":
    ctypedef struct Sums:
        double c  # of the weights
        double cx  # of weight times payload

    int digits_of(Py_ssize_t levels) noexcept nogil
    Py_ssize_t digits_size(Py_ssize_t levels) noexcept nogil
    void digits_insert(Sums* sums, int digits, Py_ssize_t level, double c, double cx) noexcept nogil
    Sums digits_below(const Sums* sums, int digits, Py_ssize_t level) noexcept nogil

cdef extern from "_fetch.h":
    ctypedef struct Ahead:  # what will be read next
        const char* at  # NULL: nothing
        Py_ssize_t step  # bytes to fetch with each row

    void fetch(Ahead ahead, Py_ssize_t row) noexcept nogil

cdef extern from "_room.h":
    void* room(size_t size) noexcept nogil

cdef enum:
    MANY = 1 << 17  # levels beyond which they are cut into parts: sums over all would be in no near cache
    WIDEST = 100  # range of the utilities up to which sums over many items may be taken off each other
    KINDS = MOST + 1  # of events: an item is inserted, or asks for its partners at a threshold


cdef struct Cut:  # many levels, in parts; items of a part keep their order
    int bits  # of a level within its part; 0: levels are not cut
    Py_ssize_t parts
    double* c  # weights, part by part
    double* x  # payload
    double* total  # as in Scratch, over partners of the same part
    double* moment
    int32_t* level  # within the part
    int64_t* start  # of each part
    int64_t* next  # item or event of each part
    uint8_t* event  # kinds, part by part, in the order of time


cdef struct Scratch:  # one group; ascending means in ascending order of utility
    double* u  # utilities, shifted, by position
    double* us  # ascending, with room for one more
    double* c  # weights, ascending
    double* x  # payload, ascending
    double* total  # sum over thresholds of share * (weight of the active partners)
    double* moment  # sum of share * (weight times payload of the active partners); of the payload -+ t if so told
    Sums* digits  # sums over inserted items by level, or by part
    Sums* table  # sums over the first items of lower level, for `visit_table`
    int32_t* rank  # ascending
    int32_t* by_u  # ascending position -> position in the group
    int32_t* spare
    int32_t* count
    int32_t* worse  # by threshold, for `visit_table`: the active worse partners of a position are here and after
    int32_t* better  # by threshold: the active better partners are before
    Cut cut


cdef inline int bits_of(Py_ssize_t levels) noexcept nogil:
    """Return the bits of a level within its part, half of all; 0 where levels are not cut."""
    cdef int bits = 0
    while levels > MANY and (levels - 1) >> bits > 0:
        bits += 1
    return (bits + 1) // 2


cdef inline bint allocate(Scratch* s, const int64_t[::1] starts, const int64_t[::1] rank, const int64_t[::1] groups,
                          bint with_payload) noexcept nogil:
    """Get room for the largest of the groups; False where there is none."""
    cdef Py_ssize_t q, n = 1, table = 0, k, m = 0, size, levels, most = 1, cut = 0
    cdef int bits
    for q in range(groups.shape[0]):
        size = starts[groups[q] + 1] - starts[groups[q]]
        levels = rank[starts[groups[q]]] + 1
        n = max(n, size)
        k = cells(size, levels)
        table = max(table, k)
        m = max(m, size + 1 if k > 0 else 0)
        bits = bits_of(levels)
        cut = max(cut, size if bits > 0 else 0)
        most = max(most, <Py_ssize_t> 1 << bits if bits > 0 else levels)
    k = n if with_payload else 0
    s.u = <double*> room((5 * n + k + 4 + 3 * cut + 2 * most) * sizeof(double)
                          + (digits_size(most) + table) * sizeof(Sums))
    s.rank = <int32_t*> room((4 * n + 16 + 2 * MOST * m) * sizeof(int32_t) + KINDS * cut)
    if s.u == NULL or s.rank == NULL:
        return False
    s.c, s.total, s.moment = s.u + n, s.u + 2 * n, s.u + 3 * n
    s.x, s.us = s.u + 4 * n, s.u + 4 * n + k
    s.digits = <Sums*> (s.u + 5 * n + k + 2)
    s.table = s.digits + digits_size(most)
    s.by_u, s.spare, s.count = s.rank + n, s.rank + 2 * n, s.rank + 3 * n
    s.worse, s.better = s.rank + 4 * n + 16, s.rank + 4 * n + 16 + MOST * m
    s.cut.c, s.cut.level = s.u, s.spare  # which the order was made of: it is known by then
    s.cut.x = <double*> (s.table + table)
    s.cut.total, s.cut.moment = s.cut.x + cut, s.cut.x + 2 * cut
    s.cut.start = <int64_t*> (s.cut.x + 3 * cut)
    s.cut.next = s.cut.start + most + 1
    s.cut.event = <uint8_t*> (s.rank + 4 * n + 16 + 2 * MOST * m)
    return True


cdef inline void release(Scratch* s) noexcept nogil:
    free(s.u)
    free(s.rank)


cdef inline void between(Scratch* s, Py_ssize_t n, const double[::1] thresholds) noexcept nogil:
    """Find for each position where its active worse partners begin, and where its active better ones end.

    Two pointers, k and i - k: which of them moves on cannot be predicted, so that nothing branches; and all thresholds
    at once, since each waits for its comparison.
    """
    cdef Py_ssize_t i, k, m, M = thresholds.shape[0]
    cdef Py_ssize_t[MOST] at
    cdef double[MOST] t
    cdef double* us = s.us
    us[n] = INFINITY
    for m in range(M):
        at[m], t[m] = 0, thresholds[m]
    for i in range(2 * n):
        for m in range(M):
            k = at[m]
            s.worse[m * (n + 1) + k] = <int32_t> (i - k)
            s.better[m * (n + 1) + i - k] = <int32_t> k
            at[m] = k + (us[k] - us[i - k] < t[m])  # strict: a margin of exactly t is no violation


cdef inline void visit_table(Scratch* s, const double* x, Py_ssize_t n, Py_ssize_t levels, const double[::1] thresholds,
                             const double[::1] shares, bint with_t, double* H, double* inner) noexcept nogil:
    """The same as `visit` for few levels: all prefix sums at once, then each question is a look-up.

    One table serves all thresholds, and nothing is mispredicted. But sums are taken off each other.
    """
    cdef Py_ssize_t i, k, l, m, width = levels + 1
    cdef Sums* row = s.table
    cdef const Sums* last = s.table + n * width
    cdef const Sums* at
    cdef const int32_t* worse
    cdef const int32_t* better
    cdef double t, share, c, cx, w, b, wx, mask, h, z
    memset(s.total, 0, n * sizeof(double))
    memset(s.moment, 0, n * sizeof(double))
    memset(row, 0, width * sizeof(Sums))
    for i in range(n):
        c = s.c[i]
        cx = c * x[i]
        k = s.rank[i]
        for l in range(width):  # row i: sums over the first i items of level below l
            mask = 1.0 if l > k else 0.0
            row[width + l].c = row[l].c + mask * c
            row[width + l].cx = row[l].cx + mask * cx
        row += width
    between(s, n, thresholds)
    for m in range(thresholds.shape[0]):
        t, share = thresholds[m], shares[m]
        h = z = 0.0
        worse, better = s.worse + m * (n + 1), s.better + m * (n + 1)
        for k in range(n):
            at = s.table + worse[k] * width + s.rank[k]
            w = last[s.rank[k]].c - at.c
            wx = last[s.rank[k]].cx - at.cx
            h += s.c[k] * ((t - x[k]) * w + wx)
            if share == 0.0:
                continue
            at = s.table + better[k] * width
            b = at[levels].c - at[s.rank[k] + 1].c
            wx += at[levels].cx - at[s.rank[k] + 1].cx
            s.total[k] += share * (b + w)
            s.moment[k] += share * (wx - t * (b - w) if with_t else wx)
            z += s.c[k] * x[k] * (x[k] * (b + w) + t * (b - w) - wx)
        H[m], inner[m] = h, z


cdef inline double meet(double* total, double* moment, double share, double t, bint with_t, double c, double x,
                        Sums partners) noexcept nogil:
    """Add active partners of an item to its sums, worse ones with -t; return c ((x + t) w - wx)."""
    total[0] += share * partners.c
    moment[0] += share * (partners.cx - t * partners.c if with_t else partners.cx)
    return c * ((x + t) * partners.c - partners.cx)


cdef inline void lay_out(Cut* cut, const int32_t* rank, const double* c, const double* x, Py_ssize_t n) noexcept nogil:
    """Bring the items into parts."""
    cdef Py_ssize_t k, l, at
    memset(cut.start, 0, (cut.parts + 1) * sizeof(int64_t))
    for k in range(n):
        cut.start[(rank[k] >> cut.bits) + 1] += 1
    for l in range(cut.parts):
        cut.start[l + 1] += cut.start[l]
        cut.next[l] = cut.start[l]
    for k in range(n):
        l = rank[k] >> cut.bits
        at = cut.next[l]
        cut.next[l] += 1
        cut.c[at], cut.x[at] = c[k], x[k]
        cut.level[at] = rank[k] - <int32_t> (l << cut.bits)
    memset(cut.total, 0, n * sizeof(double))
    memset(cut.moment, 0, n * sizeof(double))


cdef inline void note(Cut* cut, Py_ssize_t part, Py_ssize_t kind) noexcept nogil:
    """Remember an event. Which item it is of need not be said: for each kind a part's items come in their order."""
    cut.event[cut.next[part]] = <uint8_t> kind
    cut.next[part] += 1


cdef inline void replay(Scratch* s, const double[::1] thresholds, const double[::1] shares, bint is_up, bint with_t,
                        double* H, double* inner) noexcept nogil:
    """Do what `sweep` left: partners of the same part, one part after the other, whose sums are in the nearest cache."""
    cdef Cut* cut = &s.cut
    cdef Py_ssize_t[KINDS] at
    cdef Py_ssize_t l, k, m, e, size = <Py_ssize_t> 1 << cut.bits, level
    cdef int digits = digits_of(size)
    cdef Sums some
    cdef double z
    for l in range(cut.parts):
        memset(s.digits, 0, digits_size(size) * sizeof(Sums))
        for m in range(KINDS):
            at[m] = cut.start[l] if is_up else cut.start[l + 1] - 1
        for e in range(KINDS * cut.start[l], cut.next[l]):
            m = cut.event[e]
            k = at[m]
            at[m] += 1 if is_up else -1
            level = size - 1 - cut.level[k] if is_up else cut.level[k]
            if m == 0:
                digits_insert(s.digits, digits, level, cut.c[k], cut.c[k] * cut.x[k])
                continue
            some = digits_below(s.digits, digits, level)
            m -= 1
            z = meet(cut.total + k, cut.moment + k, shares[m], thresholds[m] if is_up else -thresholds[m], with_t,
                     cut.c[k], cut.x[k], some)
            inner[m] += cut.x[k] * z
            if not is_up:
                H[m] -= z


cdef inline void sweep(Scratch* s, const double* x, Py_ssize_t n, const double[::1] thresholds,
                       const double[::1] shares, bint is_up, bint with_t, double* H, double* inner) noexcept nogil:
    """Add each item's active better partners to its sums, inserting items from below; or the worse ones, from above.

    Before item i goes in, all active partners of k are in if i is the first that is none: then k asks. Of a share of 0
    only worse partners are asked for. Where levels are cut, partners in other parts are summed here, the others replayed.
    """
    cdef Py_ssize_t i, k, l, m, a, b, parts = s.cut.parts
    cdef Py_ssize_t[MOST] next_one
    cdef int bits = s.cut.bits, digits = digits_of(parts)
    cdef double z, apart
    memset(s.digits, 0, digits_size(parts) * sizeof(Sums))
    for m in range(thresholds.shape[0]):
        next_one[m] = 0
    for l in range(parts if bits > 0 else 0):
        s.cut.next[l] = KINDS * s.cut.start[l]
    for i in range(n + 1):
        a = i if is_up else n - 1 - i
        for m in range(thresholds.shape[0]):
            if is_up and shares[m] == 0.0:
                continue
            k = next_one[m]
            while k < n:
                b = k if is_up else n - 1 - k
                if i < n:
                    apart = s.us[a] - s.us[b] if is_up else s.us[b] - s.us[a]
                    if apart < thresholds[m]:  # strict: a margin of exactly t is no violation
                        break
                l = s.rank[b] >> bits
                if bits > 0:
                    note(&s.cut, l, m + 1)
                z = meet(s.total + b, s.moment + b, shares[m], thresholds[m] if is_up else -thresholds[m], with_t,
                         s.c[b], x[b], digits_below(s.digits, digits, parts - 1 - l if is_up else l))
                inner[m] += x[b] * z
                if not is_up:
                    H[m] -= z
                k += 1
            next_one[m] = k
        if i < n:
            l = s.rank[a] >> bits
            digits_insert(s.digits, digits, parts - 1 - l if is_up else l, s.c[a], s.c[a] * x[a])
            if bits > 0:
                note(&s.cut, l, 0)
    if bits > 0:
        replay(s, thresholds, shares, is_up, with_t, H, inner)


cdef inline void visit(Scratch* s, const double* x, Py_ssize_t n, Py_ssize_t levels, const double[::1] thresholds,
                       const double[::1] shares, bint with_t, double* H, double* inner) noexcept nogil:
    """Find the sums over each item's active partners at all thresholds; their payloads are taken `with_t`, or as they are.

    With the utilities as payload, H and inner get H(t) and u . grad phi(t).
    """
    cdef Py_ssize_t k, l, m
    if cells(n, levels) > 0 and s.us[n - 1] - s.us[0] <= WIDEST:
        visit_table(s, x, n, levels, thresholds, shares, with_t, H, inner)
        return
    for m in range(thresholds.shape[0]):
        H[m] = inner[m] = 0.0
    memset(s.total, 0, n * sizeof(double))
    memset(s.moment, 0, n * sizeof(double))
    s.cut.bits = bits_of(levels)
    s.cut.parts = ((levels - 1) >> s.cut.bits) + 1
    if s.cut.bits > 0:
        lay_out(&s.cut, s.rank, s.c, x, n)
    sweep(s, x, n, thresholds, shares, True, with_t, H, inner)
    sweep(s, x, n, thresholds, shares, False, with_t, H, inner)
    if s.cut.bits == 0:
        return
    for l in range(s.cut.parts):
        s.cut.next[l] = s.cut.start[l]
    for k in range(n):
        l = s.rank[k] >> s.cut.bits
        s.total[k] += s.cut.total[s.cut.next[l]]
        s.moment[k] += s.cut.moment[s.cut.next[l]]
        s.cut.next[l] += 1


cdef inline bint load(Scratch* s, const double* u, const int64_t* order, const int64_t* rank, const double[:] weight,
               int64_t base, Py_ssize_t n, Ahead ahead) noexcept nogil:
    """Bring one group into ascending order of utility; False where a utility is not finite."""
    cdef Py_ssize_t k
    cdef int32_t p
    cdef double shift = u[order[0] - base], check = 0.0
    for k in range(n):
        # the sums see differences only: shifting keeps a common offset out of the rounding
        s.u[k] = u[order[k] - base] - shift
        check += s.u[k] * 0.0
    if check != 0.0:  # nan
        return False
    sort_by_value(s.u, n, s.by_u, s.spare, s.count)
    for k in range(n):
        p = s.by_u[k]
        s.us[k] = s.u[p]
        s.c[k] = weight[order[p]]
        s.rank[k] = <int32_t> rank[p]
        fetch(ahead, k)
    return True
