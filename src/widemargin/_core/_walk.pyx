# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Pivots of the 1-norm machine's walk along vertices, on a table of edges. Their NumPy twin is `_walk_ref.py`.

A column is a vector, K_i (`columns` i, `minus` the column of zeros at the end), or the difference K_i - K_j of a pair.
At a vertex k coefficients, with `signs`, are not zero and k pairs (`rows`) are held at their goals. From it an edge
leads along every held pair that is let go, and along every column that comes. Kept are the directions of the edges, a
row for each: of the utilities, then of the coefficients. A pivot ends where a pair meets its goal or a coefficient is
zero: that takes the place of what the edge let go, and so much of this edge is taken from all others as keeps it there.
The table fills the second cache: the edges that pivots take from others, and the shares of them, wait beside it (edge i
is edge_i - sum_q shares_qi taken_q), and few pivots write. Nor does a pivot read all of it: the edge that is steepest
per length is taken, by the length of the utilities' change, which needs a third of the pivots that the steepest slope
needs; but only edges that were among the steepest when last all were measured are looked at, a quarter of them or so.
Columns are many and few of them come: only candidates have a row, those that are worth the most, chosen anew with the
edges that are looked at.

Only pairs whose margin meets its goal are looked at. Nodes are lined up by their utilities, each twice, the second
time with 1 less: these pairs change places when the line-up is sorted again for the end of a step.
"""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int64_t

from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv, idamax

import numpy as np

cdef extern from "_two_products.h":
    void two_products(Py_ssize_t n, const int64_t* which, Py_ssize_t m, const double* rows, Py_ssize_t stride,
                      const double* x, const double* y, double* on_x, double* on_y) noexcept nogil

cdef extern from *:  # arrays never overlap
    ctypedef double* Out "double *__restrict"
    ctypedef const double* In "const double *__restrict"

cdef enum Step:
    DOWN, DONE, LOST

cdef double SLACK = 1e-9  # by which a multiplier or a gain may leave its bounds
cdef double FLAT = 1e-8  # a margin that moves by less, relatively, does not move
cdef double SPREAD = 1e-5  # by which goals may differ from 1
cdef double OVER_PAIRS = 4.0  # by which columns over pairs are favoured: that saves a quarter of the pivots
cdef double STILL = 1e-6  # added to the squared lengths of columns: some change no utility
cdef double TINY = 1e-300  # a squared length between pivots that measure it anew is at least that
cdef Py_ssize_t CANDIDATES = 48  # columns with a row
cdef Py_ssize_t LIKELY = 64  # edges that are looked at in a pivot
cdef Py_ssize_t SCOUT = 24  # pivots after which both are chosen anew and the table is written
cdef double WORTH = 0.9  # columns with a smaller gain will hardly come until then


cdef void _sort(Py_ssize_t n, Out value, int64_t* order) noexcept nogil:
    """Sort values and their order, by insertion: from pivot to pivot few change places."""
    cdef Py_ssize_t i, j
    cdef int64_t v
    cdef double x
    for i in range(1, n):
        x, v, j = value[i], order[i], i
        while j > 0 and value[j - 1] > x:
            value[j], order[j] = value[j - 1], order[j - 1]
            j -= 1
        value[j], order[j] = x, v


cdef double _largest(int n, double* x) noexcept nogil:
    """Return the largest size of n numbers."""
    cdef int one = 1
    return fabs(x[idamax(&n, x, &one) - 1]) if n else 0.0


cdef double _kth_largest(Py_ssize_t k, Py_ssize_t n, double* x) noexcept nogil:
    """Return the kth largest of n numbers, which are put in another order."""
    cdef Py_ssize_t lo = 0, hi = n - 1, i, j
    cdef double pivot, t
    while lo < hi:
        pivot, i, j = x[(lo + hi) // 2], lo, hi
        while i <= j:
            while x[i] > pivot:
                i += 1
            while x[j] < pivot:
                j -= 1
            if i <= j:
                t = x[i]
                x[i] = x[j]
                x[j] = t
                i += 1
                j -= 1
        if k - 1 <= j:
            hi = j
        elif k - 1 >= i:
            lo = i
        else:
            break
    return x[k - 1]


cdef class Walk:
    """A vertex, the edges that leave it, and room for a pivot; arrays are shared with the caller."""

    cdef public Py_ssize_t k, n_pivots, n_candidates
    cdef public double reach
    cdef readonly object columns, minus, rows, signs, coefficients, edges, side, s, pull
    cdef bint positive, over_pairs
    # n: with the zeros; edges of columns begin at row `room`; age: pivots since candidates were chosen
    cdef Py_ssize_t m, n, room, n_kinks, wide, age, n_late, n_likely
    cdef double rise, step
    cdef readonly double blur
    cdef const double[:, ::1] KT  # (columns, nodes)
    cdef const int64_t[::1] head, away, first, better, worse, block
    cdef const double[::1] weight, goal
    cdef int64_t[::1] col, less, row, slot, order, kink, who, first_of, second_of, low, high
    cdef int64_t[::1] come, come_less  # the candidates
    cdef double[::1] sign, a, u, pulled, at, gain, slope, length, d, ds, shift, score, ranked, plan, rises
    cdef double[::1] now, value, speed, moved, then  # of the line-up
    cdef double[:, ::1] edge, held
    cdef double[:, ::1] taken, shares  # what waits for the table
    cdef double[:, ::1] across, found, on  # `rises` and the last edge; their products with the table and with `taken`
    cdef double[::1] cost  # of the coefficients along the table's edges
    cdef int64_t[::1] likely, late  # the edges that are looked at; 0, 1, ...: all that wait
    cdef int8_t[::1] sides, is_likely

    def __init__(self, K, blocks, head, reach, better, worse, weight, goal, bint positive, bint over_pairs):
        self.KT = np.vstack([np.ascontiguousarray(K.T), np.zeros((1, len(K)))])
        self.n, self.m = self.KT.shape[0], self.KT.shape[1]
        self.room = min(self.m, self.n) + 1
        self.wide = CANDIDATES if over_pairs else min(CANDIDATES, self.n)
        self.over_pairs, self.positive = over_pairs, positive
        self.head, self.away, self.first, self.block = head, reach, np.cumsum(reach) - reach, blocks
        self.better, self.worse, self.weight, self.goal = better, worse, weight, goal
        n_pairs, room, m, n = better.size, self.room, self.m, self.n
        self.columns, self.rows, self.minus = (np.zeros(room, dtype=np.int64) for _ in range(3))
        self.signs, self.coefficients = np.zeros(room), np.zeros(room)
        self.edges = np.zeros((room + self.wide, m + room))
        self.side = np.ones(n_pairs, dtype=np.int8)
        self.s, self.pull = np.zeros(m), np.zeros(m)
        self.col, self.row, self.sign, self.a = self.columns, self.rows, self.signs, self.coefficients
        self.less, self.edge, self.sides, self.u, self.pulled = self.minus, self.edges, self.side, self.s, self.pull
        self.slot = np.full(n, -1, dtype=np.int64)
        both = [np.r_[np.arange(lo, hi), np.arange(lo, hi) + m] for lo, hi in zip(blocks[:-1], blocks[1:])]
        self.order = np.concatenate(both).astype(np.int64)  # by query: nodes as the better and as the worse one
        self.kink, self.at = np.empty(n_pairs + room, dtype=np.int64), np.empty(n_pairs + room)
        self.now, self.value, self.speed, self.moved, self.then = (np.empty(2 * m) for _ in range(5))
        self.who = np.empty(2 * m, dtype=np.int64)
        self.slope, self.length, self.cost = (np.zeros(room + self.wide) for _ in range(3))
        self.taken, self.shares = np.zeros((SCOUT, m + room)), np.zeros((SCOUT, room + self.wide))
        self.across, self.found = np.zeros((2, m + room)), np.zeros((2, room + self.wide))
        self.on = np.zeros((2, SCOUT))
        self.late = np.arange(SCOUT, dtype=np.int64)
        self.likely, self.is_likely = np.zeros(room + self.wide, dtype=np.int64), np.zeros(room + self.wide, np.int8)
        self.d, self.ds, self.shift, self.gain = np.empty(room), np.empty(m), np.zeros(m), np.empty(n)
        self.rises = self.across[0]  # of the objective with the utilities and the coefficients
        self.score, self.ranked = np.empty(n + 3 * m + self.wide), np.empty(n + 3 * m + self.wide)
        self.plan = np.empty(m)
        self.first_of, self.second_of = np.empty(n + 2 * m, dtype=np.int64), np.empty(n + 2 * m, dtype=np.int64)
        self.low, self.high = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
        self.come, self.come_less = np.zeros(self.wide, dtype=np.int64), np.zeros(self.wide, dtype=np.int64)
        self.held = np.empty((self.wide, room))
        self.reach = 0.1

    def walk(self, double C, Py_ssize_t limit):
        """Take at most `limit` pivots; return True at the optimal vertex, None where digits are lost, else False."""
        cdef Step step = DOWN
        cdef Py_ssize_t i
        with nogil:
            self._price(C)
            self.age = SCOUT
            for i in range(limit + 1):
                step = self._pivot(C, i < limit)
                if step != DOWN:
                    break
            self._settle()
        return True if step == DONE else None if step == LOST else False

    def place(self):
        """Forget what belonged to other columns than those that are in use now."""
        cdef Py_ssize_t i
        self.n_candidates = 0
        self.slot[:] = -1
        for i in range(self.k):
            self.slot[self.col[i]] = i

    cdef Step _pivot(self, double C, bint allowed) noexcept nogil:
        """Go down the steepest edge to its lowest point and exchange there."""
        cdef Py_ssize_t edge, last
        cdef double fall = 0.0, toward = 1.0
        if self.age >= SCOUT:
            self._scout(C)
        edge = self._way_down(C, &fall, &toward)
        if fall <= 0.0 and self.age > 0:
            self._scout(C)
            edge = self._way_down(C, &fall, &toward)
        if fall <= 0.0:
            return DONE
        if not allowed:
            return DOWN
        self._aim(edge, toward)
        last = self._lowest(fall, C)  # a pair, or -1 - the coefficient that is met at zero
        if last == self.kink.shape[0]:
            return LOST
        self.n_pivots += 1
        self.age += 1
        if edge < self.k:  # let go upwards: nothing to pay; downwards: at its cap
            self._set_side(self.row[edge], -1 if toward > 0.0 else 1)
        if last >= 0:
            self._set_side(last, 0)
        self._pull(C)
        return self._exchange(edge, last, toward, C)

    cdef void _measure(self, Py_ssize_t i) noexcept nogil:
        """Set an edge's squared length, and how the objective rises along it, but for its own pair or column."""
        cdef int m = self.m, k = self.k, one = 1
        cdef double* x = &self.edge[i, 0]
        self.length[i] = ddot(&m, x, &one, x, &one) + (STILL if i >= self.room else 0.0)
        self.cost[i] = ddot(&k, &self.rises[self.m], &one, x + self.m, &one)
        self.slope[i] = ddot(&m, &self.rises[0], &one, x, &one) + self.cost[i]

    cdef void _price(self, double C) noexcept nogil:
        """Set what belongs to every edge."""
        cdef Py_ssize_t i
        for i in range(self.m):
            self.rises[i] = -C * self.pulled[i]
        for i in range(self.k):
            self.rises[self.m + i] = self.sign[i]
        self._measure_all()

    cdef void _measure_all(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.k):
            self._measure(i)
        for i in range(self.room, self.room + self.n_candidates):
            self._measure(i)

    cdef void _settle(self) noexcept nogil:
        """Write what waits into the table."""
        if self.n_late:
            self._write(0, self.k)
            self._write(self.room, self.n_candidates)
            self.n_late = 0

    cdef void _write(self, Py_ssize_t i, int n) noexcept nogil:
        cdef int width = self.m + self.k, full = self.m + self.room, late = self.n_late, rows = self.slope.shape[0]
        cdef int k = self.k, one = 1
        cdef double unit = 1.0, zero = 0.0, negative = -1.0
        if n:
            dgemm(b"N", b"T", &width, &n, &late, &negative, &self.taken[0, 0], &full, &self.shares[0, i], &rows,
                  &unit, &self.edge[i, 0], &full)
            dgemv(b"T", &k, &n, &unit, &self.edge[i, self.m], &full, &self.rises[self.m], &one,
                  &zero, &self.cost[i], &one)

    cdef Py_ssize_t _way_down(self, double C, double* fall, double* toward) noexcept nogil:
        """Return the edge that is steepest per length, with its fall and its sign."""
        cdef Py_ssize_t i, l, best = 0
        cdef double steepest = 0.0, here
        for l in range(self.n_likely):
            i = self.likely[l]
            here = self._steepness(i, C)
            if here > steepest:
                steepest, best = here, i
        if steepest > 0.0:
            fall[0], toward[0] = self._over(best, C), 1.0 if self.slope[best] < 0.0 else -1.0
        return best

    cdef inline double _over(self, Py_ssize_t i, double C) noexcept nogil:
        """Return how fast the objective falls along an edge."""
        if i >= self.room:
            return (-self.slope[i] if self.positive else fabs(self.slope[i])) - 1.0
        return -self.slope[i] if self.slope[i] < 0.0 else self.slope[i] - C * self.weight[self.row[i]]

    cdef inline double _steepness(self, Py_ssize_t i, double C) noexcept nogil:
        """Return the square of the fall per length; below 0 where there is none beyond rounding."""
        cdef double over = self._over(i, C), square = over * over / self.length[i]
        if i < self.room:
            return square if over > SLACK * C * self.weight[self.row[i]] else -square
        if self.over_pairs:
            square *= OVER_PAIRS
        return square if over > max(SLACK, 2.0 * self.blur) else -square

    cdef void _choose(self, double C) noexcept nogil:
        """Choose the edges to look at until the next time: those that lead down the steepest, or lead up the least."""
        cdef Py_ssize_t i, n = 0
        cdef double enough = -INFINITY
        for i in range(self.room + self.n_candidates):
            if i < self.k or i >= self.room:
                self.score[n] = self.ranked[n] = self._steepness(i, C)
                n += 1
        if n > LIKELY:
            enough = _kth_largest(LIKELY, n, &self.ranked[0])
        n = 0
        for i in range(self.room + self.n_candidates):
            if i < self.k or i >= self.room:
                self.is_likely[i] = self.score[n] >= enough
                n += 1
        self._list()

    cdef void _list(self) noexcept nogil:
        """List the edges that are looked at."""
        cdef Py_ssize_t i
        self.n_likely = 0
        for i in range(self.k):
            self.likely[self.n_likely] = i
            self.n_likely += self.is_likely[i]
        for i in range(self.room, self.room + self.n_candidates):
            self.likely[self.n_likely] = i
            self.n_likely += self.is_likely[i]

    cdef void _gains(self, double C) noexcept nogil:
        """Set the gain K'B'y of every column."""
        cdef Py_ssize_t i, v
        cdef int m = self.m, n = self.n, one = 1
        cdef double unit = 1.0, zero = 0.0
        for v in range(self.m):
            self.plan[v] = C * self.pulled[v]
        for i in range(self.k):
            self.plan[self.better[self.row[i]]] += self.slope[i]
            self.plan[self.worse[self.row[i]]] -= self.slope[i]
        dgemv(b"T", &m, &n, &unit, <double*>&self.KT[0, 0], &m, &self.plan[0], &one, &zero, &self.gain[0], &one)

    cdef void _scout(self, double C) noexcept nogil:
        """Choose the candidates, the columns of largest gain, and give those a row that have none."""
        cdef Py_ssize_t i, j, c, n, n_wanted = 0
        cdef double enough = -INFINITY
        self.age = 0
        self._settle()
        self._measure_all()
        self._gains(C)
        self._blur()
        n = self._suggest_pairs() if self.over_pairs else self._suggest_columns()
        if n > self.wide:
            for i in range(n):
                self.ranked[i] = self.score[i]
            enough = _kth_largest(self.wide, n, &self.ranked[0])
        for i in range(n):
            if self.score[i] >= enough and self.score[i] > WORTH and n_wanted < self.wide:
                self.first_of[n_wanted], self.second_of[n_wanted] = self.first_of[i], self.second_of[i]
                n_wanted += 1
        for c in range(self.n_candidates - 1, -1, -1):  # those that are no longer wanted go
            for i in range(n_wanted):
                if self.first_of[i] == self.come[c] and self.second_of[i] == self.come_less[c]:
                    n_wanted -= 1
                    self.first_of[i], self.second_of[i] = self.first_of[n_wanted], self.second_of[n_wanted]
                    break
            else:
                self._drop(c)
        self._add(n_wanted)
        self._choose(C)

    cdef void _blur(self) noexcept nogil:
        """Set by how much gains may be wrong: those in use are 1, and candidates know theirs from their edges."""
        cdef Py_ssize_t i
        cdef double known
        self.blur = 0.0
        for i in range(self.k):
            self.blur = max(self.blur, fabs(self.gain[self.col[i]] - self.gain[self.less[i]] - self.sign[i]))
        for i in range(self.n_candidates):
            known = -self.slope[self.room + i]
            self.blur = max(self.blur, fabs(self.gain[self.come[i]] - self.gain[self.come_less[i]] - known))

    cdef Py_ssize_t _suggest_columns(self) noexcept nogil:
        """List the columns that are not in use and their scores; return their number."""
        cdef Py_ssize_t j, n = 0
        for j in range(self.n - 1):
            if self.slot[j] < 0:
                self.first_of[n], self.second_of[n] = j, self.n - 1
                self.score[n] = self.gain[j] if self.positive else fabs(self.gain[j])
                n += 1
        return n

    cdef Py_ssize_t _suggest_pairs(self) noexcept nogil:
        """List the best partners of every node; return their number."""
        cdef Py_ssize_t q, v, n = 0
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
        return n

    cdef Py_ssize_t _suggest(self, Py_ssize_t n, Py_ssize_t v, Py_ssize_t w, double toward) noexcept nogil:
        """Add a pair to the n suggestions if it is not in use; return their number."""
        cdef Py_ssize_t i
        cdef double score = toward * (self.gain[v] - self.gain[w])
        if fabs(score - 1.0) < 1e3 * SLACK:  # perhaps in use
            for i in range(self.k):
                if self.col[i] == v and self.less[i] == w:
                    return n
        self.first_of[n], self.second_of[n], self.score[n] = v, w, score
        return n + 1

    cdef void _drop(self, Py_ssize_t c) noexcept nogil:
        """Forget a candidate; the last one takes its place."""
        self.n_candidates -= 1
        if c != self.n_candidates:
            self._copy(self.room + self.n_candidates, self.room + c)
            self.come[c], self.come_less[c] = self.come[self.n_candidates], self.come_less[self.n_candidates]

    cdef void _copy(self, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
        """Copy an edge."""
        cdef Py_ssize_t j
        for j in range(self.m + self.k):
            self.edge[target, j] = self.edge[source, j]
        for j in range(self.n_late):
            self.shares[j, target] = self.shares[j, source]
        self.slope[target], self.length[target], self.cost[target], self.is_likely[target] = (
            self.slope[source], self.length[source], self.cost[source], self.is_likely[source])

    cdef void _add(self, Py_ssize_t n_new) noexcept nogil:
        """Append candidates: a column, less what keeps the held pairs at their goals."""
        cdef Py_ssize_t c, i, j, plus, minus
        cdef int k = self.k, width = self.m + self.k, full = self.m + self.room, room = self.room, n = n_new
        cdef double unit = 1.0, negative = -1.0
        cdef const double* x
        cdef const double* y
        for c in range(n_new):
            plus, minus = self.first_of[c], self.second_of[c]
            x, y = &self.KT[plus, 0], &self.KT[minus, 0]
            i = self.room + self.n_candidates + c
            for j in range(self.m):
                self.edge[i, j] = x[j] - y[j]
            for j in range(self.k):
                self.edge[i, self.m + j] = 0.0
                self.held[c, j] = (self.edge[i, self.better[self.row[j]]] - self.edge[i, self.worse[self.row[j]]])
            self.come[self.n_candidates + c], self.come_less[self.n_candidates + c] = plus, minus
        i = self.room + self.n_candidates
        if k and n:
            dgemm(b"N", b"N", &width, &n, &k, &negative, &self.edge[0, 0], &full, &self.held[0, 0], &room,
                  &unit, &self.edge[i, 0], &full)
        self.n_candidates += n_new
        for c in range(i, i + n_new):
            self._measure(c)

    cdef void _aim(self, Py_ssize_t edge, double toward) noexcept nogil:
        """Set the direction of the coefficients and of the utilities along an edge, which is going to be taken."""
        cdef Py_ssize_t i
        cdef int width = self.m + self.k, full = self.m + self.room, late = self.n_late, rows = self.slope.shape[0]
        cdef int one = 1
        cdef double unit = 1.0, negative = -1.0
        cdef Out taken = &self.taken[self.n_late, 0]
        for i in range(self.m + self.k):
            taken[i] = self.edge[edge, i]
        if late:
            dgemv(b"N", &width, &late, &negative, &self.taken[0, 0], &full, &self.shares[0, edge], &rows,
                  &unit, taken, &one)
        for i in range(self.m):
            self.ds[i] = toward * taken[i]
            self.across[1, i] = taken[i]
        for i in range(self.k):
            self.d[i] = toward * taken[self.m + i]

    cdef Py_ssize_t _lowest(self, double fall, double C) noexcept nogil:
        """Go to the lowest point, changing sides and signs on the way; return what is met there."""
        cdef Py_ssize_t i, v, met
        cdef double largest = _largest(self.k, &self.d[0]), unit = _largest(self.m, &self.ds[0])
        cdef double limit, step, risen = 0.0
        self._line_up()
        limit = self.reach
        while True:
            self._look(limit / unit, FLAT * unit, C)
            self._zeros(limit / unit, 1e-12 * max(1.0, largest))
            if self.rise >= fall:
                break
            if not limit < 1e12:
                return self.kink.shape[0]  # the objective cannot fall for ever: these are no digits
            limit *= 4.0
        self._heapify()
        while True:
            met, step = self.kink[0], self.at[0]
            risen += self._rate(met, C)
            if risen >= fall or self.n_kinks == 1:
                break
            self._pass(met)
            self._pop()
        self.reach = max(1.5 * step * unit, 0.5 * self.reach, 1e-9)
        for v in range(self.m):
            self.u[v] += step * self.ds[v]
        for i in range(self.k):
            self.a[i] += step * self.d[i]
        self.step = step
        return met

    cdef void _line_up(self) noexcept nogil:
        """Sort nodes twice, as the better ones with 1 less and as the worse ones, by query."""
        cdef Py_ssize_t i, q, lo, m = self.m
        cdef Out at = &self.now[0]
        cdef Out value = &self.value[0]
        cdef Out speed = &self.speed[0]
        cdef const int64_t* order = &self.order[0]
        for i in range(m):
            at[i] = self.u[i] - 1.0
            at[m + i] = self.u[i]
        for i in range(2 * m):
            value[i] = at[order[i]]
        for q in range(self.block.shape[0] - 1):
            lo = 2 * self.block[q]
            _sort(2 * self.block[q + 1] - lo, &self.value[lo], &self.order[lo])
        for i in range(m):
            at[i] = at[m + i] = self.ds[i]
        for i in range(2 * m):
            speed[i] = at[order[i]]

    cdef void _look(self, double until, double flat, double C) noexcept nogil:
        """Find the pairs whose margin meets its goal within a step; sum up by how much they raise the slope.

        These change places when the line-up is sorted as it will be then; goals differ a little from 1.
        """
        cdef Py_ssize_t i, j, l, q, lo
        cdef double x, last, before, behind
        cdef Out value = &self.value[0]
        cdef Out speed = &self.speed[0]
        cdef Out moved = &self.moved[0]
        cdef Out then = &self.then[0]
        cdef int64_t* who = &self.who[0]
        self.n_kinks, self.rise = 0, 0.0
        for i in range(2 * self.m):
            moved[i] = value[i] + until * speed[i]
        for q in range(self.block.shape[0] - 1):
            lo = 2 * self.block[q]
            last = before = behind = -INFINITY  # moved and unmoved places of the last one, and of those before its run
            for i in range(lo, 2 * self.block[q + 1]):
                x = moved[i]
                if (x >= last + SPREAD) & (value[i] >= before + SPREAD):  # alone
                    then[i], who[i], behind, last, before = x, i, max(last, before), x, value[i]
                    continue
                if (x >= last) & (fabs(speed[i] - speed[i - 1]) <= flat) & (min(x, value[i]) >= behind + SPREAD):
                    then[i], who[i], last, before = x, i, x, value[i]  # those that are held together are a run
                    continue
                before, j = value[i], i
                while j > lo and then[j - 1] > x:
                    self._meet(who[j - 1], i, until, flat, C)
                    then[j], who[j] = then[j - 1], who[j - 1]
                    j -= 1
                then[j], who[j] = x, i
                l = j - 1
                while l >= lo and then[l] > x - SPREAD:
                    self._meet(who[l], i, until, flat, C)
                    l -= 1
                l = i - 1
                while l >= lo and value[l] > before - SPREAD:
                    if moved[l] <= x - SPREAD:  # else seen
                        self._meet(l, i, until, flat, C)
                    l -= 1
                last, behind = then[i], INFINITY  # no run goes on from here

    cdef inline void _meet(self, Py_ssize_t i, Py_ssize_t j, double until, double flat, double C) noexcept nogil:
        """Note the pair of two in the line-up if there is one and it meets its goal."""
        cdef Py_ssize_t v = self.order[i], w = self.order[j] - self.m, e
        cdef double rate, left
        if v >= self.m:
            v, w = self.order[j], v - self.m
        if v >= self.m or w < self.head[v] or w >= self.head[v] + self.away[v]:
            return
        rate = self.ds[v] - self.ds[w]
        if fabs(rate) <= flat:  # as if held
            return
        e = self.first[v] + w - self.head[v]
        rate *= self.sides[e]
        left = self.sides[e] * (self.goal[e] - (self.u[v] - self.u[w]))
        if rate > 0.0 and left < until * rate:
            self.kink[self.n_kinks] = e
            self.at[self.n_kinks] = left / rate if left > 0.0 else 0.0
            self.rise += C * self.weight[e] * rate
            self.n_kinks += 1

    cdef void _zeros(self, double until, double flat) noexcept nogil:
        """Find the coefficients that reach zero, as -1 - i."""
        cdef Py_ssize_t i
        for i in range(self.k):
            if (self.sign[i] * self.d[i] < -flat) & (fabs(self.a[i]) < until * fabs(self.d[i])):
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

    cdef void _pull(self, double C) noexcept nogil:
        """Let the pull of the violated pairs follow the changes of sides."""
        cdef Py_ssize_t v
        for v in range(self.m):
            if self.shift[v] != 0.0:
                self.pulled[v] += self.shift[v]
                self.rises[v] = -C * self.pulled[v]
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

    cdef Step _exchange(self, Py_ssize_t edge, Py_ssize_t last, double toward, double C) noexcept nogil:
        """Let a column or a free pair in, and what was met at zero or at its goal out or in."""
        cdef Py_ssize_t i
        cdef bint comes = edge >= self.room
        cdef double pivot = self._share(&self.taken[self.n_late, 0], last)
        if comes and last >= 0 and self.k + 1 >= self.room:  # more rows than the pairs' rank: these are no digits
            return LOST
        if not (fabs(pivot) > 1e-13 and fabs(pivot) < INFINITY):
            return LOST
        self._divide(0, self.k, last, pivot)
        self._divide(self.room, self.n_candidates, last, pivot)
        if last < 0:
            self.sign[-1 - last] = 0.0
        for i in range(self.k):
            if self.rises[self.m + i] != self.sign[i]:
                self._charge(i)
        if comes:
            i = self.k if last >= 0 else -1 - last
            self._make_place(i)
            self.rises[self.m + i] = toward
        self._keep(edge, pivot, self.k + (comes and last >= 0))
        if last < 0 and comes:
            self._replace(edge, -1 - last, toward)
        elif last < 0:
            edge = self._release(edge, -1 - last)
        elif comes:
            edge = self._grow(edge, last, toward)
        else:
            self.row[edge] = last
        self._measure(edge)
        self._list()
        return DOWN

    cdef inline double _share(self, const double* edge, Py_ssize_t last) noexcept nogil:
        """Return how fast a pair's margin or a coefficient changes along an edge."""
        if last < 0:
            return edge[self.m - 1 - last]
        return edge[self.better[last]] - edge[self.worse[last]]

    cdef void _divide(self, Py_ssize_t i, int n, Py_ssize_t last, double pivot) noexcept nogil:
        """Set the shares of the edge in n edges that keep what was met where it is."""
        cdef Py_ssize_t j
        cdef int late = self.n_late, rows = self.slope.shape[0], one = 1
        cdef double unit = 1.0, part = 1.0 / pivot, minus = -part
        cdef Out share = &self.shares[self.n_late, i]
        for j in range(n):
            share[j] = part * self._share(&self.edge[i + j, 0], last)
        for j in range(late):
            self.on[0, j] = self._share(&self.taken[j, 0], last)
        if n and late:
            dgemv(b"N", &n, &late, &minus, &self.shares[0, i], &rows, &self.on[0, 0], &one, &unit, share, &one)

    cdef void _charge(self, Py_ssize_t j) noexcept nogil:
        """Let the costs follow a coefficient's sign."""
        cdef Py_ssize_t l
        cdef double change = self.sign[j] - self.rises[self.m + j]
        self.rises[self.m + j] = self.sign[j]
        for l in range(self.n_likely):
            self.cost[self.likely[l]] += change * self.edge[self.likely[l], self.m + j]

    cdef void _make_place(self, Py_ssize_t j) noexcept nogil:
        """Let the coefficient of the column that comes be number j."""
        cdef Py_ssize_t i
        for i in range(self.k):
            self.edge[i, self.m + j] = 0.0
        for i in range(self.room, self.room + self.n_candidates):
            self.edge[i, self.m + j] = 0.0
        for i in range(self.n_late):
            self.taken[i, self.m + j] = 0.0
        self.taken[self.n_late, self.m + j] = 1.0

    cdef void _keep(self, Py_ssize_t edge, double pivot, Py_ssize_t k) noexcept nogil:
        """Keep what was met where it is along all other edges: these wait for their shares, but are measured."""
        cdef Py_ssize_t i, width = self.m + k, full = self.m + self.room
        cdef Out taken = &self.taken[self.n_late, 0]
        self.n_late += 1
        two_products(self.n_late, &self.late[0], width, &self.taken[0, 0], full, &self.across[0, 0], &self.across[1, 0],
                     &self.on[0, 0], &self.on[1, 0])
        self._look_across()
        self.k = k
        for i in range(self.n_late):
            self.shares[i, edge] = 0.0
        for i in range(width):
            self.edge[edge, i] = taken[i] / pivot

    cdef void _look_across(self) noexcept nogil:
        """Set the slopes and the lengths of the edges that are looked at."""
        cdef Py_ssize_t i, l, q
        cdef double slope, along, share, whole = self.on[1, self.n_late - 1]
        two_products(self.n_likely, &self.likely[0], self.m, &self.edge[0, 0], self.m + self.room,
                     &self.across[0, 0], &self.across[1, 0], &self.found[0, 0], &self.found[1, 0])
        for q in range(self.n_late):
            slope, along = self.on[0, q], self.on[1, q]
            for l in range(self.n_likely):
                share = self.shares[q, self.likely[l]]
                self.found[0, l] -= share * slope
                self.found[1, l] -= share * along
        for l in range(self.n_likely):
            i = self.likely[l]
            share = self.shares[self.n_late - 1, i]
            self.slope[i] = self.found[0, l] + self.cost[i]
            self.length[i] = max(self.length[i] - share * (2.0 * self.found[1, l] + share * whole), TINY)

    cdef void _take(self, Py_ssize_t c, Py_ssize_t i, double toward) noexcept nogil:
        """Put candidate c, and its coefficient, in place i."""
        self.col[i], self.less[i], self.slot[self.come[c]] = self.come[c], self.come_less[c], i
        self.sign[i], self.a[i] = toward, toward * self.step

    cdef Py_ssize_t _grow(self, Py_ssize_t edge, Py_ssize_t last, double toward) noexcept nogil:
        """Take a candidate and hold a pair; return its edge."""
        self._take(edge - self.room, self.k - 1, toward)
        self.row[self.k - 1] = last
        self._copy(edge, self.k - 1)
        self._drop(edge - self.room)
        return self.k - 1

    cdef void _replace(self, Py_ssize_t edge, Py_ssize_t i, double toward) noexcept nogil:
        """Let a candidate and the column of coefficient i change places."""
        cdef Py_ssize_t c = edge - self.room, plus = self.col[i], minus = self.less[i]
        self.slot[plus] = -1
        self._take(c, i, toward)
        self.come[c], self.come_less[c] = plus, minus

    cdef Py_ssize_t _release(self, Py_ssize_t edge, Py_ssize_t i) noexcept nogil:
        """Let go of a pair and of coefficient i, whose column becomes a candidate; return its edge."""
        cdef Py_ssize_t c, l, last = self.k - 1, weakest = 0
        if self.n_candidates == self.wide:
            for c in range(self.n_candidates):
                if fabs(self.slope[self.room + c]) < fabs(self.slope[self.room + weakest]):
                    weakest = c
            self._drop(weakest)
        c = self.n_candidates
        self.n_candidates += 1
        self._copy(edge, self.room + c)
        self.come[c], self.come_less[c] = self.col[i], self.less[i]
        if edge != last:
            self._copy(last, edge)
            self.row[edge] = self.row[last]
        self.slot[self.col[i]] = -1
        if i != last:
            self.col[i], self.less[i], self.sign[i], self.a[i] = (
                self.col[last], self.less[last], self.sign[last], self.a[last])
            self.slot[self.col[i]] = i
            self.rises[self.m + i] = self.sign[i]
            for l in range(last):
                self.edge[l, self.m + i] = self.edge[l, self.m + last]
            for l in range(self.room, self.room + self.n_candidates):
                self.edge[l, self.m + i] = self.edge[l, self.m + last]
            for l in range(self.n_late):
                self.taken[l, self.m + i] = self.taken[l, self.m + last]
        self.k = last
        return self.room + c
