# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Passes of the 1-norm interior point, and of its path's leaps, over all pairs. The NumPy twins are in `_pairs_ref.py`.

Node u is compared with the nodes head[u] .. head[u] + reach[u], and its pairs are that many neighbours in every
array: inner loops run over neighbours only. A pair has y, t, xi, room (see `one_norm.pair_barrier`), the inverse
products inv_t = 1 / (t y) and inv_xi = 1 / (xi room), and aims relative to its products: aim_t, aim_xi. So

    rho = t aim_t - xi aim_xi + gap,  dy = W (rho - B ds),  dt / t = aim_t - dy / y,  dxi / xi = aim_xi + dy / room

and nothing is divided but once per point. In the hard problem cap, xi, room, inv_xi and aim_xi are empty, in the soft
one `gap` is.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

cdef extern from *:  # arrays never overlap
    ctypedef double* Out "double *__restrict"
    ctypedef const double* In "const double *__restrict"
    ctypedef int64_t* Indices "int64_t *__restrict"

cdef extern from "_bent_rows.h":
    void bent_rows(Py_ssize_t n, const int64_t* which, const double* bent, Py_ssize_t width, const double* own,
                   const double* rows, double* mine, double* out) noexcept nogil

ctypedef double[::1] Doubles
ctypedef const double[::1] Given
ctypedef const int64_t[::1] Ints

cdef struct Seen:
    double product
    double hinge
    double lowest
    double total


cdef double _restore(Py_ssize_t n, bint soft, double s, In other, In cap, Out y, Out t, Out xi, Out room, Out gap,
                     Out into, Seen* seen) noexcept nogil:
    """Restore the pairs of one node; return the sum of their y."""
    cdef Py_ssize_t k
    cdef double lack, margin, least = seen.lowest, total = 0.0, product = 0.0, hinge = 0.0, larger, smaller
    if not soft:
        for k in range(n):
            margin = s - other[k]
            least = margin if margin < least else least
            gap[k] = (1.0 - margin) + t[k]
            product += t[k] * y[k]
            total += y[k]
            into[k] -= y[k]
    else:
        # of two numbers the smaller is kept and the larger rebuilt by addition
        for k in range(n):
            margin = s - other[k]
            least = margin if margin < least else least
            lack = 1.0 - margin
            hinge += cap[k] * (lack if lack > 0.0 else 0.0)
            larger, smaller = t[k] + lack, xi[k] - lack
            xi[k] = larger if lack >= 0.0 else xi[k]
            t[k] = smaller if lack < 0.0 else t[k]
        for k in range(n):
            larger, smaller = cap[k] - y[k], cap[k] - room[k]
            lack = room[k] - y[k]
            room[k] = larger if lack > 0.0 else room[k]
            y[k] = smaller if lack <= 0.0 else y[k]
            product += xi[k] * room[k] + t[k] * y[k]
            total += y[k]
            into[k] -= y[k]
    seen.lowest = least
    seen.product += product
    seen.hinge += hinge
    seen.total += total
    return total


def restore(Ints head, Ints reach, Given s, Given cap, Doubles y, Doubles t, Doubles xi, Doubles room, Doubles gap,
            Doubles flow):
    """Make t, xi agree with the utilities s, and y with room; add B'y to flow.

    Returns the sum of the products, the hinge, the lowest margin, and the sum of y.
    """
    cdef Py_ssize_t u, e = 0
    cdef bint soft = cap.shape[0] > 0
    cdef Seen seen = Seen(0.0, 0.0, INFINITY, 0.0)
    with nogil:
        for u in range(head.shape[0]):
            flow[u] += _restore(reach[u], soft, s[u], &s[head[u]], &cap[e], &y[e], &t[e], &xi[e], &room[e], &gap[e],
                                &flow[head[u]], &seen)
            e += reach[u]
    return seen.product, seen.hinge, seen.lowest, seen.total


cdef double _weigh(Py_ssize_t n, bint soft, In y, In t, In xi, In room, Out inv_t, Out inv_xi, Out W,
                   Out into) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0.0
    if not soft:
        for k in range(n):
            inv_t[k] = 1.0 / (t[k] * y[k])
            W[k] = y[k] / t[k]
            total += W[k]
            into[k] += W[k]
    else:
        for k in range(n):
            inv_t[k] = 1.0 / (t[k] * y[k])
            inv_xi[k] = 1.0 / (xi[k] * room[k])
            W[k] = 1.0 / (t[k] * t[k] * inv_t[k] + xi[k] * xi[k] * inv_xi[k])
            total += W[k]
            into[k] += W[k]
    return total


