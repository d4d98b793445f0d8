# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Conjugate gradients for Newton's step under a kernel matrix: products with the Hessian of implicit pairs, many at one u.

Pairs, levels and thresholds are those of `_counting.pyx`; the twin is the loop in `newton/kernel.py`.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from scipy.linalg.cython_blas cimport dgemv, dsymv, dtrmv, sgemv, ssymv

from ._lower_half cimport COLUMNS, add_block
from ._pair_sums cimport MOST, cells, product

cdef extern from "_steps.h":
    void advance(Py_ssize_t n, double step, const double* d, const double* q, const double* least, double* x, double* r,
                 double* sums) noexcept nogil
    double mix(Py_ssize_t n, double share, const double* x, const double* r, double* mean_x, double* mean_r) noexcept nogil
    void turn(Py_ssize_t n, double scale, const double* z, double share, double* d) noexcept nogil
    double dot(const double* x, const double* y, Py_ssize_t n) noexcept nogil


cdef double ALIKE = 1e-10  # share of its square that is left of a vector which others sum up to

cdef enum:
    FEW_NEAR = 16  # partners between two thresholds, on average, up to which each is met by itself


cdef struct Partners:  # of the items of all groups, by position in ascending order of utility; fixed while u is
    double* c  # weights
    double* total  # sum over thresholds of share * (weight of the active partners)
    double* cx  # weight times payload
    double* moment  # sum of share * (weight times payload of the active partners)
    double* sums  # over inserted items by level: a Fenwick tree; or a table of prefix sums by item and level
    double* under  # by level: sums over all items of lower level
    int32_t* rank
    int32_t* worse  # by threshold: the active worse partners of a position are here and after
    int32_t* better  # by threshold: the active better partners are before
    int32_t* near  # those between two thresholds, item after item, where there are few; else NULL
    int64_t* ends  # of each item's
    int64_t* item


cdef void between(Partners* p, Py_ssize_t a, Py_ssize_t n, Py_ssize_t m, const double* us, double t) noexcept nogil:
    """Find for each position of a group which others are active partners at a threshold."""
    cdef Py_ssize_t k, i = 0
    cdef int32_t* worse = p.worse + m + a
    cdef int32_t* better = p.better + m + a
    for k in range(n):
        while i < n and not us[k] - us[i] < t:  # strict: a margin of exactly t is no violation
            i += 1
        worse[k] = <int32_t> i
    i = 0
    for k in range(n):
        while i < n and worse[i] <= k:
            i += 1
        better[k] = <int32_t> i


cdef inline double below(const double* tree, Py_ssize_t levels, Py_ssize_t rank) noexcept nogil:
    """Return the sum over the inserted items of lower level than rank, as often for each: see `_counting.pyx`."""
    cdef double value = 0.0
    while levels > 0:
        value += tree[rank]
        rank &= rank - 1
        levels >>= 1
    return value


cdef void gather_moments(Partners* p, Py_ssize_t a, Py_ssize_t n, Py_ssize_t levels, Py_ssize_t size,
                         const double[::1] shares) noexcept nogil:
    """Sum the payloads of the active partners of a group: `visit`, with all that payloads do not change known."""
    cdef Py_ssize_t i, k, l, m, width = levels + 1
    cdef Py_ssize_t[MOST] next_worse, next_better
    cdef double[MOST] share
    cdef const int32_t* rank = p.rank + a
    cdef const double* cx = p.cx + a
    cdef double* moment = p.moment + a
    cdef double* row = p.sums
    cdef const double* last
    cdef double value, everything = 0.0
    memset(moment, 0, n * sizeof(double))
    if cells(n, levels) > 0:
        memset(row, 0, width * sizeof(double))
        for i in range(n):
            value, k = cx[i], rank[i]
            for l in range(width):  # row i: sums over the first i items of level below l
                row[width + l] = row[l] + (value if l > k else 0.0)
            row += width
        last = row
        for m in range(shares.shape[0]):
            if shares[m] == 0.0:
                continue
            for k in range(n):
                row = p.sums + p.worse[m * size + a + k] * width
                value = last[rank[k]] - row[rank[k]]
                row = p.sums + p.better[m * size + a + k] * width
                moment[k] += shares[m] * (value + row[levels] - row[rank[k] + 1])
        return
    memset(p.under, 0, (levels + 1) * sizeof(double))
    memset(p.sums, 0, (levels + 1) * sizeof(double))
    for k in range(n):
        p.under[rank[k] + 1] += cx[k]
    for k in range(levels):
        p.under[k + 1] += p.under[k]
    for m in range(shares.shape[0]):
        next_worse[m] = next_better[m] = 0
        share[m] = shares[m]
    for i in range(n + 1):
        for m in range(shares.shape[0]):
            if share[m] == 0.0:
                continue
            k = next_worse[m]
            while k < n and p.worse[m * size + a + k] == i:
                moment[k] += share[m] * (p.under[rank[k]] - below(p.sums, levels, rank[k]))
                k += 1
            next_worse[m] = k
            k = next_better[m]
            while k < n and p.better[m * size + a + k] == i:
                moment[k] += share[m] * (everything - below(p.sums, levels, rank[k] + 1))
                k += 1
            next_better[m] = k
        if i < n:
            everything += cx[i]
            l = rank[i] + 1
            while l <= levels:
                p.sums[l] += cx[i]
                l += l & -l


