"""Venuto & Hocking, Fig. 5: area under the ROC curve against the share of ties.

As for Fig. 4, with n = 400 pairs of which a share rho is tied, and with the AUC of telling differences from ties
(`comparison_auc`; a score of the wrong sign counts as missed, so chance is 1/4, not 1/2) in place of the zero-one
loss, on the validation pairs as on the test pairs. The truth is the utility that made the data.
"""

import pandas as pd

from widemargin.metrics import comparison_auc

from ._report import Check, Claim, Picture, Report, Table
from ._statistics import estimate, summary
from ._style import curve, panels
from ._venuto import GRID, LABELS, MACHINES, NAMES, NORMS, QUICK_GRID, TITLES, choose, draw

SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
CLOSE = 0.02  # "about the same": surely within this


def run(quick, track):
    """Return the report."""
    n, shares, repetitions, grid = (60, (0.2, 0.8), 2, QUICK_GRID) if quick else (400, SHARES, 8, GRID)
    work = [(task, n, share, seed) for task in TITLES for seed in range(repetitions) for share in shares]
    areas = pd.DataFrame([one_draw(*point, grid) for point in track(work, "draws")])
    long = areas.melt(["task", "tie_share", "draw"], var_name="machine", value_name="auc").dropna()
    means = summary(long, ["task", "machine", "tie_share"], "auc")
    tables = (
        Table("means", "Test AUC: mean, standard error and 95 % interval", means),
        Table("draws", "Test AUC of every draw", areas),
    )
    caption = f"Test AUC against the share of ties, n = {n} pairs: mean of {repetitions} draws and 95 % intervals"
    return Report(
        "Learning to compare: area under the ROC curve",
        "Venuto & Hocking, sections 4.1 and 4.2",
        tuple(claim(task, areas[areas.task == task], repetitions) for task in TITLES),
        tables,
        (Picture("fig_5", caption, plot(means)),),
    )


def auc(model, data):
    """Return the AUC of a model on some pairs."""
    return comparison_auc(data.y, model.decision_function(data.X))


def one_draw(task, n, share, seed, grid):
    """Return the test AUC of the three machines, and of the truth where it is known, on one draw."""
    train, validation, test = draw(task, n, share, seed)
    row = {"task": task, "tie_share": share, "draw": seed}
    row |= {m: auc(choose(m, train, validation, auc, grid), test) for m in MACHINES}
    if task in NORMS:
        row["truth"] = comparison_auc(test.y, test.utility[:, 0] - test.utility[:, 1])
    return row


def claim(task, areas, repetitions):
    """Return what the paper says of one panel."""
    few, many = (areas[areas.tie_share == share] for share in (areas.tie_share.min(), areas.tie_share.max()))
    if task == "l2":
        checks = [close(f"{m} is within {CLOSE} of the truth at every rho", areas, "truth", m) for m in MACHINES]
    elif task in NORMS:
        checks = [
            *(close(f"{m} is within {CLOSE} of rank with few ties", few, "rank", m) for m in ("rank2", "compare")),
            *(above(f"{m} is better than rank with many ties", many[m] - many["rank"]) for m in ("rank2", "compare")),
            close(f"compare is within {CLOSE} of rank2 at every rho", areas, "rank2", "compare"),
        ]
    else:
        pairs = (("rank", "rank2"), ("rank", "compare"), ("rank2", "compare"))
        checks = [close(f"{b} is within {CLOSE} of {a} at every rho", areas, a, b) for a, b in pairs]
    if task == "sushi_random":
        mean = areas.groupby("draw")["compare"].mean()
        checks.append(above("compare, averaged over rho, is better than chance (1/4)", mean - 0.25))
    return Claim(f"Fig. 5, {NAMES[task]}", SAYS[task], tuple(checks), repetitions)


SAYS = dict.fromkeys(
    NORMS,
    "With few ties all machines are alike, with many ties compare and rank2 clearly beat rank, and they are alike.",
) | {
    "l2": "All machines are close to the true ranking.",
    "sushi": "All machines have about the same AUC.",
    "sushi_random": "The same claim, on pairs whose making tells nothing of the label (not in the paper).",
}


def close(what, areas, a, b):
    """Return the check that two columns surely differ by little, at each share of ties."""
    apart = {share: estimate(part[b] - part[a]) for share, part in areas.groupby("tie_share")}
    far = max(apart, key=lambda share: abs(apart[share].mean))
    held = sum(e.is_within(CLOSE) for e in apart.values())
    numbers = f"{held} of {len(apart)}; the largest difference ({b} - {a}), at rho = {far}, is {apart[far]}"
    return Check(what, held == len(apart), numbers)


def above(what, gain):
    """Return the check that a paired gain is surely positive."""
    return Check(what, estimate(gain).is_above(0), str(estimate(gain)))


def plot(means):
    """Return one panel for each task."""
    figure, axes = panels(len(TITLES), width=3.1, sharey=True)
    for ax, (task, title) in zip(axes, TITLES.items(), strict=True):
        for k, (name, label) in enumerate((LABELS | {"truth": "true r"}).items()):
            part = means[(means.task == task) & (means.machine == name)]
            if len(part):
                curve(ax, part.tie_share, part["mean"], part.low, part.high, k=k, label=label)
        ax.axhline(0.25, color="0.6", linewidth=0.8)
        ax.set(title=title, xlabel=r"share of ties, $\rho$", ylabel="test AUC (chance is 1/4)", ylim=(0, 1.02))
    axes[-1].legend(fontsize="small")
    return figure
