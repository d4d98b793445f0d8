"""Yu & Kim, section 5.3.1: "Ranking SVMs run intolerably slow on data sets larger than 200". On to m = 5,000.

The data of Fig. 7, C = 0.1 (a run with C = 10 was stopped: the RVMs took too long at m = 5,000). The ranking SVM
learns from all m (m - 1) / 2 pairs, 12.5 million at m = 5,000. An exact RVM costs m^3: 10 to 30 s at m = 1,000. So the
RVM compares within random blocks of 100 points (`qid`) and chooses its vectors among 100 points (`n_components`); up
to m = 200 it is shown in both ways. Seconds are processor time, one thread.
"""

import time
from itertools import product

import numpy as np
import pandas as pd

from widemargin.metrics import concordance

from . import _yukim
from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, side_by_side, summary
from ._style import COLOURS, curve, panels

NAMES = {
    "svm": "ranking SVM, all pairs",
    "signed": "RVM signed, blocks",
    "positive": "RVM positive, blocks",
    "exact": "RVM signed, all pairs",
}
KERNELS = {"linear": "linear", "rbf": "RBF"}
C, BLOCK = 0.1, 100


def run(quick, track):
    """Return the report."""
    sizes, n = ((20, 40), 2) if quick else ((100, 200, 500, 1000, 2000, 5000), 4)
    work = list(product(KERNELS, sizes, range(n)))
    frame = pd.DataFrame([row for point in track(work, "draws") for row in fits(*point)])
    means = {v: summary(frame, ["setting", "machine", "m"], v) for v in ("error", "seconds", "vectors")}
    caption = "Test error, training time and vectors against m, linear above, RBF below: means, and every draw (dots)"
    shown = {
        v: Table(v, f"{v}: mean ± standard error", side_by_side(m, "m", ["setting", "machine"]))
        for v, m in means.items()
    }
    tables = (*shown.values(), Table("fits", "Every fit", frame))
    return Report(
        "RVM and ranking SVM beyond m = 200",
        "Yu & Kim, section 5.3.1",
        (svm_claim(frame, n), rvm_claim(frame, n)),
        tables,
        (Picture("beyond_200", caption, plot(frame, means)),),
    )


def fits(setting, m, repetition):
    """Yield a row for each machine; the exact RVM up to m = 200."""
    train, _, test = _yukim.draw(setting, m, 1_000 + repetition)
    for name in NAMES if m <= 200 else [name for name in NAMES if name != "exact"]:
        blocks = {} if name in {"svm", "exact"} else {"n_components": BLOCK}
        model = _yukim.machine("signed" if name == "exact" else name, C=C, **_yukim.kernel_of(setting), **blocks)
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
            "vectors": _yukim.vectors("svm" if name == "svm" else "signed", model, train)["vectors"],
        }


def svm_claim(frame, n):
    """The ranking SVM is quick, and better for more points."""
    large, small, at = frame[frame.machine == "svm"], 200 if 200 in set(frame.m) else frame.m.min(), frame.m.max()
    table = large.pivot_table(index="repetition", columns=["setting", "m"], values="error")
    slow = {s: large[(large.setting == s) & (large.m == at)].seconds.max() for s in KERNELS}
    checks = [Check(f"{s}: under a minute at m = {at}", t < 60, f"{t:.1f} s, the slowest") for s, t in slow.items()]
    for s in KERNELS:
        gain = estimate(table[s, small] - table[s, at])
        checks.append(Check(f"{s}: more accurate than at m = {small}", gain.is_above(0), f"by {gain}"))
    says = "Beyond 200 points ranking SVMs are intolerably slow, says the paper. We ask: is ours, and is it worth it?"
    return Claim("The limit of 200", says, tuple(checks), n)


def rvm_claim(frame, n):
    """An RVM on blocks keeps up."""
    at, checks = frame.m.max(), []
    table = frame.pivot_table(index="repetition", columns=["setting", "machine", "m"], values="error")
    for s, name in product(KERNELS, ("signed", "positive")):
        behind = estimate(table[s, name, at] - table[s, "svm", at])
        checks.append(
            Check(f"{s}, {NAMES[name]}: within 0.01 of the SVM at m = {at}", behind.is_within(0.01), str(behind))
        )
    says = "As m grows the RVM becomes as accurate as the ranking SVM, with few vectors (Fig. 7 continued)."
    note = (
        "The points that `n_components` keeps span the others, but positive combinations of them are a narrower cone "
        "of weights: what a positive linear RVM loses, a signed one does not."
    )
    return Claim("Figs 7 and 9, continued", says, tuple(checks), n, note)


def plot(frame, means):
    """Return error, time and vectors against m for both kernels."""
    figure, axes = panels(3, 2, sharex=True, sharey="col", height=3.0)
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
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure
