"""Venuto & Hocking, Figs 4 and 5: test error against the number of pairs, and AUC against the share of ties.

Points are uniform on [-3, 3]^2, r is a squared norm, and a pair is tied if its noisy difference is at most 1 (sigma =
1/4). A machine learns from n pairs of which a share rho is tied; among the paper's 10 x 10 grid of C (10^-3 to 10^3)
and of the Gaussian kernel's gamma (2^-7 to 2^4) the one with the lowest zero-one loss (Fig. 4) or the highest AUC
(Fig. 5) on n validation pairs is chosen and tested once. AUC is that of the paper's Table 3: a score of the wrong
sign is a miss, so chance is 1/4. Each repetition draws everything anew, and the machines share the draw. Test sets
have 10,000 pairs (the paper: n). Sushi has 14 standardised features and 2,000 test pairs, and is paired twice: as in
the paper (ratings sorted by score, then by id, and neighbours paired), and with equal scores in random order, because
ids follow popularity and tell of the label. Always predicting a tie has error 1/2 at rho = 1/2. Every fit is certified
to 10^-3 of its optimum.
"""

from itertools import chain

import pandas as pd

from ._report import Picture, Report, Table
from ._statistics import side_by_side, summary
from ._style import BANDS, curve, panels
from ._venuto import GRID, LABELS, QUICK_GRID, TITLES, judge
from ._venuto_claims import area_claim, error_claim, leak_claim

SIZES, SHARES, FIXED = (50, 100, 200, 400, 800), (0.1, 0.3, 0.5, 0.7, 0.9), 400  # Fig. 4's n, Fig. 5's rho and n
REPETITIONS = 6


def run(quick, each):
    """Return the report."""
    sizes, shares, n, repetitions, grid = SIZES, SHARES, FIXED, REPETITIONS, GRID
    if quick:
        sizes, shares, n, repetitions, grid = (30, 60), (0.2, 0.5), 60, 2, QUICK_GRID
    points = {(size, 0.5) for size in sizes} | {(n, share) for share in shares}
    largest_first = sorted(points, reverse=True)  # so that no process is left alone with a long one
    work = [(task, *point, number, grid) for point in largest_first for task in TITLES for number in range(repetitions)]
    return report(pd.DataFrame(chain.from_iterable(each(judge, work, "draws"))), n)


def report(frame, n):
    """Return what the draws say; n is Fig. 5's number of pairs."""
    repetitions = frame["draw"].nunique()
    by_size, by_share = frame[(frame.tie_share == 0.5) & frame.error.notna()], frame[frame.pairs == n]
    errors = summary(by_size, ["task", "machine", "pairs"], "error")
    areas = summary(by_share, ["task", "machine", "tie_share"], "auc")
    claims = [error_claim(task, by_size[by_size.task == task], repetitions) for task in TITLES]
    claims += [area_claim(task, by_share[by_share.task == task], repetitions) for task in TITLES]
    claims.append(leak_claim(by_share, repetitions))
    mean = f"mean of {repetitions} draws and 95 % intervals"
    return Report(
        "Learning to compare",
        "Venuto & Hocking, sections 4.1 and 4.2",
        tuple(claims),
        (
            Table("errors", "Fig. 4, test error", side_by_side(errors, ["task", "pairs"], ["machine"])),
            Table("areas", "Fig. 5, test AUC", side_by_side(areas, ["task", "tie_share"], ["machine"])),
            Table("draws", "Test error and AUC of every draw", frame),
        ),
        (
            Picture("fig_4", f"Test error against training pairs, rho = 1/2; {mean}", plot_errors(errors)),
            Picture("fig_5", f"Test AUC against the share of ties, n = {n}; {mean}", plot_areas(areas)),
        ),
    )


def curves(means, x, **options):
    """Return a figure with one panel for each task and one curve for each machine."""
    figure, axes = panels(len(TITLES), width=3.1, sharey=True, says=BANDS)
    for ax, (task, title) in zip(axes, TITLES.items(), strict=True):
        for k, (name, label) in enumerate(LABELS.items()):
            part = means[(means.task == task) & (means.machine == name)]
            if len(part):
                curve(ax, part[x], part["mean"], part.low, part.high, k=k, label=label)
        ax.set(title=title, **options)
    return figure, axes


def with_legend(figure, axes):
    """Return the figure with one legend for all panels."""
    shown = {text: line for ax in axes for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=len(shown))
    return figure


def plot_errors(means):
    """Return test error against n; the grey line is 'always a tie'."""
    labels = {"xlabel": "training pairs, n", "ylabel": "test error (zero-one loss)"}
    figure, axes = curves(means, "pairs", xscale="log", ylim=(0, 0.65), **labels)
    for ax in axes:
        ax.axhline(0.5, color="0.6", linewidth=1, label="always a tie")
        ax.set_xticks(sorted(means.pairs.unique()), sorted(means.pairs.unique()))
        ax.minorticks_off()
    return with_legend(figure, axes)


def plot_areas(means):
    """Return test AUC against rho; the grey line is chance."""
    labels = {"xlabel": r"share of ties, $\rho$", "ylabel": "test AUC (chance is 1/4)"}
    figure, axes = curves(means, "tie_share", ylim=(0, 1.02), **labels)
    for ax in axes:
        ax.axhline(0.25, color="0.6", linewidth=1, label="chance")
    return with_legend(figure, axes)
