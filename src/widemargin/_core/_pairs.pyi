from .comparisons import IntArray
from .solution import Array

def restore(
    head: IntArray,
    reach: IntArray,
    s: Array,
    cap: Array,
    y: Array,
    t: Array,
    xi: Array,
    room: Array,
    gap: Array,
    flow: Array,
) -> tuple[float, float, float, float]: ...
def weigh(
    head: IntArray,
    reach: IntArray,
    y: Array,
    t: Array,
    xi: Array,
    room: Array,
    inv_t: Array,
    inv_xi: Array,
    W: Array,
    degree: Array,
) -> None: ...
def aim(head: IntArray, reach: IntArray, mu: float, *point_move_aims_flow: Array) -> None: ...
def recentre(
    head: IntArray, reach: IntArray, mu: float, primal: float, dual: float, *point_move_aims_flow: Array
) -> None: ...
def respond(
    head: IntArray, reach: IntArray, again: bool, ds: Array, *point_weights_aims_move_flow: Array
) -> tuple[float, float]: ...
def product_after(
    primal: float, dual: float, y: Array, t: Array, xi: Array, room: Array, dy: Array, dt: Array, dxi: Array
) -> float: ...
def step(
    primal: float, dual: float, y: Array, t: Array, xi: Array, room: Array, dy: Array, dt: Array, dxi: Array
) -> None: ...
def hinge(head: IntArray, reach: IntArray, s: Array, cap: Array) -> tuple[float, float]: ...
def conductances(reach: IntArray, first: int, edge: int, W: Array, sign: float, out: Array) -> None: ...
def soft_hinge(head: IntArray, reach: IntArray, s: Array, weight: Array, h: float, flow: Array) -> None: ...
def bend(head: IntArray, reach: IntArray, s: Array, weight: Array, h: float, K: Array, out: Array) -> None: ...