cdef void list_near(Partners* p, const int64_t[::1] starts, const int64_t[::1] rank, Py_ssize_t size) noexcept nogil:
    """List the partners that are active at the first threshold and not at the second; there is room for one more."""
    cdef Py_ssize_t q, a, k, i, at = 0
    cdef const int32_t* other
    for q in range(starts.shape[0] - 1):
        a = starts[q]
        other = p.rank + a
        for k in range(a, starts[q + 1]):
            if rank[a] > 0:  # else the group has no pairs, and nobody looked for partners
                for i in range(p.worse[k], p.worse[size + k]):
                    p.near[at] = <int32_t> (a + i)
                    at += other[i] < p.rank[k]
                for i in range(p.better[size + k], p.better[k]):
                    p.near[at] = <int32_t> (a + i)
                    at += other[i] > p.rank[k]
            p.ends[k] = at


cdef void gather_near(Partners* p, Py_ssize_t a, Py_ssize_t n, double share) noexcept nogil:
    """Sum the payloads of the partners that were listed."""
    cdef Py_ssize_t k, i
    cdef double value
    for k in range(a, a + n):
        value = 0.0
        for i in range(p.ends[k - 1] if k > 0 else 0, p.ends[k]):
            value += p.cx[p.near[i]]
        p.moment[k] = share * value


cdef inline void gather(Partners* p, Py_ssize_t a, Py_ssize_t n, Py_ssize_t levels, Py_ssize_t size,
                        const double[::1] shares) noexcept nogil:
    if p.near != NULL:
        gather_near(p, a, n, shares[0])
    else:
        gather_moments(p, a, n, levels, size, shares)


cdef void curve(Partners* p, const double* v, double C, const int64_t[::1] starts, const int64_t[::1] rank,
                Py_ssize_t size, const double[::1] shares, double* out) noexcept nogil:
    """Add C L v to out."""
    cdef Py_ssize_t q, a, n, k
    for q in range(starts.shape[0] - 1):
        a = starts[q]
        n = starts[q + 1] - a
        if rank[a] < 1:
            continue
        for k in range(a, a + n):
            p.cx[k] = p.c[k] * v[p.item[k]]
        gather(p, a, n, rank[a] + 1, size, shares)
        for k in range(a, a + n):
            out[p.item[k]] += 2.0 * C * (p.cx[k] * p.total[k] - p.c[k] * p.moment[k])


cdef struct Strips:  # of columns of K, each from the diagonal down
    Py_ssize_t n  # how many; one is the whole array
    Py_ssize_t width
    void** at
    void* across  # sums by column


