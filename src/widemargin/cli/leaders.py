"""A leaderboard from a file of votes, and the pairs to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..active import suggest_pairs
from ..pairs import Pairs
from ..plotting import LeaderboardDisplay
from ..plotting._axes import pyplot
from ..uncertainty import leaderboard
from . import learn, show
from .inputs import as_pairs, items_frame
from .tables import DataError, is_sparse, numbers

LOSS = "squared_hinge"  # the hinge gives many items of a leaderboard one and the same utility


@dataclass(frozen=True)
class Leaders:
    """Items from best to worst, and what to ask next."""

    columns: dict
    ask: list
    tie_width: float
    level: float
    C: float

    def facts(self):
        """Return everything, for machines."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True)]
        return {"C": self.C, "tie_width": self.tie_width, "level": self.level, "items": rows, "ask_next": self.ask}

    def text(self):
        """Return the leaderboard and the next pairs, for people."""
        at, digits = self.columns, _digits(self.columns["utility"])
        rows = [("rank", "item", "utility", f"{self.level:.0%} interval", "ranks", "won", "tied", "lost")]
        for k in range(len(at["item"])):
            interval = f"{at['lower'][k]:+.{digits}f} to {at['upper'][k]:+.{digits}f}"
            ranks = f"{at['rank_low'][k]:g} to {at['rank_high'][k]:g}"
            counts = (f"{at[name][k]:g}" for name in ("wins", "ties", "losses"))
            rows.append(
                (f"{at['rank'][k]}", str(at["item"][k]), f"{at['utility'][k]:+.{digits}f}", interval, ranks, *counts)
            )
        text = show.table(rows, right=(0, 2, 5, 6, 7))
        text += f"\nC = {self.C:g}. "
        if not np.any(at["ties"]):
            text += "No vote was a tie.\n"
        elif self.tie_width > 0:
            text += f"Utilities that differ by at most {self.tie_width:.3g} are predicted to tie.\n"
        else:
            text += "No difference is so small that a tie is predicted.\n"
        if self.ask:
            text += "Ask next: " + "; ".join(f"{a} or {b}" for a, b in self.ask) + "\n"
        return text

    def draw(self, path):
        """Write the leaderboard as a picture."""
        display = LeaderboardDisplay.from_frame(_Frame(self.columns), tie_width=self.tie_width, level=self.level)
        display.figure_.savefig(path, dpi=150)
        show.note(f"wrote {path}")


def check_picture(path):
    """Refuse, before any work, a picture that cannot be drawn."""
    known = sorted(pyplot().FigureCanvasBase.get_supported_filetypes())
    if Path(path).suffix[1:].lower() not in known:
        raise DataError(f"{path}: expected a name that ends in a kind of picture: .{', .'.join(known)}.")


def _digits(utility):
    """Return how many decimals show three digits of the largest utility."""
    largest = float(np.max(np.abs(utility)))
    return int(np.clip(2 - np.floor(np.log10(largest)), 1, 12)) if largest > 0 else 1


class _Frame(dict):
    """Columns by name, as a frame has them."""

    @property
    def columns(self):
        """Return the names."""
        return list(self)


def leaders(data, items, votes, *, drop, C, level, n_bootstrap, n_ask, progress):
    """Learn from a file of votes; return the leaderboard."""
    table = None if items is None else items_frame(items, drop=drop)
    pairs, y = as_pairs(data, votes, table)
    names = [str(name) for name in pairs.names]
    if not is_sparse(pairs.items):
        pairs = Pairs(pairs.items if table is None else numbers(items, pairs.items, others=None), pairs.index)
    how = {"C": C, "folds": 5, "scale": table is not None, "progress": progress}
    model, _ = learn.fit_pairs(pairs, y, loss=LOSS, **how)
    board = leaderboard(
        model,
        pairs,
        y,
        names=names,
        n_boot=n_bootstrap,
        level=level,
        random_state=0,
        output="default",
        progress=lambda resamples: progress(resamples, "bootstrap", n_bootstrap),
    )
    asked = suggest_pairs(model, pairs.items, n_ask, asked=pairs, repeat=True, random_state=0) if n_ask else []
    return Leaders(
        columns=board,
        ask=[(names[i], names[j]) for i, j in np.asarray(asked).tolist()],
        tie_width=model[-1].tie_width_,
        level=level,
        C=float(model[-1].C),
    )
