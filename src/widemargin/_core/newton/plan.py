"""What solves on the same data share: the layout of the rows, the samples, and where the last solve ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..gram import Gram
from ..pool import Pool
from ..solution import Array
from .memory import Memory
from .passes import LinearPairs, Look

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..comparisons import IntArray
    from ..risks import GroupedPairRisk


class Map(Protocol):
    """What a plan asks of a map."""

    def columns(self) -> Any | None:
        """Return X with u = X w, or None where weights belong to items."""

    def quick_gram(self, *, is_shared: bool = False) -> Gram:
        """Return the Gram matrix of the items for many products; asked for only where there are no columns."""


class Draw(NamedTuple):
    """A sample of the pairs, copied out of X: as they are, weighted to stand for all, and cut into pieces."""

    items: IntArray
    own: LinearPairs
    whole: LinearPairs
    pieces: LinearPairs
    share: float  # of all pairs
    is_even: bool  # every pair stands for as many others

    @classmethod
    def of(cls, data: LinearPairs, n_items: int, seed: int) -> Draw:
        """Draw about n_items items."""
        sample = data.risk.sample(n_items, seed)
        own = data.subset(sample.items, sample.own)
        whole = own.over(sample.whole)
        pieces = whole if sample.pieces is sample.whole else own.over(sample.pieces)
        return cls(sample.items, own, whole, pieces.narrowed(), sample.share, sample.is_even)


class Lift(NamedTuple):
    """Where a sample's slopes were solved again for a better bound, and its X'LX there."""

    w: Array
    gram: Array


class Trace(NamedTuple):
    """Where a solve ended, and what was seen there: but for C itself nothing here depends on it."""

    C: float
    w: Array
    h: float
    look: Look
    end: Array  # where Newton's model at w has its minimum
    tangent: Array | None  # of the solutions there: d end / d log C, where the Hessian is written out
    gram: Array | None  # X'LX of all pairs or of a sample that stands for them
    seen: Look | None  # by the sample at w, where that is known
    lift: Lift | None
    noise: tuple[float, float] | None  # what float32 products cost at w, where that is known
    given: Array  # the weights that were returned: the best by their objective, which w need not be


@dataclass
class Plan:
    """The data of one risk and one map, laid out once; or the Gram matrix of the items, and what its solves share."""

    data: LinearPairs | None
    gram: Gram | None = None
    draws: dict[int, Draw] = field(default_factory=dict)
    sizes: tuple[list[int], list[int]] | None = None  # of the samples of the first solve, and of those after it
    last: Trace | None = None
    before: tuple[float, Array] | None = None  # C and w of the solve before the last
    memory: Memory = field(default_factory=Memory)

    @classmethod
    def of(
        cls,
        risk: GroupedPairRisk,
        map_: Map,
        n_threads: int = 1,
        *,
        is_shared: bool = False,
        is_roomy: bool = True,
        doubt: Callable[[], None] | None = None,
    ) -> Plan:
        """Lay out the data, for one solve or for several; `is_roomy` says that a kernel may be kept in float64.

        `doubt` is asked where a look at columns is not finite, and may refuse them.
        """
        columns = map_.columns()
        if columns is None:
            return cls(None, map_.quick_gram(is_shared=is_shared and is_roomy), memory=Memory(is_roomy))
        return cls(LinearPairs.of(columns, risk, pool=Pool(n_threads) if n_threads > 1 else None, doubt=doubt))

    @property
    def end_h(self) -> float:
        """Return the smoothing that the last solve ended with."""
        return self.memory.end_h if self.last is None else self.last.h

    def draw(self, data: LinearPairs, n_items: int, seed: int) -> Draw:
        """Return a sample of data, the same one whenever it is asked for."""
        if n_items not in self.draws:
            self.draws[n_items] = Draw.of(data, n_items, seed)
        return self.draws[n_items]