def weigh(Ints head, Ints reach, Given y, Given t, Given xi, Given room, Doubles inv_t, Doubles inv_xi, Doubles W,
          Doubles degree):
    """Set W = 1 / (t / y + xi / room) and the inverse products; add the weight at each node to degree."""
    cdef Py_ssize_t u, e = 0
    cdef bint soft = xi.shape[0] > 0
    with nogil:
        for u in range(head.shape[0]):
            degree[u] += _weigh(reach[u], soft, &y[e], &t[e], &xi[e], &room[e], &inv_t[e], &inv_xi[e], &W[e],
                                &degree[head[u]])
            e += reach[u]


cdef double _rho(Py_ssize_t n, bint soft, In t, In xi, In gap, In W, In aim_t, In aim_xi, Out into) noexcept nogil:
    """Subtract W rho from `into` and return its sum."""
    cdef Py_ssize_t k
    cdef double total = 0.0, pull
    if not soft:
        for k in range(n):
            pull = W[k] * (t[k] * aim_t[k] + gap[k])
            total += pull
            into[k] -= pull
    else:
        for k in range(n):
            pull = W[k] * (t[k] * aim_t[k] - xi[k] * aim_xi[k])
            total += pull
            into[k] -= pull
    return total


cdef void _aim(Py_ssize_t n, bint soft, double mu, In y, In room, In inv_t, In inv_xi, In dy, In dt, In dxi,
               Out aim_t, Out aim_xi) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        aim_t[k] = mu * inv_t[k] - 1.0 - dt[k] * dy[k] / y[k]
    if soft:
        for k in range(n):
            aim_xi[k] = mu * inv_xi[k] - 1.0 + dxi[k] * dy[k] / room[k]


def aim(Ints head, Ints reach, double mu, Given y, Given t, Given xi, Given room, Given gap, Given inv_t, Given inv_xi,
        Given W, Given dy, Given dt, Given dxi, Doubles aim_t, Doubles aim_xi, Doubles flow):
    """Aim at products mu, less the second-order error of a direction (none if empty); add B'(W rho) to flow."""
    cdef Py_ssize_t u, k, e = 0
    cdef bint soft = xi.shape[0] > 0, corrected = dy.shape[0] > 0
    with nogil:
        for u in range(head.shape[0]):
            if corrected:
                _aim(reach[u], soft, mu, &y[e], &room[e], &inv_t[e], &inv_xi[e], &dy[e], &dt[e], &dxi[e], &aim_t[e],
                     &aim_xi[e])
            else:
                for k in range(e, e + reach[u]):
                    aim_t[k] = mu * inv_t[k] - 1.0
                    if soft:
                        aim_xi[k] = mu * inv_xi[k] - 1.0
            flow[u] += _rho(reach[u], soft, &t[e], &xi[e], &gap[e], &W[e], &aim_t[e], &aim_xi[e], &flow[head[u]])
            e += reach[u]


cdef inline double _shift(double product, double mu) noexcept nogil:
    """Return what brings a product into [0.1, 10] mu, at most -10 mu where it is far too large."""
    cdef double inside = product if product > 0.1 * mu else 0.1 * mu
    inside = (inside if inside < 10.0 * mu else 10.0 * mu) - product
    return inside if inside > -10.0 * mu else -10.0 * mu


cdef void _recentre(Py_ssize_t n, bint soft, double mu, double primal, double dual, In y, In t, In xi, In room,
                    In inv_t, In inv_xi, In dy, In dt, In dxi, Out aim_t, Out aim_xi) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        aim_t[k] += inv_t[k] * _shift(t[k] * (1.0 + primal * dt[k]) * (y[k] + dual * dy[k]), mu)
    if soft:
        for k in range(n):
            aim_xi[k] += inv_xi[k] * _shift(xi[k] * (1.0 + primal * dxi[k]) * (room[k] - dual * dy[k]), mu)


