from .comparisons import IntArray
from .solution import Array

def short(first: IntArray, last: IntArray, s: Array, w: Array, squared: bool) -> float: ...
def fill(first: IntArray, last: IntArray, w: Array, share: float, y: Array) -> None: ...
def centre(
    first: IntArray, last: IntArray, s: Array, w: Array, mu: float, y: Array, t: Array, squared: bool
) -> None: ...
def look(
    first: IntArray,
    last: IntArray,
    s: Array,
    w: Array,
    y: Array,
    t: Array,
    squared: bool,
    matrix: Array,
    pull: Array,
    right: Array,
    degree: Array,
) -> tuple[float, float]: ...
def predict(
    first: IntArray, last: IntArray, s: Array, w: Array, y: Array, t: Array, squared: bool, ds: Array
) -> tuple[float, float]: ...
def correct(
    first: IntArray,
    last: IntArray,
    s: Array,
    w: Array,
    y: Array,
    t: Array,
    squared: bool,
    ds: Array,
    mu: float,
    right: Array,
) -> None: ...
def respond(
    first: IntArray,
    last: IntArray,
    s: Array,
    w: Array,
    y: Array,
    t: Array,
    squared: bool,
    ds: Array,
    mu: float,
    ds2: Array,
    flow: Array,
    lengths: Array,
    most: float,
    tried: Array,
) -> tuple[float, float]: ...
def step(
    first: IntArray,
    last: IntArray,
    s: Array,
    w: Array,
    y: Array,
    t: Array,
    squared: bool,
    ds: Array,
    mu: float,
    ds2: Array,
    length: float,
    most: float,
    moved: Array,
) -> None: ...
