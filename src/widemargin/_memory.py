"""How much memory a fit may take, and what is said when it needs more."""

import os


def most_memory(limit):
    """Return the bytes that a fit may take: the user's limit, or 80 % of the machine's memory."""
    return limit or 0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check_memory(what, need, limit, instead):
    """Refuse what needs more bytes than there may be, before they are allocated."""
    most = most_memory(limit)
    if need > most:
        raise MemoryError(
            f"{what} needs {need / 1e9:.3g} GB and the limit is {most / 1e9:.3g} GB; "
            f"use {instead} for a low-rank kernel, kernel='linear', or raise memory_limit."
        )
