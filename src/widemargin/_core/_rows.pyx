# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over explicit rows: one pass gives losses, slopes and curvatures. The NumPy twins are in `_rows_ref.py`.

A slack's loss is max over slopes a >= 0 of a't (hinge: sum a <= 1; squared: less (sum a)^2 / 4), t the shortfalls
of its rows. Its smooth version takes h * sum a^2 off as well (the hinge of one row is shifted by h, which makes it
Huber's), so that

    a_k = (v_k - tau)_+ / 2h,   v = t + h (hinge) or t (squared)

with the level tau at 0 where the slopes fit below it, else where they sum to 1 (hinge) or to 2 tau (squared).
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

cdef extern from "_row_sums.h":
    void along_rows(Py_ssize_t n, const double* t, const double* dz, const double* c, double step, double low,
                    double most, double* sums) noexcept nogil
    void hinge_rows(Py_ssize_t n, const double* t, const double* c, double h, double* slope, double* curvature,
                    double* sums) noexcept nogil
    void square_rows(Py_ssize_t n, const double* t, const double* c, double* slope, double* curvature,
                     double* sums) noexcept nogil
    void split_rows(Py_ssize_t n, const double* t, const double* c, const double* sign, double radius, int64_t* near,
                    double* up, double* down, Py_ssize_t* count) noexcept nogil
    void pull_rows_float(Py_ssize_t n, Py_ssize_t p, const float* X, const double* g, double* out) noexcept nogil
    void pull_rows_double(Py_ssize_t n, Py_ssize_t p, const double* X, const double* g, double* out) noexcept nogil

cdef enum:
    BLOCK = 64  # rows that stay in cache while several sums are made of them

ctypedef fused real:
    float
    double

ctypedef double[::1] Doubles
ctypedef const double[::1] Given


cdef inline double _level(Given v, Py_ssize_t a, Py_ssize_t b, double shift, double h, bint squared,
                          Py_ssize_t* count) noexcept nogil:
    """Return tau of the rows a..b, and how many slopes are positive; rows below a level never return above it."""
    cdef double tau = 0.0, total
    cdef Py_ssize_t k, n = -1, now
    while True:
        total, now = 0.0, 0
        for k in range(a, b):
            if v[k] + shift > tau:  # strict: a row at the level has slope zero
                total += v[k] + shift
                now += 1
        if now == 0 or 0 <= n <= now:  # more than before: by rounding alone, and so without end
            break
        n = now
        if squared:
            tau = total / (n + 4.0 * h)
        elif tau > 0.0 or total > 2.0 * h:
            tau = (total - 2.0 * h) / n
        else:
            break
    count[0] = now
    return tau


def own(Given t, Given weight, double h, bint squared, Doubles slope, Doubles curvature):
    """Fill slopes and curvatures of rows with own slacks; return (smooth loss, exact loss, excess).

    The excess is what the slopes miss of the exact loss: sum of weight * (loss + conjugate - slope * t) >= 0.
    """
    cdef double[3] sums
    with nogil:
        if squared:
            square_rows(t.shape[0], &t[0], &weight[0], &slope[0], &curvature[0], sums)
        else:
            hinge_rows(t.shape[0], &t[0], &weight[0], h, &slope[0], &curvature[0], sums)
    return sums[0], sums[1], sums[2]


def own_along(Given t, Given dz, Given weight, double h, bint squared, double step):
    """Return the first and second derivative in `step` of the smooth loss at t - step * dz."""
    cdef double[2] sums
    cdef double low = 0.0 if squared else -h, most = INFINITY if squared else 2.0 * h
    with nogil:
        along_rows(t.shape[0], &t[0], &dz[0], &weight[0], step, low, most, sums)
    return (2.0 * sums[0], 2.0 * sums[1]) if squared else (sums[0] / most, sums[1] / most)


def shared(Given t, Given weight, const int64_t[::1] start, double h, bint squared,
           Doubles slope, Doubles curvature, Doubles tie):
    """The same where rows start[j]..start[j + 1] share slack j.

    The Hessian of a slack is sum of curvature * d d' - tie * s s' with s the sum of d over rows of positive curvature.
    """
    cdef Py_ssize_t j, k, n = 0
    cdef double smooth = 0.0, exact = 0.0, excess = 0.0
    cdef double c, tau, shift = 0.0 if squared else h, a, total, squares, reached, worst
    with nogil:
        for j in range(weight.shape[0]):
            c = weight[j]
            tau = _level(t, start[j], start[j + 1], shift, h, squared, &n)
            total, squares, reached, worst = 0.0, 0.0, 0.0, 0.0
            for k in range(start[j], start[j + 1]):
                worst = max(worst, t[k])
                a = (t[k] + shift - tau) / (2.0 * h)
                if a <= 0.0:
                    slope[k], curvature[k] = 0.0, 0.0
                    continue
                slope[k], curvature[k] = c * a, c / (2.0 * h)
                total += a
                squares += a * a
                reached += a * t[k]
            tie[j] = 0.0
            if n and squared:
                tie[j] = c / (2.0 * h) / (n + 4.0 * h)
            elif n and tau > 0.0:
                tie[j] = c / (2.0 * h) / n
            if squared:
                exact += c * worst * worst
                excess += c * (worst * worst + 0.25 * total * total - reached)
                smooth += c * (reached - h * squares - 0.25 * total * total)
            else:
                exact += c * worst
                excess += c * (worst - reached)
                smooth += c * (reached + shift * total - h * squares)
    return smooth, exact, excess


def shared_along(Given t, Given dz, Given weight, const int64_t[::1] start, double h, bint squared, double step,
                 Doubles moved):
    """The derivatives along dz where rows share slacks; `moved` is room for t - step * dz."""
    cdef Py_ssize_t j, k, n = 0
    cdef double first = 0.0, second = 0.0, c, tau, shift = 0.0 if squared else h, a, sum_d, sum_dd
    with nogil:
        for k in range(t.shape[0]):
            moved[k] = t[k] - step * dz[k]
        for j in range(weight.shape[0]):
            c = weight[j]
            tau = _level(moved, start[j], start[j + 1], shift, h, squared, &n)
            if n == 0:
                continue
            sum_d = sum_dd = 0.0
            for k in range(start[j], start[j + 1]):
                a = (moved[k] + shift - tau) / (2.0 * h)
                if a > 0.0:
                    first -= c * a * dz[k]
                    sum_d += dz[k]
                    sum_dd += dz[k] * dz[k]
            if squared:
                sum_dd -= sum_d * sum_d / (n + 4.0 * h)
            elif tau > 0.0:
                sum_dd -= sum_d * sum_d / n
            second += c * sum_dd / (2.0 * h)
    return first, second


def split(Given t, Given weight, Given sign, double radius, int64_t[::1] near, Doubles up, Doubles down):
    """List the rows within a radius of their margins, and return how many there are.

    Where a row falls short by more, `up` or `down` gets its weight, by the sign of its level; elsewhere they get 0.
    """
    cdef Py_ssize_t n = 0
    if t.shape[0]:
        with nogil:
            split_rows(t.shape[0], &t[0], &weight[0], &sign[0], radius, &near[0], &up[0], &down[0], &n)
    return n


def pull_each(const real[:, ::1] X, const double[:, ::1] G, double[:, ::1] out):
    """Add G X to out; X is read once."""
    cdef Py_ssize_t a = 0, k, n = X.shape[0], p = X.shape[1], size
    with nogil:
        while a < n and p > 0:
            size = min(<Py_ssize_t>BLOCK, n - a)
            for k in range(G.shape[0]):
                if real is float:
                    pull_rows_float(size, p, &X[a, 0], &G[k, a], &out[k, 0])
                else:
                    pull_rows_double(size, p, &X[a, 0], &G[k, a], &out[k, 0])
            a += size