cdef void multiply(Strips* K, int n, product* x, double* y) noexcept nogil:
    """Write y = K x, from the lower half of K; x is followed by room for as much."""
    cdef char half = b"U"  # BLAS counts by columns
    cdef int one = 1
    cdef Py_ssize_t i, a, width
    cdef product scale = 1.0, zero = 0.0
    if K.n == 1:
        if product is float:
            ssymv(&half, &n, &scale, <float*> K.at[0], &n, x, &one, &zero, x + n, &one)
        else:
            dsymv(&half, &n, &scale, <double*> K.at[0], &n, x, &one, &zero, x + n, &one)
        for i in range(n):
            y[i] = x[n + i]
        return
    memset(y, 0, n * sizeof(double))
    for i in range(K.n):
        a = i * K.width
        width = min(K.width, n - a)
        add_block[product](<const product*> K.at[i], n - a, width, width, a, a, x, y, <product*> K.across, n, False)


cdef inline void gemv(const product* X, int n, int p, const product* x, product* y) noexcept nogil:
    """Write y = X x, by rows of X."""
    cdef char form = b"T"  # BLAS counts by columns
    cdef int one = 1
    cdef product scale = 1.0, zero = 0.0
    if product is float:
        sgemv(&form, &p, &n, &scale, <float*> X, &p, <float*> x, &one, &zero, y, &one)
    else:
        dgemv(&form, &p, &n, &scale, <double*> X, &p, <double*> x, &one, &zero, y, &one)


cdef struct Span:  # of some items: how a preconditioner changes residuals
    int n  # items
    const int64_t* items
    double* inverse  # U^-1 by columns, U'U the items' matrix
    double* change  # of coordinates in an orthonormal basis of the span; symmetric
    double across  # factor of everything else
    double* c  # coordinates, and changed ones


cdef void condition(Span* s, const product* basis, const double* r, double* z, product* rounded,
                    Py_ssize_t n) noexcept nogil:
    """Write z near the solution of (I + C L K) z = r; r and z are followed by their products with K."""
    cdef Py_ssize_t i
    cdef char upper = b"U", transposed = b"T", plain = b"N"
    cdef int one = 1
    cdef double scale = 1.0, zero = 0.0
    cdef double* c = s.c
    cdef double* y = s.c + s.n
    for i in range(2 * n):
        z[i] = s.across * r[i]
    for i in range(s.n):
        c[i] = r[n + s.items[i]]
    dtrmv(&upper, &transposed, &plain, &s.n, s.inverse, &s.n, c, &one)
    dsymv(&upper, &s.n, &scale, s.change, &s.n, c, &one, &zero, y, &one)
    for i in range(s.n):
        rounded[i] = <product> y[i]
    gemv(basis, <int> n, s.n, rounded, rounded + n)
    for i in range(n):
        z[n + i] += rounded[n + i]
    dtrmv(&upper, &plain, &plain, &s.n, s.inverse, &s.n, y, &one)
    for i in range(s.n):
        z[s.items[i]] += y[i]


cdef void lean(Partners* p, Strips* K, double C, const int64_t[::1] starts, const int64_t[::1] rank,
               const double[::1] shares, double[:, :, ::1] known, double* r, double* x, double* t, double* y,
               product* rounded, Py_ssize_t n) noexcept nogil:
    """Move x from zero to the best sum of known vectors, which change: they are made conjugate to each other.

    Each is followed by its product with K, and is left out where those before it sum up to it; t has room for all.
    """
    cdef Py_ssize_t i, j, l
    cdef double square, share
    cdef double* v
    cdef double* w
    memset(y, 0, n * sizeof(double))
    for j in range(known.shape[0]):
        v = &known[j, 0, 0]
        memcpy(t + j * n, v, n * sizeof(double))
        curve(p, v + n, C, starts, rank, n, shares, t + j * n)
        square = dot(v + n, t + j * n, n)
        for l in range(j):
            w = &known[l, 0, 0]
            share = dot(w + n, t + j * n, n)
            for i in range(2 * n):
                v[i] -= share * w[i]
            for i in range(n):
                t[j * n + i] -= share * t[l * n + i]
        share = dot(v + n, t + j * n, n)
        share = 1.0 / sqrt(share) if share > ALIKE * square else 0.0
        for i in range(2 * n):
            v[i] *= share
        for i in range(n):
            t[j * n + i] *= share
        share = dot(r, v + n, n)
        for i in range(2 * n):
            x[i] += share * v[i]
        for i in range(n):
            r[i] -= share * t[j * n + i]
            y[i] += share * t[j * n + i]
    for i in range(n):
        rounded[i] = <product> y[i]
    multiply(K, <int> n, rounded, y)
    for i in range(n):
        r[n + i] -= y[i]


cdef Py_ssize_t descend(Partners* p, Span* span, Strips* K, const product* basis, double C,
                        const int64_t[::1] starts, const int64_t[::1] rank, const double[::1] shares, double* r,
                        double* x, double* d, product* rounded, Py_ssize_t n, double target, double enough,
                        Py_ssize_t most) noexcept nogil:
    """Conjugate gradients in the inner product of K; vectors are followed by their products with K."""
    cdef Py_ssize_t i, k
    cdef double* q = d + 2 * n
    cdef double* z = q + 2 * n
    cdef double* least_x = z + 2 * n  # the mean of all x so far that leaves least, and what it leaves
    cdef double* least_r = least_x + 2 * n
    cdef double rz, before, curvature, step, least, apart
    cdef double[2] sums  # of the residual with itself, and with the least one
    least = dot(r, r + n, n)
    if span.n > 0:
        condition(span, basis, r, d, rounded, n)
        rz = dot(r, d + n, n)
    else:
        memset(d, 0, 2 * n * sizeof(double))
        turn(n, span.across, r, 1.0, d)
        rz = span.across * least
    memcpy(least_x, x, 2 * n * sizeof(double))
    memcpy(least_r, r, 2 * n * sizeof(double))
    for k in range(1, most + 1):
        memcpy(q, d, n * sizeof(double))
        curve(p, d + n, C, starts, rank, n, shares, q)
        for i in range(n):
            rounded[i] = <product> q[i]
        multiply(K, <int> n, rounded, q + n)
        curvature = dot(d, q + n, n)
        if not curvature > 0.0:
            return 0
        advance(n, rz / curvature, d, q, least_r, x, r, sums)
        apart = least - 2.0 * sums[1] + sums[0]
        step = (least - sums[1]) / apart if apart > 0.0 else 1.0
        least = mix(n, step, x, r, least_x, least_r)
        if 0.0 <= least <= enough:
            memcpy(x, least_x, 2 * n * sizeof(double))
            memcpy(r, least_r, 2 * n * sizeof(double))
            return k
        if not sums[0] > target:
            return k
        before = rz
        if span.n > 0:
            condition(span, basis, r, z, rounded, n)
            rz = dot(r, z + n, n)
            turn(n, 1.0, z, rz / before, d)
        else:
            rz = span.across * sums[0]
            turn(n, span.across, r, rz / before, d)
    return 0


