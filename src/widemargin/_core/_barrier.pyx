# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Passes of an interior point over pairs of items that are nowhere written out. The NumPy twins are in `_barrier_ref.py`.

Item u is preferred to the items first[u] .. last[u], whose pairs are that many neighbours in y and t. With d the
surplus s_u - s_v - 1 of a pair and c the product of its items' weights,

    t > 0 is the barrier's surplus, xi = t - d > 0 its slack, 0 < y < c its multiplier, r = c - y its room.

Newton's method for t y = mu c, xi r = mu c (weight 2 is a pair twice) weighs a pair by W = 1 / (t / y + xi / r), and
moves it, B ds being the difference of the utilities' directions, by dy = W (rho - B ds). The predictor has rho = -d;
the corrector aims at mu c less what the predictor misses in second order. A squared slack is y / 2c at the solution, and
has no variable: W = 1 / (t / y + 1 / 2c), and d + y / 2c takes the place of d. What a pass needs of an earlier one it
computes again from the utilities' directions: only y and t are kept, and the arithmetic is quicker than memory.
"""

from libc.stdint cimport int64_t

cdef extern from "_barrier.h":
    ctypedef struct Partners:
        Py_ssize_t n
        double s, w
        const double* others
        const double* weights
        double* y
        double* t
        int squared
    ctypedef struct Aims:
        double first, second, mu
        const double* firsts
        const double* seconds
    void barrier_short(int squared, double s, double w, const double* others, const double* weights, Py_ssize_t n,
                       double* sum) noexcept nogil
    void barrier_centre(Partners* of, double mu) noexcept nogil
    void barrier_look(Partners* of, double* column, double* pull, double* right, double* degree,
                      double* sums) noexcept nogil
    void barrier_predict(Partners* of, Aims* aim, double* sums) noexcept nogil
    void barrier_correct(Partners* of, Aims* aim, double* right, double* sums) noexcept nogil
    void barrier_respond(Partners* of, Aims* aim, const double* lengths, double most, double* flow,
                         double* sums) noexcept nogil
    void barrier_step(Partners* of, Aims* aim, double length, double most, double s,
                      const double* others) noexcept nogil

cdef enum:
    N_LENGTHS = 3

ctypedef double[::1] Doubles
ctypedef const double[::1] Given
ctypedef const int64_t[::1] Ints


cdef inline Partners _partners(Ints first, Ints last, Given s, Given w, Doubles y, Doubles t, bint squared, Py_ssize_t u,
                               Py_ssize_t e) noexcept nogil:
    return Partners(last[u] - first[u], s[u], w[u], &s[first[u]], &w[first[u]], &y[e], &t[e], squared)


cdef inline Aims _aims(Ints first, Given ds, Given ds2, double mu, Py_ssize_t u) noexcept nogil:
    return Aims(ds[u], ds2[u], mu, &ds[first[u]], &ds2[first[u]])


def fill(Ints first, Ints last, Given w, double share, Doubles y):
    """Set y to a share of its bounds."""
    cdef Py_ssize_t u, k, e = 0
    with nogil:
        for u in range(w.shape[0]):
            for k in range(first[u], last[u]):
                y[e] = share * w[u] * w[k]
                e += 1


def short(Ints first, Ints last, Given s, Given w, bint squared):
    """Return the losses of all pairs, added up one by one: none is lost beside larger ones that cancel."""
    cdef Py_ssize_t u
    cdef double total = 0
    with nogil:
        for u in range(s.shape[0]):
            if last[u] > first[u]:
                barrier_short(squared, s[u], w[u], &s[first[u]], &w[first[u]], last[u] - first[u], &total)
    return total


def centre(Ints first, Ints last, Given s, Given w, double mu, Doubles y, Doubles t, bint squared):
    """Set y and t so that all products are mu times their bounds c."""
    cdef Py_ssize_t u, e = 0
    cdef Partners of
    with nogil:
        for u in range(s.shape[0]):
            if last[u] > first[u]:
                of = _partners(first, last, s, w, y, t, squared, u, e)
                barrier_centre(&of, mu)
                e += of.n


def look(Ints first, Ints last, Given s, Given w, Doubles y, Doubles t, bint squared, double[::1, :] matrix,
         Doubles pull, Doubles right, Doubles degree):
    """Add B'WB to the lower half of matrix, B'y to pull, B'(W rho) to right, and the weight at each item to degree.

    Returns the sum of the products, and what the multipliers give the dual value: their sum, or that of y - y^2 / 4c.
    """
    cdef Py_ssize_t u, e = 0, n = s.shape[0]
    cdef double sums[5]
    cdef Partners of
    sums[3] = sums[4] = 0.0
    with nogil:
        for u in range(n):
            if last[u] > first[u]:
                of = _partners(first, last, s, w, y, t, squared, u, e)
                barrier_look(&of, &matrix[first[u], u], &pull[first[u]], &right[first[u]], &degree[first[u]], sums)
                pull[u] += sums[0]
                degree[u] += sums[1]
                right[u] -= sums[2]
                e += of.n
        for u in range(n):
            matrix[u, u] += degree[u]
    return sums[3], sums[4]


def predict(Ints first, Ints last, Given s, Given w, Doubles y, Doubles t, bint squared, Given ds):
    """Return the steepest relative decrease of a variable along the predictor, at least 1, and the moves' own products."""
    cdef Py_ssize_t u, e = 0
    cdef double sums[2]
    cdef Partners of
    cdef Aims aim
    sums[0], sums[1] = 1.0, 0.0
    with nogil:
        for u in range(s.shape[0]):
            if last[u] > first[u]:
                of, aim = _partners(first, last, s, w, y, t, squared, u, e), _aims(first, ds, ds, 0.0, u)
                barrier_predict(&of, &aim, sums)
                e += of.n
    return sums[0], sums[1]


