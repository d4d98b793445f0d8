"""Means with their standard errors, and what they are enough to say."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student


@dataclass(frozen=True)
class Estimate:
    """A mean over independent repetitions, with its standard error and 95 % interval (Student's t)."""

    mean: float
    se: float
    n: int

    @property
    def half_width(self):
        """Half the length of the 95 % interval."""
        return float(student.ppf(0.975, self.n - 1)) * self.se if self.n > 1 else np.inf

    @property
    def low(self):
        """Lower end of the 95 % interval."""
        return self.mean - self.half_width

    @property
    def high(self):
        """Upper end of the 95 % interval."""
        return self.mean + self.half_width

    def is_above(self, value):
        """Whether the whole interval lies above the value."""
        return bool(self.low > value)

    def is_below(self, value):
        """Whether the whole interval lies below the value."""
        return bool(self.high < value)

    def is_within(self, width):
        """Whether the whole interval lies in [-width, width]: a small difference, and known to be small."""
        return bool(-width <= self.low and self.high <= width)

    def __str__(self):
        return f"{self.mean:.3g} (s.e. {self.se:.1g}, n = {self.n})"


def estimate(values):
    """Return the mean of independent values; for a paired comparison pass the differences."""
    values = np.asarray(values, dtype=float)
    n = values.size
    return Estimate(float(values.mean()), float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.inf, n)


def all_above_zero(differences, at=None):
    """Return whether every estimated difference is surely positive, and in words how many are; `at` names each."""
    differences = list(differences)
    names = [""] * len(differences) if at is None else [f" at {name}" for name in at]
    sure = sum(d.is_above(0) for d in differences)
    least, name = min(zip(differences, names, strict=True), key=lambda pair: pair[0].mean)
    return sure == len(differences), f"{sure} of {len(differences)} are, the smallest being {least}{name}"


def summary(frame, by, value):
    """Return mean, standard error, 95 % interval and number of repetitions of a column, for each group."""
    groups = {key: estimate(part) for key, part in frame.groupby(by, sort=True)[value]}
    rows = [(*np.atleast_1d(np.array(k, dtype=object)), e.mean, e.se, e.low, e.high, e.n) for k, e in groups.items()]
    return pd.DataFrame(rows, columns=[*np.atleast_1d(by), "mean", "se", "low", "high", "n"])


def side_by_side(means, rows, columns):
    """Return a summary as a table to be read: "mean ± standard error" in each cell, groups in columns."""
    cells = [f"{mean:.3f} ± {se:.3f}" for mean, se in zip(means["mean"], means["se"], strict=True)]
    names = means[columns].astype(str).agg(", ".join, axis=1)
    table = means.assign(cell=cells, column=names).pivot_table(
        index=rows, columns="column", values="cell", aggfunc="first", sort=False
    )
    return table.rename_axis(columns=None).reset_index()
