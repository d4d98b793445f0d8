"""Seeds of all draws: one number says which run this is, and another one makes an independent run."""

import os

import numpy as np

VARIABLE, DEFAULT = "EXPERIMENTS_SEED", "2028"  # the environment reaches every process


def generator(*key):
    """Return the `RandomState` of a draw, named by whole numbers."""
    return np.random.RandomState(np.random.MT19937(sequence(key)))


def seed(*key):
    """Return a seed of 32 bits for a draw, for what takes no `RandomState`, or many times the same one."""
    return int(sequence(key).generate_state(1)[0])


def sequence(key):
    """Return the sequence of seeds of a draw in this run."""
    return np.random.SeedSequence([base(), *key])


def base():
    """Return the number of this run."""
    return int(os.environ.get(VARIABLE, DEFAULT))
