"""Why claims failed, wholly or in part: our reading of the results, written after the run that they stand on."""

REASONS = {  # (experiment, item): sentences
    ("herbrich_learning_curves", "Fig. 2, 0.125 is the variance"): (
        "Against classes the only exception is 5 points, one of each rank, whose order is mostly noise. Regression "
        "is a little ahead from 10 to 25 points: its cuts are given, those of the ordinal machine have to be "
        "learnt. From 30 points on the curves coincide, as in the paper."
    ),
    ("herbrich_learning_curves", "Fig. 2, 0.125 is the standard deviation"): (
        "With so little noise the given cuts of regression are in its way: true ranks are not equally wide, so it "
        "levels off where the ordinal machine still learns. The paper's curves coincide, which speaks for the "
        "variance."
    ),
    ("herbrich_relevance_feedback", "Fig. 3 (a) query 1, seven words"): (
        "The ranks are hardly better than chance for either machine, so that there is little to be ahead in. The "
        "utility itself does learn (0.41 to 0.44 wrong), but two cuts found on a handful of documents throw that "
        "away: most pairs end in the same rank, which counts as an error. The paper's own words are not to be had."
    ),
    ("herbrich_relevance_feedback", "Fig. 3 (b) query 1, 45 features"): (
        "The ordinal machine is ahead at every number of documents, but both are worse than ranks drawn at random. "
        "Even the utility barely learns (0.48 to 0.50 wrong): for this query the features say little. Two cuts "
        "found on a handful of documents then put most pairs into the same rank, which counts as an error."
    ),
    ("herbrich_relevance_feedback", "Fig. 3 (c) all queries, 45 features"): (
        "The ordinal machine is ahead at every number of documents, at a level where ranks drawn at random are as "
        "good. The utility does learn (0.43 to 0.45 wrong), but two cuts found on a handful of documents put most "
        "pairs into the same rank, which counts as an error; more documents hardly help."
    ),
    ("pelckmans_warehouse", "Fig. 1"): (
        "Curves do differ by nearly constant factors, of two to three and of one and a half. These are not the "
        "lemma's: a bound on the worst f says nothing of the one that is learnt, and the printed factors would make "
        "2 products as telling as 50."
    ),
    ("pelckmans_warehouse", "Lemma 1, as printed"): (
        "Its proof turns a power into a sum of logarithms. Most models learnt from n = 2 are counterexamples."
    ),
    ("today_choices", "Swissmetro"): (
        "People choose with much noise, and a slack for each set counts its worst row only, while a likelihood "
        "weighs all rows. One slack per pair is closer to the logit."
    ),
    ("today_choices", "heating"): "Every model predicts the most popular system for every household.",
    ("today_ordinal", "OrdinalSVM, RBF"): (
        "Ten sets are too few to tell: the intervals of both differences are wider than the margin. On average it "
        "has a lower error than ridge regression and the same as REDSVM."
    ),
    ("today_votes", "Votes, models"): (
        "With identity and text together the first half of the votes picked the hinge, which then did no better "
        "than Bradley-Terry: the difference is next to nothing, its interval wider than the margin. An earlier run, "
        "which picked the squared hinge on the votes that tested it, had found a lead."
    ),
    ("today_votes", "Votes, what helps"): (
        "Half of the votes make ten small test folds: both gains that failed are positive, and their intervals "
        "reach zero."
    ),
    ("today_votes", "Leaderboards"): (
        "Elo depends on the order of the votes, of which each model has a few hundred. Nine counts of the text "
        "cannot know whether an answer is right."
    ),
    ("venuto_chess", "Fig. 6, unweighted as in the paper"): (
        "Draws cancel the pull of the wins: without balanced weights the linear machine's optimum is no model at "
        "all, and the polynomial one is behind the ratings. What the paper's solver may have returned is looked "
        "into under `venuto_tiny_c`."
    ),
    ("venuto_programs", "Fig. 2"): (
        "Scaling makes features alike, not the two notions of a margin: the linear program's is in units of the tie "
        "width, the quadratic one's is a distance. In the plane a few pairs decide both, so that they often "
        "coincide."
    ),
    ("yukim_xor", "(48)"): "A misprint: two exponents are missing.",
    ("yukim_xor", "The sentence after (51)"): "The two outputs are exchanged.",
}