def conjugate_gradients(const product[:, ::1] first, list others, double C, const double[::1] u, const int64_t[::1] order,
                        const int64_t[::1] by_u, const int64_t[::1] rank, const int64_t[::1] starts,
                        const double[:] weight, const double[::1] thresholds, const double[::1] shares,
                        const int64_t[::1] items, const double[::1, :] inverse, const double[::1, :] change,
                        const product[:, ::1] basis, double across, double[:, :, ::1] known, double[:, ::1] r,
                        double[:, ::1] x, double share, double enough, Py_ssize_t most):
    """Solve (I + C L K) x = r in the inner product of K, L = sum_m shares[m] Hess phi(thresholds[m]) at u.

    It begins with x = 0, or with the best sum of known vectors, which are changed.

    Of K the lower half is read: the first strip of its columns, from the diagonal down, and the others. Rows of r and
    x: coefficients, and their products with K; r ends as what is left. Ends
    where r'Kr falls to a share of what it was, and returns the number of steps; 0 after `most`. Or where the mean of all x
    that leaves least leaves no more than `enough`: with that.
    The preconditioner changes coordinates in a basis of the span of some items, whose values at all items are given,
    and multiplies by `across` what is across the span; without items it is that factor.
    """
    cdef Py_ssize_t n = u.shape[0], M = thresholds.shape[0], q, a, size, k, m, table = n + 2, steps = 0, n_near = 0
    cdef bint is_zone = M > 1 and shares[0] == -shares[1] and (M == 2 or shares[2] == 0.0)  # all else cancels
    cdef bint has_trees = False
    cdef Partners p
    cdef Span span
    cdef Strips K
    cdef const product[:, ::1] strip
    cdef double shift, target
    cdef double* us
    cdef double* t = NULL
    cdef const product* values = NULL
    cdef product* rounded
    for q in range(starts.shape[0] - 1):
        table = max(table, cells(starts[q + 1] - starts[q], rank[starts[q]] + 1))
    p.c = <double*> malloc((15 * n + 2 + table) * sizeof(double))  # with five vectors, twice as long
    p.rank = <int32_t*> malloc((1 + 2 * M) * n * sizeof(int32_t))
    p.item = <int64_t*> malloc(2 * n * sizeof(int64_t))
    p.near, p.ends = NULL, p.item + n
    rounded = <product*> malloc(2 * n * sizeof(product))
    t = <double*> malloc((known.shape[0] * n + 1) * sizeof(double))
    span.n = <int> items.shape[0]
    span.across = across
    span.c = <double*> malloc((2 * span.n + 1) * sizeof(double))
    K.n, K.width = 1 + len(others), first.shape[1]
    K.at, K.across = <void**> malloc(K.n * sizeof(void*)), malloc(COLUMNS * sizeof(product))
    if p.c == NULL or p.rank == NULL or p.item == NULL or rounded == NULL or t == NULL or span.c == NULL or K.at == NULL or K.across == NULL:
        free(K.at)
        free(K.across)
        free(p.c)
        free(p.rank)
        free(p.item)
        free(rounded)
        free(t)
        free(span.c)
        raise MemoryError
    K.at[0] = <void*> &first[0, 0]
    for k in range(1, K.n):
        strip = others[k - 1]
        K.at[k] = <void*> &strip[0, 0]
    if span.n > 0:
        span.items, span.inverse, span.change = &items[0], <double*> &inverse[0, 0], <double*> &change[0, 0]
        values = &basis[0, 0]
    p.total, p.cx, p.moment, p.under = p.c + n, p.c + 2 * n, p.c + 3 * n, p.c + 14 * n
    p.sums, us = p.c + 15 * n + 2, p.c + 4 * n
    p.worse, p.better = p.rank + n, p.rank + (1 + M) * n
    with nogil:
        for q in range(starts.shape[0] - 1):
            a = starts[q]
            size = starts[q + 1] - a
            shift = u[order[a]]
            for k in range(a, a + size):
                p.item[k] = order[by_u[k]]
                us[k] = u[p.item[k]] - shift
                p.c[k] = p.cx[k] = weight[p.item[k]]
                p.rank[k] = <int32_t> rank[by_u[k]]
            if rank[a] < 1:
                continue
            for m in range(M):
                between(&p, a, size, m * n, us + a, thresholds[m])
            has_trees = has_trees or cells(size, rank[a] + 1) == 0
            for k in range(a, a + size if is_zone else a):
                n_near += p.worse[n + k] - p.worse[k]
        if has_trees and is_zone and n_near <= FEW_NEAR * n:
            p.near = <int32_t*> malloc((2 * n_near + 1) * sizeof(int32_t))
            if p.near != NULL:
                list_near(&p, starts, rank, n)
        for q in range(starts.shape[0] - 1):
            a = starts[q]
            if rank[a] < 1:
                continue
            gather(&p, a, starts[q + 1] - a, rank[a] + 1, n, shares)
            for k in range(a, starts[q + 1]):
                p.total[k] = p.moment[k]
        target = share * dot(&r[0, 0], &r[1, 0], n)
        if known.shape[0] > 0:
            lean(&p, &K, C, starts, rank, shares, known, &r[0, 0], &x[0, 0], t, p.c + 4 * n, rounded, n)
            if fabs(dot(&r[0, 0], &r[1, 0], n)) <= max(target, enough):  # nothing to do, and rounding may be all
                steps = 1
        if steps == 0:
            steps = descend(&p, &span, &K, values, C, starts, rank, shares, &r[0, 0], &x[0, 0], p.c + 4 * n,
                            rounded, n, target, enough, most)
    free(K.at)
    free(K.across)
    free(p.c)
    free(p.rank)
    free(p.near)
    free(p.item)
    free(rounded)
    free(t)
    free(span.c)
    return steps
