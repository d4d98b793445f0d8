"""Venuto & Hocking, Fig. 4: test error against the number of pairs, three norms and sushi.

Points are uniform on [-3, 3]^2, r is a squared norm, and a pair is tied if its noisy difference is at most 1
(sigma = 1/4). Half of the pairs are ties. The machines learn from n pairs, a 10 x 10 grid of C (10^-3 to 10^3) and of
the Gaussian kernel's gamma (2^-7 to 2^4) is judged by the zero-one loss on n validation pairs, and the chosen
machine is tested once. For each repetition everything is drawn anew, and the three machines share the draw. Test
sets have 10,000 pairs (the paper: n). Sushi has 14 standardised features and 2,000 test pairs. It is paired twice: as
in the paper (ratings sorted by score, then by id, and neighbours paired), and with equal scores in random order,
because ids follow popularity and tell of the label. Predicting a tie always has error 1/2.
"""

import pandas as pd

from ._report import Check, Claim, Picture, Report, Table
from ._statistics import all_above_zero, estimate, summary
from ._style import curve, panels
from ._venuto import GRID, LABELS, MACHINES, NAMES, NORMS, QUICK_GRID, TITLES, choose, draw, truth

SIZES = (50, 100, 200, 400, 800)
CLOSE = 0.02  # as good as the truth: surely within this


def run(quick, track):
    """Return the report."""
    sizes, repetitions, grid = ((50, 100), 2, QUICK_GRID) if quick else (SIZES, 10, GRID)
    work = [(task, n, seed) for task in TITLES for seed in range(repetitions) for n in sizes]
    errors = pd.DataFrame([one_draw(*point, grid) for point in track(work, "draws")])
    long = errors.melt(["task", "pairs", "draw"], var_name="machine", value_name="error").dropna()
    means = summary(long, ["task", "machine", "pairs"], "error")
    claims = [claim(task, errors[errors.task == task], repetitions) for task in TITLES]
    tables = (
        Table("means", "Test error: mean, standard error and 95 % interval", means),
        Table("draws", "Test error of every draw", errors),
    )
    caption = f"Test error (zero-one loss) against training pairs: mean of {repetitions} draws and 95 % intervals"
    return Report(
        "Learning to compare: test error",
        "Venuto & Hocking, sections 4.1 and 4.2",
        tuple(claims),
        tables,
        (Picture("fig_4", caption, plot(means)),),
    )


def one_draw(task, n, seed, grid):
    """Return the test errors of the three machines, and of the truth where it is known, on one draw."""
    train, validation, test = draw(task, n, 0.5, seed)
    row = {"task": task, "pairs": n, "draw": seed}
    for machine in MACHINES:
        model = choose(machine, train, validation, lambda model, data: model.score(data.X, data.y), grid)
        row[machine] = 1 - model.score(test.X, test.y)
    return row | ({"truth": truth(test)} if task in NORMS else {})


def claim(task, errors, repetitions):
    """Return what the paper says of one panel."""
    first, last = (errors[errors.pairs == n] for n in (errors.pairs.min(), errors.pairs.max()))
    falls = [estimate(first[m].to_numpy() - last[m].to_numpy()) for m in MACHINES]
    checks = [
        Check("each machine's error falls from the smallest to the largest n", *all_above_zero(falls)),
        lower("rank2", "rank", errors),
        lower("compare", "rank", errors),
        lower("compare", "rank2", errors),
    ]
    if task == "l2":
        apart = estimate(last["compare"] - last["truth"])
        checks.append(
            Check(f"compare is within {CLOSE} of the truth at the largest n", apart.is_within(CLOSE), str(apart))
        )
    if task == "sushi_random":
        gain = estimate(0.5 - last["compare"])
        checks.append(Check("compare beats 'always a tie' (1/2) at the largest n", gain.is_above(0), str(gain)))
    return Claim(f"Fig. 4, {NAMES[task]}", SAYS[task], tuple(checks), repetitions, NOTES.get(task, ""))


def lower(good, bad, errors):
    """Return the check that one machine's error, averaged over the sizes, is surely lower; in numbers also by size."""
    gain = estimate((errors[bad] - errors[good]).groupby(errors["draw"]).mean())
    sizes = [str(n) for n, part in errors.groupby("pairs") if estimate(part[bad] - part[good]).is_above(0)]
    at = f"surely at n = {', '.join(sizes)}" if sizes else "at no single n surely"
    return Check(f"{good} has lower error than {bad}, averaged over n", gain.is_above(0), f"{gain}; {at}")


SAYS = dict.fromkeys(
    NORMS, "Test errors fall with n; rank has the highest error, rank2 comes next, compare is the best."
) | {
    "l2": "Errors fall with n; rank is the worst, then rank2, compare is the best, and as good as the true ranking.",
    "sushi": "The machines are ordered as in the simulations: rank worst, rank2 better, compare best.",
    "sushi_random": "The same claim, on pairs whose making tells nothing of the label (not in the paper).",
}
NOTES = {
    "sushi": "These pairs leak: among equal scores neighbours in id are paired, and ids follow popularity.",
}


def plot(means):
    """Return one panel for each task."""
    figure, axes = panels(len(TITLES), width=3.1, sharey=True)
    for ax, (task, title) in zip(axes, TITLES.items(), strict=True):
        for k, (name, label) in enumerate((LABELS | {"truth": "true r, tie width 1"}).items()):
            part = means[(means.task == task) & (means.machine == name)]
            if len(part):
                curve(ax, part.pairs, part["mean"], part.low, part.high, k=k, label=label)
        ax.axhline(0.5, color="0.6", linewidth=0.8)
        ax.set(title=title, xscale="log", xlabel="training pairs, n", ylabel="test error", ylim=(0, 0.6))
        ax.set_xticks(sorted(means.pairs.unique()), sorted(means.pairs.unique()))
        ax.minorticks_off()
    axes[0].legend(fontsize="small")
    return figure
