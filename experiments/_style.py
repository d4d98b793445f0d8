"""One look for all figures: readable in grey and by the colour-blind (Okabe and Ito's colours, and line styles)."""

from matplotlib.figure import Figure

COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), "-"]
MARKERS = ["o", "s", "^", "D", "v", "P", "x"]

RC = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.markersize": 4,
    "savefig.dpi": 130,
    "svg.fonttype": "none",
    "svg.hashsalt": "widemargin",  # the same figure is the same file
}


BANDS = "bands: 95 % intervals of the mean"
BARS = "bars: 95 % intervals of the mean; blue: this library, orange: others"


def panels(n_columns=1, n_rows=1, *, width=4.6, height=3.6, says=None, **options):
    """Return a figure and its axes, in an array where there are several; `says` is a small line above them."""
    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    if says is not None:
        figure.suptitle(says, fontsize="small", color="0.35", x=0.995, horizontalalignment="right")
    return figure, figure.subplots(n_rows, n_columns, **options)


def look(k):
    """Return colour, line style and marker of the k-th series."""
    return {"color": COLOURS[k % 7], "linestyle": LINES[k % 7], "marker": MARKERS[k % 7]}


def curve(ax, x, mean, low=None, high=None, *, k=0, label=None):
    """Draw a curve, with the band from low to high where given."""
    ax.plot(x, mean, label=label, **look(k))
    if low is not None:
        ax.fill_between(x, low, high, color=COLOURS[k % 7], alpha=0.2, linewidth=0)


def dots(ax, means, *, of, ours, xlabel):
    """Draw mean and 95 % interval of each row of a summary on a line of its own; `ours` in another colour."""
    for place, row in enumerate(means.itertuples()):
        mine = getattr(row, of) in ours
        ax.errorbar(
            row.mean,
            place,
            xerr=row.high - row.mean,
            fmt="o" if mine else "s",
            capsize=3,
            color=COLOURS[0] if mine else COLOURS[1],
        )
    ax.set_yticks(range(len(means)), means[of])
    ax.set(xlabel=xlabel, ylabel=of)