def recentre(Ints head, Ints reach, double mu, double primal, double dual, Given y, Given t, Given xi, Given room,
             Given gap, Given inv_t, Given inv_xi, Given W, Given dy, Given dt, Given dxi, Doubles aim_t,
             Doubles aim_xi, Doubles flow):
    """Move the aims so that steps this long along a direction land between 0.1 and 10 mu; add B'(W rho) to flow."""
    cdef Py_ssize_t u, e = 0
    cdef bint soft = xi.shape[0] > 0
    with nogil:
        for u in range(head.shape[0]):
            _recentre(reach[u], soft, mu, primal, dual, &y[e], &t[e], &xi[e], &room[e], &inv_t[e], &inv_xi[e], &dy[e],
                      &dt[e], &dxi[e], &aim_t[e], &aim_xi[e])
            flow[u] += _rho(reach[u], soft, &t[e], &xi[e], &gap[e], &W[e], &aim_t[e], &aim_xi[e], &flow[head[u]])
            e += reach[u]


cdef double _respond(Py_ssize_t n, bint soft, bint again, double ds, In other, In t, In xi, In gap, In inv_t,
                     In inv_xi, In W, In aim_t, In aim_xi, Out dy, Out dt, Out dxi, Out into,
                     double* decrease) noexcept nogil:
    """Respond for the pairs of one node; return the sum of dy."""
    cdef Py_ssize_t k
    cdef double total = 0.0, primal = decrease[0], dual = decrease[1], share
    if again:
        for k in range(n):
            dy[k] -= W[k] * (ds - other[k])
    elif soft:
        for k in range(n):
            dy[k] = W[k] * (t[k] * aim_t[k] - xi[k] * aim_xi[k] - (ds - other[k]))
    else:
        for k in range(n):
            dy[k] = W[k] * (t[k] * aim_t[k] + gap[k] - (ds - other[k]))
    for k in range(n):
        total += dy[k]
        into[k] -= dy[k]
        share = dy[k] * t[k] * inv_t[k]
        dt[k] = aim_t[k] - share
        dual = -share if -share > dual else dual
        primal = -dt[k] if -dt[k] > primal else primal
    if soft:
        for k in range(n):
            share = dy[k] * xi[k] * inv_xi[k]
            dxi[k] = aim_xi[k] + share
            dual = share if share > dual else dual
            primal = -dxi[k] if -dxi[k] > primal else primal
    decrease[0], decrease[1] = primal, dual
    return total


def respond(Ints head, Ints reach, bint again, Given ds, Given t, Given xi, Given gap, Given inv_t, Given inv_xi,
            Given W, Given aim_t, Given aim_xi, Doubles dy, Doubles dt, Doubles dxi, Doubles flow):
    """Set dy = W (rho - B ds), or take W B ds away if `again`, and from it dt / t and dxi / xi; add B'dy to flow.

    Returns the steepest relative decrease of a primal and of a dual variable, at least 0.
    """
    cdef Py_ssize_t u, e = 0
    cdef bint soft = xi.shape[0] > 0
    cdef double decrease[2]
    decrease[0], decrease[1] = 0.0, 0.0
    with nogil:
        for u in range(head.shape[0]):
            flow[u] += _respond(reach[u], soft, again, ds[u], &ds[head[u]], &t[e], &xi[e], &gap[e], &inv_t[e],
                                &inv_xi[e], &W[e], &aim_t[e], &aim_xi[e], &dy[e], &dt[e], &dxi[e], &flow[head[u]],
                                decrease)
            e += reach[u]
    return decrease[0], decrease[1]


cdef double _product(Py_ssize_t n, double primal, double dual, In t, In y, In dt, In dy) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(n):
        total += t[k] * (1.0 + primal * dt[k]) * (y[k] + dual * dy[k])
    return total


def product_after(double primal, double dual, Given y, Given t, Given xi, Given room, Given dy, Given dt, Given dxi):
    """Return the sum of the products after steps of these lengths."""
    cdef double total
    with nogil:
        total = _product(y.shape[0], primal, dual, &t[0], &y[0], &dt[0], &dy[0])
        total += _product(xi.shape[0], primal, -dual, &xi[0], &room[0], &dxi[0], &dy[0])
    return total


cdef void _step(Py_ssize_t n, double primal, double dual, Out t, Out y, In dt, In dy) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        t[k] += primal * dt[k] * t[k]
        y[k] += dual * dy[k]


def step(double primal, double dual, Doubles y, Doubles t, Doubles xi, Doubles room, Given dy, Given dt, Given dxi):
    """Move the variables."""
    with nogil:
        _step(y.shape[0], primal, dual, &t[0], &y[0], &dt[0], &dy[0])
        _step(xi.shape[0], primal, -dual, &xi[0], &room[0], &dxi[0], &dy[0])


cdef double _hinge(Py_ssize_t n, bint soft, double s, In other, In cap, double* lowest) noexcept nogil:
    cdef Py_ssize_t k
    cdef double margin, least = lowest[0], total = 0.0
    for k in range(n):
        margin = s - other[k]
        least = margin if margin < least else least
    lowest[0] = least
    if soft:
        for k in range(n):
            margin = 1.0 - (s - other[k])
            total += cap[k] * (margin if margin > 0.0 else 0.0)
    return total


def hinge(Ints head, Ints reach, Given s, Given cap):
    """Return the sum of cap * max(0, 1 - margin), and the lowest margin."""
    cdef Py_ssize_t u, e = 0
    cdef bint soft = cap.shape[0] > 0
    cdef double total = 0.0, lowest = INFINITY
    with nogil:
        for u in range(head.shape[0]):
            total += _hinge(reach[u], soft, s[u], &s[head[u]], &cap[e], &lowest)
            e += reach[u]
    return total, lowest


def conductances(Ints reach, Py_ssize_t first, Py_ssize_t e, Given W, double sign, double[::1, :] out):
    """Fill the lower triangle of `out` with sign * W for the nodes from `first`, whose pairs begin at e; ties get 0."""
    cdef Py_ssize_t j, k, n = out.shape[0], tied
    with nogil:
        for j in range(n):
            tied = n - reach[first + j]
            for k in range(j, tied):
                out[k, j] = 0.0
            for k in range(tied, n):
                out[k, j] = sign * W[e + k - tied]
            e += reach[first + j]


cdef double _soft_hinge(Py_ssize_t n, double h, double s, In other, In weight, Out into) noexcept nogil:
    cdef Py_ssize_t k
    cdef double share, total = 0.0, scale = 0.5 / h
    for k in range(n):
        share = (1.0 - (s - other[k]) + h) * scale
        share = share if share > 0.0 else 0.0
        share = share if share < 1.0 else 1.0
        share *= weight[k]
        total += share
        into[k] -= share
    return total


def soft_hinge(Ints head, Ints reach, Given s, Given weight, double h, Doubles flow):
    """Add B'y to flow, y the slopes of weighted hinges that bend within h of the margin 1."""
    cdef Py_ssize_t u, e = 0
    with nogil:
        for u in range(head.shape[0]):
            flow[u] += _soft_hinge(reach[u], h, s[u], &s[head[u]], &weight[e], &flow[head[u]])
            e += reach[u]


cdef Py_ssize_t _bent(Py_ssize_t n, Py_ssize_t first, double h, double s, In other, In weight, Indices which,
                      Out bent) noexcept nogil:
    """List the neighbours that are within h of a margin of 1, and how much these hinges bend; return their number."""
    cdef Py_ssize_t k, n_bent = 0
    cdef double lack, scale = 0.5 / h
    for k in range(n):
        lack = 1.0 - (s - other[k])
        which[n_bent], bent[n_bent] = first + k, weight[k] * scale
        n_bent += (lack < h) & (lack > -h)
    return n_bent


def bend(Ints head, Ints reach, Given s, Given weight, double h, const double[:, ::1] K, double[:, ::1] out):
    """Set `out` to the product of K with the Hessian of the soft hinges, a Laplacian of few pairs."""
    cdef Py_ssize_t u, n, e = 0, width = K.shape[1]
    cdef int64_t[::1] which = np.empty(s.shape[0] + 1, dtype=np.int64)
    cdef double[::1] bent = np.empty(s.shape[0] + 1)
    with nogil:
        out[:] = 0.0
        for u in range(head.shape[0]):
            n = _bent(reach[u], head[u], h, s[u], &s[head[u]], &weight[e], &which[0], &bent[0])
            bent_rows(n, &which[0], &bent[0], width, &K[u, 0], &K[0, 0], &out[u, 0], &out[0, 0])
            e += reach[u]
