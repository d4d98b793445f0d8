"""Yu & Kim, section 5.3.1: "Ranking SVMs run intolerably slow on data sets larger than 200". On to m = 5,000.

The data of Fig. 7, C = 10 / m, so that the pairs of a point weigh the same for every m. The ranking SVM learns from all
m (m - 1) / 2 pairs, 12.5 million at m = 5,000. The RVM solves the paper's problem exactly, with all pairs and every
point a candidate, as far as its time allows: signed up to m = 2,000, positive up to 1,000. Beyond, an RVM compares
within random blocks of 100 points (`qid`) and chooses its vectors among 100 points (`n_components`); that is another,
smaller problem, so it is shown under a name of its own, and for every m, to tell what it loses. Fewer repetitions where
fits are long; seconds are processor time of one thread, with a second process of the same kind on the other core.
"""

import time
from itertools import chain, product

import numpy as np
import pandas as pd

from widemargin.metrics import concordance

from . import _yukim
from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, side_by_side, summary
from ._style import COLOURS, curve, panels

NAMES = {
    "svm": "ranking SVM, all pairs",
    "signed": "RVM signed, exact, up to 2,000",
    "positive": "RVM positive, exact, up to 1,000",
    "signed_blocks": "RVM signed, 100 candidates, blocks",
    "positive_blocks": "RVM positive, 100 candidates, blocks",
}
UP_TO = {"signed": 2000, "positive": 1000}  # where an exact RVM becomes too long for this page
KERNELS = {"linear": "linear", "rbf": "RBF"}
REPETITIONS = {5000: 4, 2000: 2, 1000: 3, 500: 4, 200: 4, 100: 4}
BLOCK = 100


def run(quick, each):
    """Return the report."""
    repetitions = {40: 2, 20: 2} if quick else REPETITIONS
    work = [(s, m, r) for m, n in repetitions.items() for s in KERNELS for r in range(n)]
    frame = pd.DataFrame(chain.from_iterable(each(fits, work, "draws")))
    means = {v: summary(frame, ["setting", "machine", "m"], v) for v in ("error", "seconds", "vectors")}
    caption = (
        "Test error, training time and vectors against m, linear above, RBF below: means, and every draw (dots). The "
        "exact RVMs end where they become too long; those with 100 candidates solve a smaller problem"
    )
    shown = {
        v: Table(v, f"{v}: mean ± standard error", side_by_side(m, "m", ["setting", "machine"]))
        for v, m in means.items()
    }
    tables = (*shown.values(), Table("fits", "Every fit", frame))
    return Report(
        "RVM and ranking SVM beyond m = 200",
        "Yu & Kim, section 5.3.1",
        (svm_claim(frame), rvm_claim(frame)),
        tables,
        (Picture("beyond_200", caption, plot(frame, means)),),
    )


def fits(setting, m, repetition):
    """Yield a row for each machine; exact RVMs as far as they go."""
    train, _, test = _yukim.draw(setting, m, 1_000 + repetition)
    for name in (name for name in NAMES if m <= UP_TO.get(name, m)):
        kind, *blocks = name.split("_")
        less = {"n_components": BLOCK} if blocks else {}
        model = _yukim.machine(kind, C=10 / m, **_yukim.kernel_of(setting), **less)
        start = time.process_time()
        _yukim.fit(model, *train, qid=np.arange(m) // BLOCK if blocks else None)
        seconds = time.process_time() - start
        yield {
            "setting": setting,
            "m": m,
            "repetition": repetition,
            "machine": name,
            "error": 1 - concordance(test[1], model.predict(test[0])),
            "seconds": seconds,
            "gap": model.duality_gap_,
            "vectors": _yukim.vectors(kind, model, train)["vectors"],
        }


def svm_claim(frame):
    """The ranking SVM is quick, and better for more points."""
    large, small, at = frame[frame.machine == "svm"], 200 if 200 in set(frame.m) else frame.m.min(), frame.m.max()
    table = large.pivot_table(index="repetition", columns=["setting", "m"], values="error")
    slow = {s: large[(large.setting == s) & (large.m == at)].seconds.max() for s in KERNELS}
    checks = [Check(f"{s}: under a minute at m = {at}", t < 60, f"{t:.1f} s, the slowest") for s, t in slow.items()]
    for s in KERNELS:
        gain = estimate((table[s, small] - table[s, at]).dropna())
        checks.append(Check(f"{s}: more accurate than at m = {small}", gain.is_above(0), f"by {gain}"))
    says = "Beyond 200 points ranking SVMs are intolerably slow, says the paper. We ask: is ours, and is it worth it?"
    return Claim("The limit of 200", says, tuple(checks), gain.n)


def rvm_claim(frame):
    """An RVM keeps up, at the largest m that it was run for."""
    checks, table = [], frame.pivot_table(index="repetition", columns=["setting", "machine", "m"], values="error")
    for name, s in product([name for name in NAMES if name != "svm"], KERNELS):
        at = frame[frame.machine == name].m.max()
        behind = estimate((table[s, name, at] - table[s, "svm", at]).dropna())
        checks.append(
            Check(f"{s}, {NAMES[name]}: within 0.01 of the SVM at m = {at}", behind.is_within(0.01), str(behind))
        )
    says = "As m grows the RVM becomes as accurate as the ranking SVM, with few vectors (Fig. 7 continued)."
    note = (
        "The points that `n_components` keeps span the others, but positive combinations of them are a narrower cone "
        "of weights, so that a positive linear RVM may lose what a signed one keeps. The paper stops at m = 200, and "
        "its RVM is the positive one."
    )
    return Claim("Figs 7 and 9, continued", says, tuple(checks), min(REPETITIONS.values()), note)


def plot(frame, means):
    """Return error, time and vectors against m for both kernels."""
    figure, axes = panels(3, 2, sharex=True, sharey="col", height=3.0, says="dots: every draw; lines: means")
    labels = {
        "error": "share of test pairs in error",
        "seconds": "seconds to train",
        "vectors": "vectors in the model",
    }
    for (row, (setting, title)), (column, (value, label)) in product(
        enumerate(KERNELS.items()), enumerate(labels.items())
    ):
        ax = axes[row, column]
        for k, (name, text) in enumerate(NAMES.items()):
            part = means[value][(means[value].setting == setting) & (means[value].machine == name)]
            curve(ax, part.m, part["mean"], k=k, label=text)
            every = frame[(frame.setting == setting) & (frame.machine == name)]
            ax.plot(every.m, every[value], ".", color=COLOURS[k], alpha=0.4)
        ax.set(xscale="log", yscale="log", xlabel="training points, m", ylabel=label, title=title)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
