"""Does asking the pairs of `suggest_pairs` teach more than asking at random? `python -m benchmarks.asking --help`.

A voter with a known utility answers pairs, with noise and ties: P(win) = sigmoid(a d - t). Each strategy starts from
the same ten random pairs and asks ten more a round; after each round `ComparisonSVM` is fitted and judged by the share
of all pairs of items that it orders as the true utility does. `doubt` asks the pairs of the smallest difference of
utilities, which is what most people would try first. Differences are within repetitions: same items, same first pairs.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from widemargin import ComparisonSVM, Pairs
from widemargin.active import suggest_pairs

BATCH = 10
TIE = 0.3  # t: a voter who sees no difference in utility ties with probability tanh(t / 2)
STRATEGIES = ("random", "doubt", "suggested")


def features(rng):
    """100 items, utility linear in 10 features."""
    X = rng.normal(size=(100, 10))
    return X, X @ rng.normal(size=10), ComparisonSVM(ties="threshold")


def identity(rng):
    """30 items without features."""
    return np.eye(30), rng.normal(size=30), ComparisonSVM(ties="threshold")


def kernel(rng):
    """80 items, a curved utility of 2 features, rbf kernel."""
    X = rng.uniform(-2.0, 2.0, size=(80, 2))
    return X, np.sin(1.5 * X[:, 0]) + 0.5 * X[:, 1] ** 2, ComparisonSVM(ties="threshold", kernel="rbf", gamma=0.5)


def both_ways(rng):
    """The first again, with ties in both directions in the objective."""
    X, u, _ = features(rng)
    return X, u, ComparisonSVM(ties="both_ways")


WORKLOADS = {f.__name__: f for f in (features, identity, kernel, both_ways)}


def answers(u, index, slope, rng):
    """Return what the voter says about the pairs: +1, 0, -1."""
    d = slope * (u[index[:, 0]] - u[index[:, 1]])
    draw = rng.logistic(size=len(d))  # the cumulative logistic model, drawn by its latent variable
    return (d + draw > TIE).astype(int) - (d + draw < -TIE)


def next_pairs(strategy, model, X, every, index, rng):
    """Return the pairs that a strategy asks."""
    if strategy == "random":
        return every[rng.choice(len(every), BATCH, replace=False)]
    if strategy == "doubt":
        d = model.decision_function(Pairs(X, every))
        new = ~np.isin(every @ [len(X), 1], np.sort(index, axis=1) @ [len(X), 1])
        return every[np.argsort(np.where(new, np.abs(d), np.inf), kind="stable")[:BATCH]]
    return suggest_pairs(model, X, BATCH, asked=index, random_state=int(rng.integers(2**31)))


def curve(workload, strategy, seed, *, n_rounds, slope):
    """Return the share of pairs ordered right after each round."""
    rng = np.random.default_rng(seed)
    X, u, model = WORKLOADS[workload](rng)
    u = u / u.std()
    every = np.column_stack(np.triu_indices(len(X), 1))
    index = every[rng.choice(len(every), BATCH, replace=False)]
    y = answers(u, index, slope, rng)
    while not np.any(y):  # only ties: no utility to begin with
        y = answers(u, index, slope, rng)
    right = []
    for _ in range(n_rounds):
        model.fit(Pairs(X, index), y)
        learned = model.utility(X)
        right.append(np.mean(np.sign(np.subtract(*learned[every.T])) == np.sign(np.subtract(*u[every.T]))))
        new = next_pairs(strategy, model, X, every, index, rng)
        index, y = np.vstack([index, new]), np.concatenate([y, answers(u, new, slope, rng)])
    return np.array(right)


def compare(workload, *, n_repeats, n_rounds=12, slope=2.0, strategies=STRATEGIES):
    """Return curves (n_repeats, n_rounds) of each strategy."""
    return {
        strategy: np.array([curve(workload, strategy, r, n_rounds=n_rounds, slope=slope) for r in range(n_repeats)])
        for strategy in strategies
    }


def table(results, rounds):
    """Yield the lines of a Markdown table: shares, and the gain over random asking with its standard error."""
    yield "| workload | asked by | " + " | ".join(f"{BATCH * (k + 1)} votes" for k in rounds) + " |"
    yield "|---" * (2 + len(rounds)) + "|"
    for workload, curves in results.items():
        for strategy, found in curves.items():
            gain = found - curves["random"]
            error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
            cells = [f"{found[:, k].mean():.3f}" for k in rounds]
            if strategy != "random":
                cells = [f"{c} ({gain[:, k].mean():+.3f} ± {error[k]:.3f})" for c, k in zip(cells, rounds, strict=True)]
            yield f"| {workload} | {strategy} | " + " | ".join(cells) + " |"


def main(arguments=None):
    """Run the comparison and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50, help="repetitions of each workload")
    parser.add_argument("--slope", type=float, default=2.0, help="how decided the voter is")
    parser.add_argument("--out", type=Path, help="write the table into a file too")
    options = parser.parse_args(arguments)
    results = {w: compare(w, n_repeats=options.repeats, slope=options.slope) for w in WORKLOADS}
    text = "\n".join(table(results, (1, 3, 5, 8, 11))) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
