"""Votes of people on answers of language models."""

import json

import numpy as np
from sklearn.utils import Bunch

from ._files import read_file
from ._tables import read_columns


def fetch_llm_votes(*, data_home=None, download_if_missing=False):
    """Load 8,931 votes of people on answers of 59 language models to 13 prompts (LLMFAO, CC BY 4.0).

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds `llmfao/`; see :func:`get_data_home`.
    download_if_missing : bool, default=False
        Fetch missing files from their repository, and keep them in the folder.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `index` (8931, 2) the two models of a vote, `y` (8931,) +1 the first one won, 0 a tie, -1 the second;
        `models`, 59 sorted names that `index` counts; `prompt`, `worker` (8931,) their numbers; `pair` (8931,),
        which of the 2,139 pairs of answers was shown; `answers`, 2,139 pairs of texts; `prompts`, texts by number.

    """
    options = {"data_home": data_home, "download_if_missing": download_if_missing}
    votes = read_columns("llmfao/crowd-comparisons.csv", **options)
    models = sorted({*votes["left"], *votes["right"]})
    code = {name: k for k, name in enumerate(models)}
    shown = {row["id"]: row for row in _records("llmfao/pairs-crowd.jsonl", options)}
    outcome = {"left": 1, "tie": 0, "right": -1}
    number = {key: np.array(votes[key], dtype=np.int64) for key in ("id", "prompt", "worker")}
    return Bunch(
        index=np.array([[code[a], code[b]] for a, b in zip(votes["left"], votes["right"], strict=True)]),
        y=np.array([outcome[w] for w in votes["winner"]]),
        models=models,
        prompt=number["prompt"],
        worker=number["worker"],
        pair=np.searchsorted(sorted(shown), number["id"]),
        answers=[(shown[k]["result_x"], shown[k]["result_y"]) for k in sorted(shown)],
        prompts={row["id"]: row["text"] for row in _records("llmfao/prompts.jsonl", options)},
    )


def _records(path, options):
    """Return the objects of a file with one JSON text a line."""
    return [json.loads(line) for line in read_file(path, **options).decode("utf-8").splitlines()]
