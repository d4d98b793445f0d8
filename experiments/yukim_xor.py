"""Yu & Kim, Figs 4 and 5, equations (45)-(51): the XOR problem by hand and by machine.

Four points, the kernel (1 + x.z)^2, a hard margin. The paper solves the dual by hand: alpha = 1/8 for every point, the
dual's value 1/4, w = (0, 0, -1/sqrt 2, 0, 0, 0) in the six features of (47), decision function -x1 x2. (48) is
misprinted (9 alpha_3 and alpha_4^2 should be 9 alpha_3^2 and 9 alpha_4^2), and the sentence after (51) has the two
outputs exchanged.
"""

import numpy as np

from widemargin import MarginClassifier
from widemargin.datasets import make_xor

from ._report import Check, Claim, Picture, Report
from ._style import COLOURS, panels

EXACT = 1e-6
CAPTION = (
    "Left: the four points (Fig. 4) and the learnt decision function, f = 0 full, f = -1 and f = 1 dashed. Right: "
    "their images in two of the six features of (47) (Fig. 5), where one line separates them"
)


def run(quick, each):  # noqa: ARG001 -- nothing to wait for
    """Return the report."""
    data = make_xor()
    model = MarginClassifier(C=np.inf, tol=1e-10, **data.kernel).fit(data.X, data.y)
    picture = Picture("fig_4_5", CAPTION, plot(model, data))
    claims = solution_claim(model, data), misprint_claim(data), sentence_claim(model)
    return Report("The XOR problem", "Yu & Kim, section 2.3.1", claims, pictures=(picture,))


def features(X):
    """Return the six features of (47)."""
    one, root = np.ones(len(X)), np.sqrt(2)
    return np.column_stack([one, X[:, 0] ** 2, root * X[:, 0] * X[:, 1], X[:, 1] ** 2, root * X[:, 0], root * X[:, 1]])


def solution_claim(model, data):
    """The numbers of (49)-(51)."""
    alpha = np.zeros(4)
    alpha[model.support_] = np.ravel(model.dual_coef_)
    w = features(data.X).T @ alpha
    grid = np.random.default_rng(0).uniform(-2, 2, size=(500, 2))
    off = {
        "the kernel (45) is the product of the features (47)": np.abs(
            (1 + data.X @ data.X.T) ** 2 - features(data.X) @ features(data.X).T
        ).max(),
        "alpha = 1/8 for all four points, all are support vectors": np.abs(np.abs(alpha) - 1 / 8).max(),
        "the optimum, 1/2 ||w||^2, is 1/4": abs(model.objective_ - 1 / 4),
        "w = (0, 0, -1/sqrt 2, 0, 0, 0), (49)": np.abs(w - [0, 0, -np.sqrt(0.5), 0, 0, 0]).max(),
        "f(x) = -x1 x2 everywhere, without bias, (51)": np.abs(
            model.decision_function(grid) + grid[:, 0] * grid[:, 1]
        ).max(),
    }
    checks = tuple(Check(what, value <= EXACT, f"off by {value:.1g}") for what, value in off.items())
    return Claim("Figs 4 and 5, (45)-(51)", "The solution of the XOR problem in closed form.", checks, 1)


def misprint_claim(data):
    """(48), as printed and corrected."""
    a = np.full(4, 1 / 8)
    Q = (1 + data.X @ data.X.T) ** 2 * np.outer(data.y, data.y)
    squares = {"as printed": 9 * a[0] ** 2 + 9 * a[1] ** 2 + 9 * a[2] + a[3] ** 2, "corrected": a @ (Q * np.eye(4)) @ a}
    cross = a @ (Q * (1 - np.eye(4))) @ a
    value = {how: a.sum() - (squares[how] + cross) / 2 for how in squares}
    checks = tuple(Check(f"{how} it gives 1/4", abs(v - 0.25) <= EXACT, f"{v:.4g}") for how, v in value.items())
    return Claim("(48)", "The dual's value at alpha = 1/8 is 1/4.", checks, 1)


def sentence_claim(model):
    """The outputs, as the text after (51) has them."""
    equal, different = model.decision_function([[1.0, 1.0], [1.0, -1.0]])
    check = Check("f > 0 for x1 = x2", equal > 0, f"f(1, 1) = {equal:.3g}, f(1, -1) = {different:.3g}")
    says = "The output is y = 1 where x1 = x2 and y = -1 where they differ."
    return Claim("The sentence after (51)", says, (check,), 1, "Table 1 and (51) have it the other way round.")


def plot(model, data):
    """Return the points in the plane and in feature space."""
    figure, (left, right) = panels(2)
    axis = np.linspace(-2, 2, 161)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    f = model.decision_function(grid).reshape(161, 161)
    left.contour(axis, axis, f, levels=[-1, 0, 1], colors="0.4", linestyles=["--", "-", "--"])
    images = features(data.X)[:, [4, 2]]
    for label, marker, colour in ((1, "^", COLOURS[1]), (-1, "o", COLOURS[0])):
        for ax, points in ((left, data.X), (right, images)):
            ax.plot(*points[data.y == label].T, marker, color=colour, markersize=9, label=f"y = {label:+d}")
    right.axhline(0, color="0.4")
    for level in (-np.sqrt(2), np.sqrt(2)):
        right.axhline(level, color="0.4", linestyle="--")
    left.set(xlabel="x1", ylabel="x2", title="input space", aspect="equal")
    right.set(xlabel="sqrt(2) x1", ylabel="sqrt(2) x1 x2", title="feature space", aspect="equal")
    right.set(xlim=(-2, 2), ylim=(-2, 2))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure
