# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Hot loops over implicit pairs. Each has a NumPy twin in `_counting_ref.py`."""


def placeholder():
    return 1
