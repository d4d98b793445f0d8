"""What the readers and writers share: the one exception, whole files in, whole files out, lines and numbers."""

from __future__ import annotations

import math
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


class ModelFileError(ValueError):
    """A model file is damaged, foreign or too new, or a model holds what a file cannot."""


def read_bytes(source):
    """Return the bytes of a path or of a binary file object, and what to call it in messages."""
    if hasattr(source, "read"):
        return source.read(), str(getattr(source, "name", "the stream"))
    return Path(source).read_bytes(), str(source)


def text_lines(source, program):
    """Return the lines of a text file, and what to call it in messages."""
    data, name = read_bytes(source)
    try:
        return data.decode().splitlines(), name
    except UnicodeDecodeError as error:
        raise ModelFileError(f"{name} is not text, so it is no model of {program}.") from error


def finite(text):
    """Return the finite number that a text says, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def write_bytes(target, chunks):
    """Write to a binary file object, or to a path: whole or not at all.

    The bytes go to a new file in the same folder, reach the disk, and then take the name in one step; until then
    a file that had the name is untouched.
    """
    if hasattr(target, "write"):
        for chunk in chunks:
            target.write(chunk)
        return
    path = Path(os.path.realpath(target))  # a link keeps pointing at the file it pointed at
    mode = _mode(path)
    new = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with new.open("xb") as file:
            file.writelines(chunks)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            new.chmod(mode)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    _sync_folder(path.parent)


def _mode(path):
    """Return the permissions of the file that is there; None where there is none."""
    try:
        found = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found):
        raise OSError(f"{path} is not a regular file, so it cannot be replaced; give the name of a file.")
    return stat.S_IMODE(found)


def _sync_folder(folder):
    """Make the new name durable, where the system can."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
