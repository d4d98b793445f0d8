# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Pivots of the 1-norm machine's walk along vertices, on a tableau. Their NumPy twin is `_walk_ref.py`.

A column is a vector, K_i (`columns` i, `minus` the column of zeros at the end), or the difference K_i - K_j over a pair.
At a vertex k coefficients, with `signs`, are not zero and k pairs (`rows`) are held at their goals. Kept
are inverse = (B_T K_S)^-1 and the tableau B_T K expressed in it, tableau = inverse B_T K: every exchange of a row or a
column changes both by one outer product. A tableau knows the direction of every way down, hence its length: the
steepest per length is taken, which needs a third of the pivots that the steepest slope needs.

Only pairs whose margin can meet its goal are looked at: nodes are kept sorted by their utilities, and a pair that is
held or met has its nodes about 1 apart.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int8_t, int64_t

from scipy.linalg.cython_blas cimport daxpy, dgemv, dger

import numpy as np

cdef extern from *:  # arrays never overlap
    ctypedef double* Out "double *restrict"
    ctypedef const double* In "const double *restrict"

cdef enum Step:
    DOWN, DONE, LOST

cdef double SLACK = 1e-9  # by which a multiplier or a gain may leave its bounds
cdef double FLAT = 1e-11  # a margin that moves by less, relatively, does not move
cdef double SPREAD = 1e-5  # by which goals may differ from 1


cdef void _weigh(Py_ssize_t n, double w, In t, Out gain, Out length) noexcept nogil:
    """Add w t to the gains and t^2 to the squared lengths."""
    cdef Py_ssize_t j
    for j in range(n):
        gain[j] += w * t[j]
        length[j] += t[j] * t[j]


cdef void _sort(Py_ssize_t n, int64_t* order, In s) noexcept nogil:
    """Sort nodes by their utilities, by insertion: from pivot to pivot few change places."""
    cdef Py_ssize_t i, k
    cdef int64_t v
    for i in range(1, n):
        v, k = order[i], i
        while k > 0 and s[order[k - 1]] > s[v]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = v


cdef Py_ssize_t _met(Py_ssize_t n_nodes, double until, double flat, double width, const int64_t* order,
                     const int64_t* head, const int64_t* reach, const int64_t* first, const int8_t* sides, In goal,
                     In s, In ds, int64_t* found) noexcept nogil:
    """List the pairs of sorted nodes whose margins meet their goals within a step; return their number.

    Margins change by at most `width`, and goals are about 1: only nodes that far behind need be looked at.
    """
    cdef Py_ssize_t i, p, v, k, e, lo = 0, hi = 0, n = 0
    cdef double rate, left
    for i in range(n_nodes):
        v = order[i]
        while lo < n_nodes and s[order[lo]] <= s[v] - 1.0 - width:
            lo += 1
        while hi < n_nodes and s[order[hi]] < s[v] - 1.0 + width:
            hi += 1
        for p in range(lo, hi):
            k = order[p] - head[v]
            if k >= 0 and k < reach[v]:
                e = first[v] + k
                rate = sides[e] * (ds[v] - ds[order[p]])
                left = sides[e] * (goal[e] - (s[v] - s[order[p]]))
                found[n] = e
                n += (rate > flat) & (left < until * rate)  # no branch: half of all pairs move away from their goals
    return n


