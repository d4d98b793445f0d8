"""What `_margins` does, with every row looked at and every system solved anew: its documentation and its oracle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .solution import Array

FREE, HELD, LOADED = 0, 1, 2
FLAT, SAME, ROUNDING, DEPENDENT, NEW, BEYOND = 1e-9, 1e-11, 1e-14, 1e-10, 1e-8, 1e100  # as there


def _until(room: Array, speed: Array, moves: NDArray[np.bool_]) -> Array:
    """Return when each room is used up, inf where nothing moves."""
    out = np.full(room.size, np.inf)
    out[moves] = np.maximum(room[moves], 0.0) / speed[moves]
    return out


class Margins:
    """Rows by their sides; the multipliers of held ones move in straight pieces."""

    def __init__(
        self,
        starts: Array,
        items: Array,
        values: Array,
        e: Array,
        K: Array,
        is_gram: bool,
        scale: float,
    ) -> None:
        D = sparse.csr_array((values, items, starts), shape=(e.size, K.shape[0])).toarray()
        kernel = K if is_gram else K @ K.T
        self.Q, self.e = D @ kernel @ D.T, e
        self.kappa = float(np.mean(np.diagonal(kernel))) if np.any(e) else 0.0
        self.whole = self.Q + self.kappa * np.outer(e, e)
        self.a, self.gap, self.side = np.zeros(e.size), np.zeros(e.size), np.zeros(e.size, np.int8)
        self.members, self.level, self.scale = np.zeros(0, np.int64), 0.0, scale

    @property
    def k(self) -> int:
        """Return how many rows are held."""
        return self.members.size

    def _by_held(self, target: Array) -> Array:
        """Return x with (Q_MM + kappa e_M e_M') x = target."""
        return np.linalg.solve(self.whole[np.ix_(self.members, self.members)], target)

    def _share(self, j: int) -> float:
        """Return what the held rows leave of row j."""
        q = self.whole[self.members, j]
        return 1.0 - float(q @ self._by_held(q)) / self.whole[j, j]

    def hold(self, wanted: Iterable[Any]) -> NDArray[np.bool_]:
        """Hold these rows, each unless it is a sum of those before it; returns which of them are held."""
        self.members, done = np.zeros(0, np.int64), []
        for j in wanted:
            done.append(self.whole[j, j] > 0.0 and self._share(j) > NEW)
            if done[-1]:
                self._join(j)
        return np.array(done, dtype=bool)

    def solve(self, target: Array) -> Array:
        """Return x with (Q_MM + kappa e_M e_M') x = target."""
        return self._by_held(target)

    def _join(self, j: int) -> None:
        self.members = np.append(self.members, j)
        self.side[j], self.gap[j] = HELD, 0.0

    def _leave(self, j: int, side: int) -> None:
        self.members = self.members[self.members != j]
        self.side[j], self.gap[j] = side, 0.0

    def _direction(self, rise: Array, shift: Array, lag: float) -> tuple[Array, float, Array]:
        """Return how multipliers of held rows, the level and the gaps move."""
        M, loaded = self.members, self.side == LOADED
        pull = self.Q[:, loaded] @ rise[loaded]
        balance = -lag - float(self.e[loaded] @ rise[loaded])
        da, db = self._by_held(shift[M] - pull[M] + self.kappa * self.e[M] * balance), 0.0
        if np.any(self.e[M]):
            h = self._by_held(self.e[M])
            db = float(self.e[M] @ da - balance) / float(self.e[M] @ h)
            da -= db * h
        slope = pull + self.Q[:, M] @ da + self.e * db - shift
        slope[M] = 0.0
        return da, db, slope

    def walk(
        self,
        rise: Array,
        shift: Array,
        cost: Array,
        lag: float,
        limit: int,
        radius: float,  # noqa: ARG002
    ) -> tuple[float, int]:
        """Go where costs have grown by `rise` and margins by `shift`; returns (share of the way, events)."""
        t, events, arrived, least = 0.0, 0, False, ROUNDING * float(np.max(self.a))
        uneven = SAME * float(np.abs(self.e) @ (cost + np.abs(rise)))
        while True:
            excess = lag + float(self.e @ np.where(self.side == LOADED, rise, 0.0))
            if np.any(self.e) and not np.any(self.e[self.members]) and abs(excess) > uneven:
                if events == limit or not self._jump(np.sign(excess), cost + t * rise):
                    break
                events += 1
                continue
            da, db, slope = self._direction(rise, shift, lag)
            M, left = self.members, cost + t * rise - self.a
            flat = max(FLAT * np.max(np.abs(slope)), ROUNDING * self.scale)
            still = max(SAME * np.max(np.abs(da) + rise[M], initial=0.0), least)
            falls = _until(self.a[M], -da, da < -still)
            fills = _until(left[M], da - rise[M], da - rise[M] > still)
            comes = np.where(self.side == LOADED, slope > flat, (self.side == FREE) & (slope < -flat))
            meets = _until(np.abs(self.gap), np.abs(slope), comes)
            first = [np.min(step, initial=np.inf) for step in (falls, fills, meets)]
            tau = min(1.0 - t, *first)
            self.a[M] += tau * da
            self.gap += tau * slope
            self.level += tau * db
            t += tau
            arrived = bool(min(first) > tau)
            if arrived or events == limit:
                break
            events += 1
            if first[2] == tau:
                self._meet(int(np.argmin(meets)), cost + t * rise)
            elif first[0] == tau:
                self._leave(M[np.argmin(falls)], FREE)
            else:
                self._leave(M[np.argmin(fills)], LOADED)
        free = self.side != HELD
        self.a[free] = np.where(self.side == LOADED, cost + t * rise, 0.0)[free]
        return (1.0 if arrived else t), events

    def _jump(self, up: float, cost: Array) -> bool:
        """Move the level, which no held row fixes, to the first row that can take up the excess; False without one."""
        x = up * self.e
        comes = np.where(self.side == LOADED, x > 0.0, (self.side == FREE) & (x < 0.0))
        meets = _until(np.abs(self.gap), np.abs(x), comes)
        step = float(np.min(meets))
        if step >= BEYOND:
            return False
        self.gap[self.side != HELD] += step * x[self.side != HELD]
        self.level += up * step
        self._meet(int(np.argmin(meets)), cost)
        return True

    def _meet(self, j: int, cost: Array) -> None:
        """Hold row j, in the place of another where it is a sum of held ones."""
        M, sign = self.members, -1.0 if self.side[j] == LOADED else 1.0
        self.a[j] = cost[j] if self.side[j] == LOADED else 0.0
        if self._share(j) <= DEPENDENT:
            d = -sign * self._by_held(self.whole[M, j])
            room = np.where(d < 0.0, self.a[M], cost[M] - self.a[M])
            room = _until(room, np.abs(d), np.abs(d) > 1e-12)
            step = min(cost[j], float(np.min(room, initial=np.inf)))
            self.a[M] += step * d
            self.a[j] += sign * step
            if step == cost[j]:
                self.side[j], self.gap[j] = (LOADED if sign > 0.0 else FREE), 0.0
                return
            at = int(np.argmin(room))
            self._leave(M[at], FREE if d[at] < 0.0 else LOADED)
        self._join(j)
