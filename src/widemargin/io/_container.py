"""The container: a line that names the format, a checksum of all the rest, JSON, and raw arrays.

    widemargin model 1                     the format's version
    sha256 <64 hex digits>                 of every other byte of the file, this line left out
    json <bytes> arrays <bytes>            the sizes of the two parts
    {...}                                  UTF-8, spaces to a multiple of 64
    ...                                    the arrays, each from a multiple of 64 of this part

The JSON's "arrays" lists dtype, shape, order and start of each. Nothing is compressed, so a file cannot grow when
it is read, and no name in it leads anywhere.
"""

from __future__ import annotations

import json
import math
import re
from hashlib import sha256

import numpy as np

from ._text import ModelFileError

VERSION = 1
ALIGN = 64
FIRST_LINE = re.compile(rb"widemargin model (\d{1,9})\n")
HASH_LINE = re.compile(rb"sha256 ([0-9a-f]{64})\n")
SIZE_LINE = re.compile(rb"json (\d{1,18}) arrays (\d{1,18})\n")
DTYPE = re.compile(r"[<>|][biufU][1-9]\d{0,8}")
FOREIGN = {
    b"SVM-light Version": "an SVM-light or SVM-rank model; use widemargin.io.read_svmlight_model",
    b"solver_type ": "a LIBLINEAR model; use widemargin.io.read_liblinear_model",
    b"\x80": "a pickle, which could run any code; save the model again with widemargin.io.save_model",
    b"PK": "a zip archive (skops, numpy or torch write such); save the model again with widemargin.io.save_model",
}


def pack(content, arrays):
    """Return the bytes of a file, in pieces."""
    places, blocks, start = [], [], 0
    for array in arrays:
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        block = array.tobytes(order)
        places.append({"dtype": array.dtype.str, "shape": list(array.shape), "order": order, "start": start})
        blocks.append(block + bytes(-len(block) % ALIGN))
        start += len(blocks[-1])
    text = json.dumps({**content, "arrays": places}, allow_nan=False, sort_keys=True, ensure_ascii=False).encode()
    text += b" " * (-len(text) % ALIGN)
    first, sizes = b"widemargin model %d\n" % VERSION, b"json %d arrays %d\n" % (len(text), start)
    digest = sha256(first + sizes + text)
    for block in blocks:
        digest.update(block)
    return [first, b"sha256 " + digest.hexdigest().encode() + b"\n", sizes, text, *blocks]


def unpack(data, name):
    """Return the content and the arrays of a file's bytes, or refuse them with a reason."""
    first = FIRST_LINE.match(data)
    if first is None:
        raise ModelFileError(f"{name} is not a widemargin model file: {_foreign(data)}.")
    if not 1 <= int(first[1]) <= VERSION:
        raise ModelFileError(
            f"{name} has the format version {int(first[1])}, and this widemargin reads 1 to {VERSION}; "
            "upgrade widemargin."
        )
    checksum = HASH_LINE.match(data, first.end())
    sizes = SIZE_LINE.match(data, checksum.end()) if checksum else None
    if sizes is None:
        raise ModelFileError(f"{name} is damaged or cut short in its first lines; take another copy.")
    n_text, n_arrays = int(sizes[1]), int(sizes[2])
    if len(data) - sizes.end() != n_text + n_arrays:
        raise ModelFileError(
            f"{name} is cut short or has bytes too many: {len(data)} bytes, expected "
            f"{sizes.end() + n_text + n_arrays}; take another copy."
        )
    view = memoryview(data)
    digest = sha256(view[: first.end()])
    digest.update(view[checksum.end() :])
    if digest.hexdigest().encode() != checksum[1]:
        raise ModelFileError(f"{name} is damaged: its checksum does not match its content; take another copy.")
    content = json.loads(bytes(view[sizes.end() : sizes.end() + n_text]))
    block = view[sizes.end() + n_text :]
    return content, [_array(place, block) for place in content.pop("arrays")]


def _array(place, block):
    """Return one array, in memory of its own."""
    dtype, shape, order, start = place["dtype"], place["shape"], place["order"], place["start"]
    if not DTYPE.fullmatch(dtype) or not all(type(n) is int and n >= 0 for n in [*shape, start]):
        raise ModelFileError(f"an array has the dtype {dtype!r} and the shape {shape}; expected numbers or text.")
    dtype, count = np.dtype(dtype), math.prod(shape)
    if start + count * dtype.itemsize > len(block):
        raise ModelFileError(f"an array of shape {shape} reaches beyond the end of the file.")
    flat = np.frombuffer(block, dtype, count, start) if count else np.zeros(0, dtype)
    return flat.reshape(shape, order=order).copy(order="A")


def _foreign(data):
    if not data:
        return "it is empty"
    for start, what in FOREIGN.items():
        if data.startswith(start):
            return f"it looks like {what}"
    return "it does not begin with 'widemargin model'"