cdef class Walk:
    """A vertex, the tableau that belongs to it, and room for a pivot; arrays are shared with the caller."""

    cdef public Py_ssize_t k, n_pivots
    cdef public double reach
    cdef readonly object columns, minus, rows, signs, coefficients, inverse, tableau, side, s, pull, gain_of_pull
    cdef bint positive, over_pairs
    cdef Py_ssize_t m, n, room, n_kinks, plus_in, minus_in  # n: with the zeros; the column that comes
    cdef double rise
    cdef const double[:, ::1] K  # (nodes, columns)
    cdef const double[::1, :] KT
    cdef const int64_t[::1] head, away, first, better, worse, block
    cdef const double[::1] weight, goal
    cdef int64_t[::1] col, less, row, slot, order, kink, first_of, second_of, low, high
    cdef double[::1] sign, a, u, q, pulled, at, h, gain, length, slope, toward, y, w, d, ds, b, shift
    cdef double[:, ::1] inv, tab
    cdef int8_t[::1] sides

    def __init__(self, K, blocks, head, reach, better, worse, weight, goal, bint positive, bint over_pairs):
        K = np.hstack([K, np.zeros((len(K), 1))])
        self.m, self.n = K.shape
        self.room = min(self.m, self.n) + 1
        self.over_pairs = over_pairs
        self.K, self.KT = np.ascontiguousarray(K), np.asfortranarray(K)
        self.head, self.away, self.first, self.block = head, reach, np.cumsum(reach) - reach, blocks
        self.better, self.worse = better, worse
        self.weight, self.goal, self.positive = weight, goal, positive
        n_pairs = better.size
        self.columns, self.rows = np.zeros(self.room, dtype=np.int64), np.zeros(self.room, dtype=np.int64)
        self.minus = np.zeros(self.room, dtype=np.int64)
        self.signs, self.coefficients = np.zeros(self.room), np.zeros(self.room)
        self.inverse, self.tableau = np.zeros((self.room, self.room)), np.empty((self.room, self.n))
        self.side = np.ones(n_pairs, dtype=np.int8)
        self.s, self.pull, self.gain_of_pull = np.zeros(self.m), np.zeros(self.m), np.zeros(self.n)
        self.col, self.row, self.sign, self.a = self.columns, self.rows, self.signs, self.coefficients
        self.less = self.minus
        self.inv, self.tab, self.sides, self.u = self.inverse, self.tableau, self.side, self.s
        self.pulled, self.q = self.pull, self.gain_of_pull
        self.slot = np.full(self.n, -1, dtype=np.int64)
        self.order, self.kink = np.arange(self.m), np.empty(n_pairs + self.room, dtype=np.int64)
        self.at = np.empty(n_pairs + self.room)
        self.h, self.gain, self.length = np.empty(self.n), np.empty(self.n), np.empty(max(self.n, 2 * self.m))
        self.y, self.w, self.d = np.empty(self.room), np.empty(self.room), np.empty(self.room)
        self.ds, self.shift, self.b = np.empty(self.m), np.zeros(self.m), np.zeros(self.n)
        self.slope, self.toward = np.empty(2 * self.m), np.empty(2 * self.m)
        self.first_of, self.second_of = np.empty(2 * self.m, dtype=np.int64), np.empty(2 * self.m, dtype=np.int64)
        self.low, self.high = np.empty(self.m, dtype=np.int64), np.empty(self.m, dtype=np.int64)
        self.reach = 0.1

    def walk(self, double C, Py_ssize_t limit):
        """Take at most `limit` pivots; return True at the optimal vertex, None where digits are lost, else False."""
        cdef Step step = DOWN
        cdef Py_ssize_t i
        with nogil:
            for i in range(limit + 1):
                step = self._pivot(C, i < limit)
                if step != DOWN:
                    break
        return True if step == DONE else None if step == LOST else False

    def prices(self, double C):
        """Return the multipliers of the held pairs and the gain K'B'y of every vector."""
        self._price(C)
        return np.array(self.y[: self.k]), np.array(self.gain[: self.n - 1])

    cdef Step _pivot(self, double C, bint allowed) noexcept nogil:
        """Go down the steepest edge to its lowest point and exchange there."""
        cdef Py_ssize_t edge, last
        cdef double slope = 0.0, toward = 1.0
        self._price(C)
        edge = self._way_down(C, &slope, &toward)  # a column j, or -1 - the held pair that is let go
        if slope <= 0.0:
            return DONE
        if not allowed:
            return DOWN
        self._aim(edge, toward)
        last = self._lowest(edge, slope, C)  # a pair, or -1 - the coefficient that is met at zero
        if last == self.kink.shape[0]:
            return LOST
        self.n_pivots += 1
        if edge < 0:  # let go upwards: nothing to pay; downwards: at its cap
            self._set_side(self.row[-1 - edge], -1 if toward > 0.0 else 1)
        if last >= 0:
            self._set_side(last, 0)
        self._pull()
        return self._exchange(edge, last, toward)

    cdef void _price(self, double C) noexcept nogil:
        """Set y, the gains, and the squared length of the way that each column opens."""
        cdef Py_ssize_t i, j
        cdef int k = self.k, room = self.room, one = 1
        cdef double zero = 0.0, unit = 1.0, wi
        for j in range(self.n):
            self.gain[j] = C * self.q[j]
            self.length[j] = 1.0
        for i in range(k):
            self.w[i] = wi = self.sign[i] - C * (self.q[self.col[i]] - self.q[self.less[i]])
            _weigh(self.n, wi, &self.tab[i, 0], &self.gain[0], &self.length[0])
        if k:
            dgemv(b"N", &k, &k, &unit, &self.inv[0, 0], &room, &self.w[0], &one, &zero, &self.y[0], &one)

    cdef Py_ssize_t _way_down(self, double C, double* slope, double* toward) noexcept nogil:
        """Return the edge that is steepest per length, with its slope and its sign."""
        cdef Py_ssize_t i, j, best
        cdef double steepest = 0.0, over, cap
        best = self._best_pair(&steepest) if self.over_pairs else self._best_column(&steepest)
        if steepest > 0.0:
            slope[0], toward[0] = self.slope[best], self.toward[best]
            self.plus_in, self.minus_in = self.first_of[best], self.second_of[best]
            best = self.plus_in
        for j in range(self.k):
            self.length[j] = 0.0
        for i in range(self.k):  # lengths of the held pairs' directions: columns of the inverse
            _weigh(self.k, 0.0, &self.inv[i, 0], &self.h[0], &self.length[0])
        for i in range(self.k):
            cap = C * self.weight[self.row[i]]
            over = -self.y[i] if self.y[i] < 0.0 else self.y[i] - cap
            if over > SLACK * cap and over * over > steepest * self.length[i]:
                steepest = over * over / self.length[i]
                best, slope[0], toward[0] = -1 - i, over, 1.0 if self.y[i] < 0.0 else -1.0
        return best

    cdef Py_ssize_t _best_column(self, double* steepest) noexcept nogil:
        """Set candidate 0 to the column that is steepest per length."""
        cdef Py_ssize_t j
        cdef double over
        for j in range(self.n - 1):
            over = (self.gain[j] if self.positive else fabs(self.gain[j])) - 1.0
            if over > SLACK and self.slot[j] < 0 and over * over > steepest[0] * self.length[j]:
                steepest[0] = over * over / self.length[j]
                self.slope[0], self.toward[0] = over, 1.0 if self.gain[j] > 0.0 else -1.0
                self.first_of[0], self.second_of[0] = j, self.n - 1
        return 0

    cdef Py_ssize_t _best_pair(self, double* steepest) noexcept nogil:
        """Return, of the best partners of every node, the pair that is steepest per length."""
        cdef Py_ssize_t q, v, i, c, n = 0, best = 0
        cdef double along
        cdef double* t
        for q in range(self.block.shape[0] - 1):
            for v in range(self.block[q + 1] - 1, self.block[q] - 1, -1):  # a node's partners are the last of its query
                self.low[v] = self.high[v] = v
                if v + 1 < self.block[q + 1]:
                    if self.gain[self.low[v + 1]] < self.gain[v]:
                        self.low[v] = self.low[v + 1]
                    if self.gain[self.high[v + 1]] > self.gain[v]:
                        self.high[v] = self.high[v + 1]
                if self.away[v] > 0:
                    n = self._suggest(n, v, self.low[self.head[v]], 1.0)
                    if not self.positive:
                        n = self._suggest(n, v, self.high[self.head[v]], -1.0)
        for c in range(n):
            self.length[c] = 1.0
        for i in range(self.k):
            t = &self.tab[i, 0]
            for c in range(n):
                along = t[self.first_of[c]] - t[self.second_of[c]]
                self.length[c] += along * along
        for c in range(n):
            if self.slope[c] * self.slope[c] > steepest[0] * self.length[c]:
                steepest[0], best = self.slope[c] * self.slope[c] / self.length[c], c
        return best

    cdef Py_ssize_t _suggest(self, Py_ssize_t n, Py_ssize_t v, Py_ssize_t w, double toward) noexcept nogil:
        """Add a pair to the n candidates if it is worth more than its cost; return their number."""
        cdef Py_ssize_t i
        cdef double over = toward * (self.gain[v] - self.gain[w]) - 1.0
        if not over > SLACK:
            return n
        if over < 1e3 * SLACK:  # rounding, where the pair is in use
            for i in range(self.k):
                if self.col[i] == v and self.less[i] == w:
                    return n
        self.first_of[n], self.second_of[n], self.slope[n], self.toward[n] = v, w, over, toward
        return n + 1

    cdef void _aim(self, Py_ssize_t edge, double toward) noexcept nogil:
        """Set the direction of the coefficients and of the utilities along an edge."""
        cdef Py_ssize_t i, j, v
        cdef int m = self.m, one = 1
        for i in range(self.k):
            self.d[i] = toward * (-self._entry(i) if edge >= 0 else self.inv[i, -1 - edge])
            self.b[self.col[i]] += self.d[i]
            self.b[self.less[i]] -= self.d[i]
        if edge >= 0:
            self.b[self.plus_in] += toward
            self.b[self.minus_in] -= toward
        self.b[self.n - 1] = 0.0
        for v in range(self.m):
            self.ds[v] = 0.0
        for j in range(self.n - 1):
            if self.b[j] != 0.0:
                daxpy(&m, &self.b[j], <double*>&self.KT[0, j], &one, &self.ds[0], &one)
                self.b[j] = 0.0

    cdef inline double _entry(self, Py_ssize_t i) noexcept nogil:
        """Return row i of the tableau at the column that comes."""
        return self.tab[i, self.plus_in] - self.tab[i, self.minus_in]

    cdef Py_ssize_t _lowest(self, Py_ssize_t edge, double slope, double C) noexcept nogil:
        """Go to the lowest point, changing sides and signs on the way; return what is met there."""
        cdef Py_ssize_t i, v, met, n_passed = 0
        cdef double largest = 0.0, low = INFINITY, high = -INFINITY, unit, limit, step, rate, risen = 0.0
        for i in range(self.k):
            largest = max(largest, fabs(self.d[i]))
        for v in range(self.m):
            low, high = min(low, self.ds[v]), max(high, self.ds[v])
        unit = max(fabs(low), fabs(high))
        for i in range(self.block.shape[0] - 1):
            _sort(self.block[i + 1] - self.block[i], &self.order[self.block[i]], &self.u[0])
        limit = self.reach
        while True:
            self._look(limit / unit, high - low, FLAT * unit, C)
            self._zeros(limit / unit, 1e-12 * max(1.0, largest))
            if self.rise >= slope:
                break
            if not limit < 1e12:
                return self.kink.shape[0]  # the objective cannot fall for ever: these are no digits
            limit *= 4.0
        self._heapify()
        while True:
            met, step = self.kink[0], self.at[0]
            risen += self._rate(met, C)
            if risen >= slope or self.n_kinks == 1:
                break
            self._pass(met)
            self._pop()
        self.reach = max(step * unit, 0.5 * self.reach, 1e-9)
        for v in range(self.m):
            self.u[v] += step * self.ds[v]
        for i in range(self.k):
            self.a[i] += step * self.d[i]
        self.w[0] = step
        return met

    cdef void _look(self, double until, double span, double flat, double C) noexcept nogil:
        """Find the pairs whose margin meets its goal within a step; sum up by how much they raise the slope."""
        cdef Py_ssize_t e, i, q, lo
        cdef double rate, left
        self.n_kinks = 0
        for q in range(self.block.shape[0] - 1):
            lo = self.block[q]
            self.n_kinks += _met(self.block[q + 1] - lo, until, flat, until * span + SPREAD, &self.order[lo],
                                 &self.head[0], &self.away[0], &self.first[0], &self.sides[0], &self.goal[0],
                                 &self.u[0], &self.ds[0], &self.kink[self.n_kinks])
        self.rise = 0.0
        for i in range(self.n_kinks):
            e = self.kink[i]
            rate = self.sides[e] * (self.ds[self.better[e]] - self.ds[self.worse[e]])
            left = self.sides[e] * (self.goal[e] - (self.u[self.better[e]] - self.u[self.worse[e]]))
            self.at[i] = left / rate if left > 0.0 else 0.0
            self.rise += C * self.weight[e] * rate

    cdef void _zeros(self, double until, double flat) noexcept nogil:
        """Find the coefficients that reach zero, as -1 - i."""
        cdef Py_ssize_t i
        for i in range(self.k):
            if self.sign[i] * self.d[i] < -flat and fabs(self.a[i]) < until * fabs(self.d[i]):
                self.kink[self.n_kinks] = -1 - i
                self.at[self.n_kinks] = fabs(self.a[i] / self.d[i])
                self.rise += INFINITY if self.positive else 2.0 * fabs(self.d[i])
                self.n_kinks += 1

    cdef double _rate(self, Py_ssize_t met, double C) noexcept nogil:
        """Return by how much the slope rises at a kink."""
        if met < 0:
            return INFINITY if self.positive else 2.0 * fabs(self.d[-1 - met])
        return C * self.weight[met] * fabs(self.ds[self.better[met]] - self.ds[self.worse[met]])

    cdef void _pass(self, Py_ssize_t met) noexcept nogil:
        """Change the side of a pair or the sign of a coefficient."""
        if met < 0:
            self.sign[-1 - met] *= -1.0
        else:
            self._set_side(met, -self.sides[met])

    cdef void _set_side(self, Py_ssize_t e, int side) noexcept nogil:
        cdef double change = ((side == 1) - (self.sides[e] == 1)) * self.weight[e]
        self.shift[self.better[e]] += change
        self.shift[self.worse[e]] -= change
        self.sides[e] = side

    cdef void _pull(self) noexcept nogil:
        """Let the pull of the violated pairs and its gain follow the changes of sides."""
        cdef Py_ssize_t v
        cdef int n = self.n, one = 1
        for v in range(self.m):
            if self.shift[v] != 0.0:
                self.pulled[v] += self.shift[v]
                daxpy(&n, &self.shift[v], <double*>&self.K[v, 0], &one, &self.q[0], &one)
                self.shift[v] = 0.0

    cdef void _heapify(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_kinks // 2 - 1, -1, -1):
            self._sink(i)

    cdef void _pop(self) noexcept nogil:
        self.n_kinks -= 1
        self.kink[0], self.at[0] = self.kink[self.n_kinks], self.at[self.n_kinks]
        self._sink(0)

    cdef void _sink(self, Py_ssize_t i) noexcept nogil:
        """Restore the order of the heap of kinks, the nearest on top, below i."""
        cdef Py_ssize_t child = 2 * i + 1, what = self.kink[i]
        cdef double when = self.at[i]
        while child < self.n_kinks:
            if child + 1 < self.n_kinks and self.at[child + 1] < self.at[child]:
                child += 1
            if not self.at[child] < when:
                break
            self.kink[i], self.at[i] = self.kink[child], self.at[child]
            i, child = child, 2 * child + 1
        self.kink[i], self.at[i] = what, when

    cdef Step _exchange(self, Py_ssize_t edge, Py_ssize_t last, double toward) noexcept nogil:
        """Let a column or a free pair in, and what was met at zero or at its goal out or in."""
        cdef double step = self.w[0], pivot
        if edge < 0 and last < 0:
            pivot = self._release(-1 - edge, -1 - last)
        elif edge < 0:
            pivot = self._hold(last, -1 - edge)
        elif last < 0:
            pivot = self._replace(-1 - last, toward, toward * step)
        else:
            # more rows than the pairs' rank: these are no digits
            pivot = self._grow(last, toward, toward * step) if self.k + 1 < self.room else 0.0
        return DOWN if fabs(pivot) > 1e-13 and fabs(pivot) < INFINITY else LOST

    cdef void _add_outer(self, double scale, double[::1] x, double[::1] along, double[::1] beside) noexcept nogil:
        """Add scale x along' to the tableau and scale x beside' to the inverse."""
        cdef int k = self.k, n = self.n, room = self.room, one = 1
        dger(&n, &k, &scale, &along[0], &one, &x[0], &one, &self.tab[0, 0], &n)
        dger(&k, &k, &scale, &beside[0], &one, &x[0], &one, &self.inv[0, 0], &room)

    cdef void _expand(self, Py_ssize_t e) noexcept nogil:
        """Set h to a pair's row of B K, less what the held pairs make of it, and y to their shares."""
        cdef Py_ssize_t i, j
        cdef int k = self.k, n = self.n, room = self.room, one = 1
        cdef double unit = 1.0, minus = -1.0, zero = 0.0
        for j in range(self.n):
            self.h[j] = self.K[self.better[e], j] - self.K[self.worse[e], j]
        if k:
            for i in range(k):
                self.w[i] = self.h[self.col[i]] - self.h[self.less[i]]
            dgemv(b"N", &n, &k, &minus, &self.tab[0, 0], &n, &self.w[0], &one, &unit, &self.h[0], &one)
            dgemv(b"N", &k, &k, &unit, &self.inv[0, 0], &room, &self.w[0], &one, &zero, &self.y[0], &one)

    cdef double _hold(self, Py_ssize_t e, Py_ssize_t r) noexcept nogil:
        """Hold pair e in the place of row r."""
        cdef Py_ssize_t i, j
        cdef double pivot
        self._expand(e)
        pivot = self.y[r]
        for i in range(self.k):
            self.d[i] = self.inv[i, r]
            self.y[i] = -self.y[i]
        self.y[r] += 1.0
        self._add_outer(1.0 / pivot, self.d, self.h, self.y)
        self.row[r] = e
        return pivot

    cdef double _replace(self, Py_ssize_t i, double sign, double value) noexcept nogil:
        """Let the column that comes take the place of coefficient i: it becomes the unit vector i of the tableau."""
        cdef Py_ssize_t l
        cdef double pivot = self._entry(i)
        for l in range(self.n):
            self.h[l] = self.tab[i, l]
        for l in range(self.k):
            self.y[l] = self.inv[i, l]
            self.w[l] = self._entry(l)
        self.w[i] -= 1.0
        self._add_outer(-1.0 / pivot, self.w, self.h, self.y)
        self.slot[self.col[i]] = -1
        self._take(i, sign, value)
        return pivot

    cdef void _take(self, Py_ssize_t i, double sign, double value) noexcept nogil:
        """Put the column that comes, and its coefficient, in place i."""
        self.col[i], self.less[i], self.slot[self.plus_in] = self.plus_in, self.minus_in, i
        self.sign[i], self.a[i] = sign, value

    cdef double _grow(self, Py_ssize_t e, double sign, double value) noexcept nogil:
        """Take the column that comes and hold pair e."""
        cdef Py_ssize_t l, k = self.k
        cdef double pivot
        self._expand(e)
        pivot = self.h[self.plus_in] - self.h[self.minus_in]
        for l in range(k):
            self.d[l] = self._entry(l)
            self.y[l] = -self.y[l]
        self.y[k] = 1.0  # the new row's own share
        for l in range(k):
            self.inv[l, k] = 0.0
        self.k = k + 1
        self.d[k] = 0.0
        for l in range(self.n):
            self.tab[k, l] = self.h[l] / pivot
        for l in range(self.k):
            self.inv[k, l] = self.y[l] / pivot
        self._add_outer(-1.0 / pivot, self.d, self.h, self.y)
        self.row[k] = e
        self._take(k, sign, value)
        return pivot

    cdef double _release(self, Py_ssize_t r, Py_ssize_t i) noexcept nogil:
        """Let go of row r and of coefficient i; the last ones take their places."""
        cdef Py_ssize_t l, last = self.k - 1
        cdef double pivot = self.inv[i, r]
        for l in range(self.n):
            self.h[l] = self.tab[i, l]
        for l in range(self.k):
            self.y[l] = self.inv[i, l]
            self.d[l] = self.inv[l, r]
        self._add_outer(-1.0 / pivot, self.d, self.h, self.y)
        self.slot[self.col[i]] = -1
        if i != last:
            self.col[i], self.less[i], self.sign[i], self.a[i] = (
                self.col[last], self.less[last], self.sign[last], self.a[last])
            self.slot[self.col[i]] = i
            for l in range(self.n):
                self.tab[i, l] = self.tab[last, l]
            for l in range(self.k):
                self.inv[i, l] = self.inv[last, l]
        if r != last:
            self.row[r] = self.row[last]
            for l in range(self.k):
                self.inv[l, r] = self.inv[l, last]
        self.k = last
        return pivot
