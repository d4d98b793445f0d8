"""The mathematics: comparisons, risks, maps, solvers, rules. Imports numpy and scipy only."""