def correct(Ints first, Ints last, Given s, Given w, Doubles y, Doubles t, bint squared, Given ds, double mu,
            Doubles right):
    """Add B'(W rho) of the corrector, which aims at products mu c after the predictor ds, to right."""
    cdef Py_ssize_t u, e = 0
    cdef double sums[1]
    cdef Partners of
    cdef Aims aim
    with nogil:
        for u in range(s.shape[0]):
            if last[u] > first[u]:
                of, aim = _partners(first, last, s, w, y, t, squared, u, e), _aims(first, ds, ds, mu, u)
                barrier_correct(&of, &aim, &right[first[u]], sums)
                right[u] += sums[0]
                e += of.n


def respond(Ints first, Ints last, Given s, Given w, Doubles y, Doubles t, bint squared, Given ds, double mu, Given ds2,
            Doubles flow, Given lengths, double most, double[:, ::1] tried):
    """Add B'dy of the corrected direction ds2 to flow; return the steepest relative decrease of a variable, and |dy|.

    For each of three lengths of a step, none of the variables moved by more than `most` of its way: what multipliers do
    not move for it, in all, and the products after it, to the rows of `tried`.
    """
    cdef Py_ssize_t u, k, e = 0
    cdef double sums[3 + 2 * N_LENGTHS]
    cdef Partners of
    cdef Aims aim
    if lengths.shape[0] != N_LENGTHS or tried.shape[0] != 2 or tried.shape[1] != N_LENGTHS:
        raise ValueError("three lengths are expected")
    for k in range(3 + 2 * N_LENGTHS):
        sums[k] = 0.0
    with nogil:
        for u in range(s.shape[0]):
            if last[u] > first[u]:
                of, aim = _partners(first, last, s, w, y, t, squared, u, e), _aims(first, ds, ds2, mu, u)
                barrier_respond(&of, &aim, &lengths[0], most, &flow[first[u]], sums)
                flow[u] += sums[1]
                e += of.n
        for k in range(2 * N_LENGTHS):
            tried[k // N_LENGTHS, k % N_LENGTHS] = sums[3 + k]
    return sums[0], sums[2]


def step(Ints first, Ints last, Given s, Given w, Doubles y, Doubles t, bint squared, Given ds, double mu, Given ds2,
         double length, double most, Given moved):
    """Move y and t by a share of the corrected direction, to where the utilities are `moved`.

    No variable goes by more than `most` of its way to zero, or to its bound.
    """
    cdef Py_ssize_t u, e = 0
    cdef Partners of
    cdef Aims aim
    with nogil:
        for u in range(s.shape[0]):
            if last[u] > first[u]:
                of, aim = _partners(first, last, s, w, y, t, squared, u, e), _aims(first, ds, ds2, mu, u)
                barrier_step(&of, &aim, length, most, moved[u], &moved[first[u]])
                e += of.n
