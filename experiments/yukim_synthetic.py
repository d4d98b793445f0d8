"""Yu & Kim, Figs 7, 8 and 9: accuracy, training time and number of vectors of the RVM and the ranking SVM, m = 40..200.

Points are uniform in [0, 1]^5 and F*(x) = w.x or exp(-||w - x||^2) orders them, w being uniform as well. The machines
learn from the order of m points; accuracy is the share of pairs of 1,000 new points in the right order (the paper has
50, which only adds noise). The paper takes, of eleven values of C, the one that is best *on the test points*: we choose
among 0.1, 10 and 1,000 on 50 other points. The RBF kernel has the gamma of F*. A third setting has w of both signs,
which the paper does not look at. "Vectors" of the ranking SVM are the points that occur in a support pair, as in the
paper's Table 2; the pairs are in the table. Seconds are processor time of the fit with the chosen C.
"""

from itertools import product

import numpy as np

from . import _yukim
from ._report import Check, Claim, Picture, Report, Table
from ._statistics import all_above_zero, estimate, summary

CS = (0.1, 10.0, 1e3)
KERNELS = "linear", "rbf"
WITH = "with 95 % intervals over the repetitions"


def run(quick, each):
    """Return the report."""
    sizes, n = ((20, 40), 2) if quick else ((40, 80, 120, 160, 200), 30)
    points = [{"setting": s, "m": m, "repetition": r} for s, m, r in product(_yukim.SETTINGS, sizes, range(n))]
    frame = _yukim.sweep(points, CS[::2] if quick else CS, each)
    means = {v: summary(frame, ["setting", "machine", "m"], v) for v in ("accuracy", "seconds", "vectors", "pairs")}
    pictures = (
        Picture(
            "fig_7",
            f"Accuracy, {WITH}",
            draw(means["accuracy"], "share of test pairs in the right order", sharey=False),
        ),
        Picture("fig_8", f"Training time, {WITH}", draw(means["seconds"], "seconds", yscale="log")),
        Picture("fig_9", f"Number of vectors, {WITH}", draw(means["vectors"], "vectors in the model", yscale="log")),
    )
    tables = [Table(v, f"{v}, {WITH}", m.dropna(subset="mean")) for v, m in means.items()]
    claims = accuracy_claim(frame, n), time_claim(frame, n), vectors_claim(frame, n), cone_claim(frame, n)
    everything = Table("fits", "Every fit", frame)
    return Report(
        "RVM and ranking SVM up to m = 200", "Yu & Kim, section 5.3.1", claims, (*tables, everything), pictures
    )


def draw(means, ylabel, **axes):
    """Return the panels of one measure."""
    return _yukim.plot(means, "m", "training points, m", ylabel, **axes)


def ends(frame):
    """Return the smallest and the largest m."""
    return frame.m.min(), frame.m.max()


def accuracy_claim(frame, n):
    """The SVM is better for small m, as good for large m."""
    small, large = (
        {s: estimate(d) for s, d in _yukim.paired(frame, "accuracy", KERNELS, m).items()} for m in ends(frame)
    )
    checks = [
        Check(f"{s}: the SVM is better at m = {frame.m.min()}", e.is_above(0), f"by {e}") for s, e in small.items()
    ]
    checks += [Check(f"{s}: within 0.01 at m = {frame.m.max()}", e.is_within(0.01), str(e)) for s, e in large.items()]
    says = "The ranking SVM is more accurate for small m; the difference becomes trivial as m grows."
    return Claim("Fig. 7", says, tuple(checks), n)


def time_claim(frame, n):
    """The RVM is slower for the linear kernel, faster for the RBF kernel."""
    ratio = frame.assign(log=np.log(frame.seconds))
    logs = _yukim.paired(ratio, "log", KERNELS, frame.m.max())
    linear, rbf = (estimate(logs[s]) for s in KERNELS)
    words = "SVM / RVM = {:.2g} (geometric mean; ln {})"
    checks = (
        Check("linear: the SVM trains faster", linear.is_below(0), words.format(np.exp(linear.mean), linear)),
        Check("RBF: the RVM trains faster", rbf.is_above(0), words.format(np.exp(rbf.mean), rbf)),
    )
    says = f"At m = {frame.m.max()}, SVM-light trains faster with a linear kernel, the RVM with an RBF kernel."
    note = "The paper compares SVM-light with CPLEX, we compare our own two solvers: neither is the paper's."
    return Claim("Fig. 8", says, checks, n, note)


def vectors_claim(frame, n):
    """The RVM needs fewer vectors, by orders of magnitude."""
    points = [
        estimate(d) for m in sorted(frame.m.unique()) for d in _yukim.paired(frame, "vectors", KERNELS, m).values()
    ]
    last = frame[(frame.m == frame.m.max()) & frame.setting.isin(KERNELS)]
    mean = last.groupby(["setting", "machine"])[["vectors", "pairs"]].mean()
    of = {s: (mean.loc[(s, "svm")], mean.loc[(s, "positive"), "vectors"]) for s in KERNELS}
    words = "{}: {:.0f} pairs of {:.0f} points against {:.1f}"
    told = "; ".join(words.format(s, svm.pairs, svm.vectors, rvm) for s, (svm, rvm) in of.items())
    checks = (
        Check("fewer vectors than the SVM has points, for each kernel and m", *all_above_zero(points)),
        Check("a hundredth of the SVM's points, or less, at the largest m", is_hundredth(of, "vectors"), told),
        Check("a hundredth of the SVM's support pairs, or less", is_hundredth(of, "pairs"), told),
    )
    says = "The RVM needs far fewer vectors, by multiple orders of magnitude."
    return Claim("Fig. 9", says, checks, n)


def is_hundredth(of, what):
    """Whether the RVM's vectors are at most a hundredth of what the SVM has, for each kernel."""
    return all(100 * rvm <= svm[what] for svm, rvm in of.values())


def cone_claim(frame, n):
    """Positive coefficients are a cone."""
    at = frame.m.max()
    lost = estimate(_yukim.paired(frame, "accuracy", ["mixed"], at)["mixed"])
    signed = estimate(_yukim.paired(frame, "accuracy", ["mixed"], at, worse="signed")["mixed"])
    checks = (
        Check("positive RVM: within 0.01 of the SVM", lost.is_within(0.01), f"SVM - RVM = {lost}"),
        Check("signed RVM: within 0.01 of the SVM", signed.is_within(0.01), f"SVM - RVM = {signed}"),
    )
    says = "An RVM is as accurate as the SVM: does it hold for a linear order whose w has both signs?"
    note = (
        "With alpha >= 0 and points in [0, 1]^5 a linear kernel can express w >= 0 only. Signed coefficients repair it."
    )
    return Claim("Fig. 7, beyond the paper", says, checks, n, note)
