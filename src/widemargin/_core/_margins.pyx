# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Events of the walk along exact solutions of hinge rows, C rising. Their NumPy twin is `_margins_ref.py`.

A row falls short of its margin (`LOADED`: its multiplier is its cost), lies beyond it (`FREE`: 0), or is held on it
(`HELD`: anything between). While no row changes sides the multipliers of held rows move in straight lines, so that
they stay held: with Q the inner products of rows, M the held and L the loaded ones,

    Q_MM a_M' + e_M b' = m_M' - Q_ML c_L',    e_M'a_M' = -e0 - e_L'c_L',

where c are the costs, m the margins, e the level's column and e0 what it is out of balance by. The walk goes to where
the first row changes sides, takes it up or lets it go, and goes on. A factor of Q_MM + kappa e_M e_M' is kept (the
second term changes no solution, and makes it definite), and what each held row adds to the utilities of the items.

A row whose difference is a sum of held ones is held with them: its slope is zero but for rounding. It takes the
place of another where it comes to its margin all the same. Rows far from their margins are looked at only when the
utilities have moved as far.
"""

from libc.math cimport fabs, hypot, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memmove

from scipy.linalg.cython_blas cimport ddot, dgemv, dtrsv

import numpy as np

cdef enum Side:
    FREE, HELD, LOADED

cdef enum Event:
    END, SCAN, UNLOAD, LOAD, JOIN

cdef double FLAT = 1e-9  # a slope that is less of the utilities' does not move
cdef double STILL = 1e-12  # the same against what the loaded rows would do alone
cdef double NOISE = 1e-10  # by which held rows may leave their margins before a direction is refined
cdef double LOST = 1e-6  # after that: the factor is worth nothing any more
cdef double SAME = 1e-11  # by which multipliers may move as if they did not
cdef double ROUNDING = 1e-14  # of margins and multipliers: what moves less on all the way does not move
cdef double DEPENDENT = 1e-10, NEW = 1e-8  # shares that held rows leave of one that is a sum of them, or is not
cdef double SELDOM = 2.0, OFTEN = 0.5  # looks at near rows between scans, by all rows: fewer are near, or more
cdef double TINY = 1e-9  # of the first radius of near rows: none is smaller
cdef double BEYOND = 1e100  # where there is no row


cdef class Margins:
    """Rows by their sides, and room for a walk; arrays are shared with the caller."""

    cdef readonly Py_ssize_t k  # rows that are held
    cdef public double level
    cdef readonly object a, side, gap, members
    cdef Py_ssize_t m, n, p, room, n_slots, n_near
    cdef bint is_gram, has_level
    cdef double kappa, most_e, most_d, scale
    cdef double t, unload, least, radius, travelled, looks, drift  # of a walk; the last three since the last scan
    cdef double db, force, rate, tau  # of a direction: the level's, held rows', the far rows' most, until the event
    cdef Event what
    cdef Py_ssize_t at
    cdef const int32_t[::1] starts, items
    cdef const double[::1] values, e
    cdef const double[:, ::1] K
    cdef double[::1] a_, gap_, v, du, moved, da, rhs, h, column, z, dw
    cdef int8_t[::1] side_, is_near
    cdef int64_t[::1] members_, slot, near
    cdef double[::1] slope, by_slot
    cdef double[:, ::1] factor, images

    def __init__(self, starts, items, values, e, K, is_gram, scale):
        self.m, self.n, self.is_gram = e.size, K.shape[0], is_gram
        self.starts, self.items, self.values, self.e, self.K = starts, items, values, e, K
        self.p, self.scale = K.shape[1], scale
        diagonal = np.diagonal(K) if is_gram else np.einsum("ij,ij->i", K, K)
        self.most_e = float(np.max(np.abs(e), initial=0.0))
        self.most_d = float(np.max(np.abs(values), initial=0.0) * np.max(np.diff(starts), initial=0))
        self.kappa = float(np.mean(diagonal)) if self.most_e > 0.0 else 0.0
        self.a, self.gap, self.side = np.zeros(self.m), np.zeros(self.m), np.zeros(self.m, np.int8)
        self.a_, self.gap_, self.side_ = self.a, self.gap, self.side
        self.is_near, self.near, self.slope = np.zeros(self.m, np.int8), np.zeros(self.m, np.int64), np.zeros(self.m)
        self.v, self.du, self.moved, self.column = (np.zeros(self.n) for _ in range(4))
        self.dw = np.zeros(self.p)
        self.level, self.k, self.room, self.radius = 0.0, 0, 0, 0.0
        self._grow()

    def _grow(self):
        """Make room for twice as many held rows, or for the first."""
        room = min(2 * self.room or min(64, self.p + 2), max(self.m, 1))
        factor, images = np.zeros((room, room)), np.zeros((room, self.n))
        members, slot = np.zeros(room, np.int64), np.zeros(room, np.int64)
        if self.room:
            factor[: self.room, : self.room] = self.factor
            images[: self.room] = self.images
            members[: self.room], slot[: self.room] = self.members, self.slot
        self.factor, self.images, self.members, self.room = factor, images, members, room
        self.members_, self.slot = members, slot
        self.da, self.rhs, self.h, self.z, self.by_slot = (np.zeros(room) for _ in range(5))

    def hold(self, wanted):
        """Hold these rows, each unless it is a sum of those before it; returns which of them are held."""
        cdef double pivot, d
        cdef int64_t j
        cdef bint is_new
        self.k = self.n_slots = 0
        done = []
        for j in wanted:
            if self.k == self.room:
                self._grow()
            d = self._image(j)
            pivot = self._pivot(j, d)
            is_new = pivot > NEW * d
            done.append(is_new)
            if is_new:
                self._append(j, pivot)
        return np.array(done, dtype=bool)

    def solve(self, target):
        """Return x with (Q_MM + kappa e_M e_M') x = target."""
        cdef double[::1] x = np.array(target, dtype=float)
        if self.k:
            self._solve(&x[0])
        return np.asarray(x)

    cdef double _image(self, int64_t j) noexcept:
        """Write the utilities that row j adds, for a multiplier of 1; return its squared length, the level's too."""
        cdef Py_ssize_t q, i
        cdef double x
        cdef int n = <int>self.n, p = <int>self.p, one = 1
        cdef double unit = 1.0, zero = 0.0
        cdef char trans = b"T"
        if self.is_gram:
            self.column[:] = 0.0
            for q in range(self.starts[j], self.starts[j + 1]):
                x = self.values[q]
                for i in range(self.n):
                    self.column[i] += x * self.K[self.items[q], i]
        else:
            self.dw[:] = 0.0
            for q in range(self.starts[j], self.starts[j + 1]):
                for i in range(self.p):
                    self.dw[i] += self.values[q] * self.K[self.items[q], i]
            dgemv(&trans, &p, &n, &unit, <double*>&self.K[0, 0], &p, &self.dw[0], &one, &zero, &self.column[0], &one)
        return self._at(j, &self.column[0]) + self.kappa * self.e[j] * self.e[j]

    cdef inline double _at(self, int64_t i, double* u) noexcept nogil:
        """Return D_i u."""
        cdef double total = 0.0
        cdef Py_ssize_t q
        for q in range(self.starts[i], self.starts[i + 1]):
            total += self.values[q] * u[self.items[q]]
        return total

    cdef double _pivot(self, int64_t j, double d) noexcept:
        """Write the factor's next row for row j, whose image is at hand, to z; return what held rows leave of it."""
        cdef Py_ssize_t i
        cdef int k = <int>self.k, room = <int>self.room, one = 1
        cdef char lower = b"L", plain = b"N"
        for i in range(self.k):
            self.z[i] = self._at(self.members_[i], &self.column[0]) + self.kappa * self.e[self.members_[i]] * self.e[j]
        if k == 0:
            return d
        dtrsv(&lower, &plain, &plain, &k, &self.factor[0, 0], &room, &self.z[0], &one)
        return d - ddot(&k, &self.z[0], &one, &self.z[0], &one)

    cdef void _append(self, int64_t j, double pivot) noexcept:
        """Hold row j; z is its row of the factor."""
        cdef Py_ssize_t i, at = self.k
        for i in range(self.k):
            self.factor[i, at] = self.z[i]
        self.factor[at, at] = sqrt(pivot)
        self.members_[at] = j
        self.slot[at] = self._free_slot()
        self.images[self.slot[at], :] = self.column
        self.side_[j], self.gap_[j] = HELD, 0.0
        self.k += 1

    cdef Py_ssize_t _free_slot(self) noexcept:
        """Return a row of `images` that no member has; those of former members are kept at the ends of `slot`."""
        if self.n_slots == self.k:
            self.n_slots += 1
            return self.n_slots - 1
        return self.slot[self.k]

    cdef void _drop(self, Py_ssize_t at) noexcept:
        """Let the member at this place go: rotations restore the factor."""
        cdef Py_ssize_t i, j, k = self.k
        cdef double c, s, r, x, y
        cdef double* left
        cdef double* right
        cdef int64_t slot = self.slot[at]
        for j in range(at):
            memmove(&self.factor[j, at], &self.factor[j, at] + 1, (k - at - 1) * sizeof(double))
        for j in range(at, k - 1):
            left, right = &self.factor[j, 0], &self.factor[j + 1, 0]
            r = hypot(left[j + 1], right[j + 1])
            c, s = left[j + 1] / r, right[j + 1] / r
            for i in range(j + 1, k):
                x, y = left[i], right[i]
                left[i - 1] = c * x + s * y
                right[i] = c * y - s * x
        for j in range(at, k - 1):
            self.members_[j], self.slot[j] = self.members_[j + 1], self.slot[j + 1]
        self.slot[k - 1] = slot
        self.k -= 1

    cdef void _solve(self, double* x) noexcept:
        """Write over x what `solve` returns for it."""
        cdef int k = <int>self.k, room = <int>self.room, one = 1
        cdef char lower = b"L", plain = b"N", trans = b"T"
        if k:
            dtrsv(&lower, &plain, &plain, &k, &self.factor[0, 0], &room, x, &one)
            dtrsv(&lower, &trans, &plain, &k, &self.factor[0, 0], &room, x, &one)

    cdef void _add_held(self, double* da) noexcept:
        """Add to du what these multipliers of the held rows do."""
        cdef Py_ssize_t i
        cdef int n = <int>self.n, k = <int>self.n_slots, one = 1
        cdef double unit = 1.0
        cdef char plain = b"N"
        if k == 0:
            return
        self.by_slot[:] = 0.0
        for i in range(self.k):
            self.by_slot[self.slot[i]] = da[i]
        dgemv(&plain, &n, &k, &unit, &self.images[0, 0], &n, &self.by_slot[0], &one, &unit, &self.du[0], &one)

    cdef double _direction(self, const double* shift, double lag) noexcept:
        """Set da, db and du; return by how much held rows would leave their margins."""
        cdef Py_ssize_t i, trial
        cdef int64_t j
        cdef double weight = 0.0, balance = -lag - self.unload, noise = 0.0
        self.force = 0.0
        for i in range(self.k):
            j = self.members_[i]
            self.h[i] = self.e[j]
            self.da[i] = 0.0
            self.rhs[i] = shift[j] - self._at(j, &self.v[0]) + self.kappa * self.e[j] * balance
            self.force = max(self.force, fabs(self.rhs[i]))
        if self.most_e > 0.0:
            self._solve(&self.h[0])
            for i in range(self.k):
                weight += self.e[self.members_[i]] * self.h[i]
        self.has_level = self.most_e == 0.0 or self.kappa * weight > 1e-10
        self.db = 0.0
        self.du[:] = self.v
        for trial in range(2):
            self._correct(weight, balance)
            noise = 0.0
            for i in range(self.k):
                j = self.members_[i]
                self.rhs[i] = shift[j] - self._at(j, &self.du[0]) - self.e[j] * self.db
                noise = max(noise, fabs(self.rhs[i]))
            if noise <= NOISE * self._size(&self.du[0]):
                break
        return noise

    cdef void _correct(self, double weight, double balance) noexcept:
        """Add to a direction what takes rhs from the held rows, and brings the level's column into balance."""
        cdef Py_ssize_t i
        cdef double along = 0.0, more
        self._solve(&self.rhs[0])
        if self.most_e > 0.0 and self.has_level:
            for i in range(self.k):
                along += self.e[self.members_[i]] * (self.rhs[i] + self.da[i])
            more = (along - balance) / weight
            self.db += more
            for i in range(self.k):
                self.rhs[i] -= more * self.h[i]
        for i in range(self.k):
            self.da[i] += self.rhs[i]
        self._add_held(&self.rhs[0])

    cdef double _size(self, double* u) noexcept nogil:
        """Return the largest size of a utility."""
        cdef Py_ssize_t i
        cdef double most = 0.0
        for i in range(self.n):
            most = max(most, fabs(u[i]))
        return most

    def walk(self, rise, shift, cost, double lag, int64_t limit, double radius):
        """Go where costs have grown by `rise` and margins by `shift`; returns (share of the way, events).

        The gaps (reach - margin) and sides of the rows, the multipliers of held ones and the level are at hand.
        """
        cdef const double[::1] rise_ = rise, shift_ = shift, cost_ = cost
        cdef double noise, speed, least = TINY * radius, uneven = SAME * float(np.abs(self.e) @ (cost + np.abs(rise)))
        cdef Py_ssize_t i, events = 0
        cdef bint arrived = False
        self.least = ROUNDING * float(np.max(self.a, initial=0.0))
        self._load(rise_)
        self.is_near[:] = True
        self.moved[:] = 0.0
        self.radius, self.t, self.drift = radius, 0.0, 0.0
        self._scan(shift_)
        while True:
            noise = self._direction(&shift_[0], lag)
            if not self.has_level and fabs(lag + self.unload) > uneven:
                if events == limit or not self._jump(lag + self.unload, rise_, shift_, cost_):
                    break
                events += 1
                continue
            speed = self._size(&self.du[0])
            self.rate = self.most_d * speed + self.most_e * fabs(self.db)
            speed = max(speed, STILL / FLAT * self._size(&self.v[0]))
            if not noise <= LOST * max(speed, self.force, NOISE * self.scale):
                break
            self._find_event(rise_, shift_, cost_, max(FLAT * speed, 10.0 * noise, ROUNDING * self.scale))
            self._advance()
            arrived = self.what == END
            if arrived or events == limit:
                break
            if self.what == SCAN:
                self.radius *= 2.0 if self.looks < OFTEN * self.m else 0.5 if self.looks > SELDOM * self.m else 1.0
                self.radius = max(self.radius, least)
                self._scan(shift_)
                continue
            events += 1
            self.looks += self.n_near
            if self.what == JOIN:
                self._join(self.at, rise_, cost_)
            else:
                self._leave(self.at, LOADED if self.what == LOAD else FREE, rise_)
        self._scan(shift_)
        for i in range(self.m):
            if self.side_[i] != HELD:
                self.a_[i] = cost_[i] + self.t * rise_[i] if self.side_[i] == LOADED else 0.0
        return (1.0 if arrived else self.t), events

    cdef void _find_event(
        self, const double[::1] rise, const double[::1] shift, const double[::1] cost, double flat
    ) noexcept:
        """Set what comes first in this direction, to whom (a member's place, or a row), and when.

        A slope up to `flat` does not move.
        """
        cdef double still = self.least, slope
        cdef Py_ssize_t i
        cdef int64_t j
        self.tau, self.what, self.at = 1.0 - self.t, END, -1
        if self.travelled + self.tau * self.rate > self.radius:
            self.tau, self.what = max(self.radius - self.travelled, 0.0) / self.rate, SCAN
        elif self.looks > 2.0 * SELDOM * self.m:
            self.tau, self.what = 0.0, SCAN
        for i in range(self.k):
            j = self.members_[i]
            still = max(still, SAME * (fabs(self.da[i]) + rise[j]))
        for i in range(self.k):
            j = self.members_[i]
            if self.da[i] < -still:
                self._comes(max(self.a_[j], 0.0) / -self.da[i], UNLOAD, i)
            if self.da[i] - rise[j] > still:
                self._comes(max(cost[j] + self.t * rise[j] - self.a_[j], 0.0) / (self.da[i] - rise[j]), LOAD, i)
        for i in range(self.n_near):
            j = self.near[i]
            if self.side_[j] == HELD:
                continue
            slope = self._at(j, &self.du[0]) + self.e[j] * self.db - shift[j]
            self.slope[i] = slope
            if (slope > flat) if self.side_[j] == LOADED else (slope < -flat):
                self._comes(max(-self.gap_[j] / slope, 0.0), JOIN, j)

    cdef inline void _comes(self, double tau, Event what, Py_ssize_t at) noexcept:
        """Take note of an event, where it comes before those found so far."""
        if tau < self.tau:
            self.tau, self.what, self.at = tau, what, at

    cdef void _advance(self) noexcept:
        """Go to the event."""
        cdef Py_ssize_t i
        cdef int64_t j
        for i in range(self.k):
            self.a_[self.members_[i]] += self.tau * self.da[i]
        for i in range(self.n_near):
            j = self.near[i]
            if self.side_[j] != HELD:
                self.gap_[j] += self.tau * self.slope[i]
        for i in range(self.n):
            self.moved[i] += self.tau * self.du[i]
        self.t += self.tau
        self.travelled += self.tau * self.rate
        self.drift += self.tau * self.db

    cdef bint _jump(self, double excess, const double[::1] rise, const double[::1] shift, const double[::1] cost):
        """Move the level, which no held row fixes, to the first row that can take up the excess; False without one."""
        cdef double up = 1.0 if excess > 0.0 else -1.0, most = BEYOND, x
        cdef Py_ssize_t i, at = -1
        self._scan(shift)
        for i in range(self.m):
            x = up * self.e[i]
            if self.side_[i] != HELD and ((x > 0.0) if self.side_[i] == LOADED else (x < 0.0)):
                x = max(-self.gap_[i] / x, 0.0)
                if x < most:
                    most, at = x, i
        if at < 0:
            return False
        for i in range(self.m):
            if self.side_[i] != HELD:
                self.gap_[i] += up * most * self.e[i]
        self.level += up * most
        self._scan(shift)
        self._join(at, rise, cost)
        return True

    cdef void _load(self, const double[::1] rise):
        """Set what the loaded rows do to the utilities, and to the balance of the level, as their costs rise."""
        cdef Py_ssize_t i, q
        cdef double[::1] g = np.zeros(self.n)
        self.unload = 0.0
        for i in range(self.m):
            if self.side_[i] == LOADED:
                self.unload += self.e[i] * rise[i]
                for q in range(self.starts[i], self.starts[i + 1]):
                    g[self.items[q]] += self.values[q] * rise[i]
        g_ = np.asarray(g)
        K = np.asarray(self.K)
        self.v = K @ g_ if self.is_gram else K @ (K.T @ g_)

    cdef void _add(self, int64_t j, double rise, double* image) noexcept:
        """Count row j among the loaded ones, or with -rise no more."""
        cdef Py_ssize_t i
        self.unload += self.e[j] * rise
        for i in range(self.n):
            self.v[i] += rise * image[i]

    cdef void _scan(self, const double[::1] shift):
        """Bring the level and the gaps of far rows up to date, and choose those that are near.

        Rows whose margins move are always near.
        """
        cdef Py_ssize_t i
        for i in range(self.m):
            if self.side_[i] == HELD:
                self.gap_[i] = 0.0
            elif not self.is_near[i]:
                self.gap_[i] += self._at(i, &self.moved[0]) + self.e[i] * self.drift
        self.level += self.drift
        self.moved[:] = 0.0
        self.drift = self.travelled = self.looks = 0.0
        self.n_near = 0
        for i in range(self.m):
            self.is_near[i] = self.side_[i] != HELD and (fabs(self.gap_[i]) <= self.radius or shift[i] != 0.0)
            if self.is_near[i]:
                self.near[self.n_near] = i
                self.n_near += 1

    cdef void _leave(self, Py_ssize_t at, Side side, const double[::1] rise) noexcept:
        """Let a member go to one side of its margin."""
        cdef int64_t j = self.members_[at]
        self.side_[j], self.gap_[j] = side, 0.0
        if side == LOADED:
            self._add(j, rise[j], &self.images[self.slot[at], 0])
        if not self.is_near[j]:
            self.is_near[j] = True
            self.near[self.n_near] = j
            self.n_near += 1
        self._drop(at)

    cdef void _join(self, int64_t j, const double[::1] rise, const double[::1] cost):
        """Hold row j, in the place of another where it is a sum of held ones."""
        cdef double d, pivot, sign, most, x, c = cost[j] + self.t * rise[j]
        cdef int64_t i
        cdef Py_ssize_t q, at
        cdef bint was_loaded = self.side_[j] == LOADED
        cdef int k = <int>self.k, room, one = 1
        cdef char lower = b"L", plain = b"N", trans = b"T"
        if self.k == self.room:
            self._grow()
        room, d = <int>self.room, self._image(j)
        self.a_[j] = c if was_loaded else 0.0
        if was_loaded:
            self._add(j, -rise[j], &self.column[0])
        pivot = self._pivot(j, d)
        if pivot <= DEPENDENT * d:
            sign, at, most = (1.0 if was_loaded else -1.0), -1, c
            if k:
                dtrsv(&lower, &trans, &plain, &k, &self.factor[0, 0], &room, &self.z[0], &one)
            if d <= 0.0:  # items alike: rounding is all that is left of the row
                self.z[:] = 0.0
            for q in range(self.k):  # its multiplier moves by -sign, theirs by sign z: no utility changes
                i, x = self.members_[q], sign * self.z[q]
                if x < -1e-12 and max(self.a_[i], 0.0) / -x < most:
                    most, at = max(self.a_[i], 0.0) / -x, q
                elif x > 1e-12 and max(cost[i] + self.t * rise[i] - self.a_[i], 0.0) / x < most:
                    most, at = max(cost[i] + self.t * rise[i] - self.a_[i], 0.0) / x, q
            for q in range(self.k):
                self.a_[self.members_[q]] += most * sign * self.z[q]
            self.a_[j] -= sign * most
            if at < 0:  # it goes from one side to the other
                self.side_[j], self.gap_[j] = (FREE if was_loaded else LOADED), 0.0
                if not was_loaded:
                    self._add(j, rise[j], &self.column[0])
                return
            self._leave(at, FREE if sign * self.z[at] < 0.0 else LOADED, rise)
            pivot = max(self._pivot(j, d), 1e-14 * d)
        self._append(j, pivot)
