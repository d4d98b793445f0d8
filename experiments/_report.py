"""What an experiment hands back: claims with checks, tables, pictures. All frozen."""

from dataclasses import asdict, dataclass
from enum import StrEnum

import pandas as pd
from matplotlib.figure import Figure


class Verdict(StrEnum):
    """What became of a claim."""

    HELD = "held"
    IN_PART = "held in part"
    FAILED = "did not hold"


@dataclass(frozen=True)
class Check:
    """One testable part of a claim: what must be so, whether it was, and the numbers that say so."""

    what: str
    holds: bool
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A paper's claim in our words. It held if all its checks hold, in part if some do."""

    item: str  # where the paper makes it: "Fig. 2"
    says: str
    checks: tuple[Check, ...]
    repetitions: int
    note: str = ""  # where our setting differs from the paper's, or why the claim fails

    @property
    def verdict(self):
        """The verdict that the checks carry."""
        held = [check.holds for check in self.checks]
        return Verdict.HELD if all(held) else Verdict.IN_PART if any(held) else Verdict.FAILED

    def record(self):
        """Return the claim as JSON can hold it."""
        plain = asdict(self) | {"verdict": str(self.verdict)}
        plain["checks"] = [check | {"holds": bool(check["holds"])} for check in plain["checks"]]
        return plain


@dataclass(frozen=True)
class Table:
    """A frame that is saved as CSV, and shown on the page where it is short."""

    name: str
    caption: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Picture:
    """A figure that is saved as PNG and SVG."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Report:
    """All that an experiment found."""

    title: str
    paper: str  # authors, and the section: "Herbrich, Graepel, Obermayer, section 4.1"
    claims: tuple[Claim, ...]
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()

    def record(self):
        """Return all but the frames and figures, as JSON can hold it."""
        return {
            "title": self.title,
            "paper": self.paper,
            "claims": [claim.record() for claim in self.claims],
            "tables": [[t.name, t.caption] for t in self.tables],
            "pictures": [[p.name, p.caption] for p in self.pictures],
        }
