"""Kamishima's sushi survey as comparisons: 5,000 people, ten ratings each, paired five times."""

import numpy as np
from sklearn.utils import Bunch, check_random_state

from ._files import read_file
from ._tables import read_columns

ITEM_COLUMNS = {"style": 2, "major_group": 3, "minor_group": 4, "oiliness": 5, "eaten": 6, "price": 7, "sold": 8}
PERSON_COLUMNS = {"gender": 1, "age": 2, "time": 3}
PLACES = {"childhood": 4, "current": 7}  # columns of prefectures
FEATURE_NAMES = [*ITEM_COLUMNS, *PERSON_COLUMNS, *(f"{p}_{c}" for p in PLACES for c in ("latitude", "longitude"))]


def fetch_sushi(*, break_ties="id", random_state=None, data_home=None):
    """Load the sushi preferences as 25,000 pairs with "better", "worse" or "no difference".

    Every person rated ten of 100 sushis from 0 to 4. The ten are sorted by score, ties in the score by
    `break_ties`, and neighbours are paired (first with second, third with fourth, ...). With "id" this gives the
    17,832 ties and 7,168 other pairs of [1]_. That pairing leaks: ids follow popularity, so neighbours
    within a score have similar ids and neighbours across two scores have not. "random" does not leak; the
    numbers of ties are the same.

    Parameters
    ----------
    break_ties : {"id", "random"}, default="id"
        What orders sushis with equal scores before pairing.
    random_state : int, RandomState instance or None, default=None
        For "random".
    data_home : str, path-like or None, default=None
        Folder that holds `sushi/`; see :func:`get_data_home`. The owner forbids redistribution, so there is no
        download. `sushi/prefecture_latlon.csv` (prefecture_id, name, latitude, longitude) is ours: any
        table of Japan's prefectures will do.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (25000, 2, 14): seven features of the sushi, then seven of the person, as in [1]_; `y` (25000,) 0 or
        -1: the second sushi of a pair never has the lower score; `person` (25000,), `sushi` (25000, 2) and
        `score` (25000, 2); `feature_names`, `sushi_names`.

    References
    ----------
    .. [1] D. Venuto, T. D. Hocking, S. Spanurattana, M. Sugiyama. "Support vector comparison machines".
    .. [2] T. Kamishima. "Nantonac collaborative filtering: recommendation based on order responses", 2003.
    """
    if break_ties not in {"id", "random"}:
        raise ValueError(f"break_ties={break_ties!r} is unknown; expected 'id' or 'random'.")
    scores = np.loadtxt(_lines("sushi3b.5000.10.score", data_home), dtype=np.int64)
    items = [line.split("\t") for line in _lines("sushi3.idata", data_home)]
    people = np.loadtxt(_lines("sushi3.udata", data_home))
    second_key = check_random_state(random_state).random_sample(scores.shape) if break_ties == "random" else None
    person, sushi = _neighbours(scores, second_key)
    of_items = np.array([[float(row[j]) for j in ITEM_COLUMNS.values()] for row in items])
    of_people = _person_features(people, data_home)
    X = np.concatenate([of_items[sushi], np.repeat(of_people[person, None], 2, axis=1)], axis=2)
    score = scores[person[:, None], sushi]
    return Bunch(
        X=X,
        y=np.sign(score[:, 0] - score[:, 1]),
        person=person,
        sushi=sushi,
        score=score,
        feature_names=list(FEATURE_NAMES),
        sushi_names=[row[1] for row in items],
    )


def _lines(name, data_home):
    """Return the lines of a file of the survey."""
    return read_file(f"sushi/{name}", data_home=data_home).decode("utf-8").splitlines()


def _neighbours(scores, second_key):
    """Return (person, the two sushis) of neighbours in the order by score, then key, then id."""
    n_people, n_sushi = scores.shape
    key = np.zeros(scores.shape) if second_key is None else second_key
    order = np.lexsort((np.broadcast_to(np.arange(n_sushi), scores.shape), key, scores), axis=1)
    rated = order[np.take_along_axis(scores, order, axis=1) >= 0].reshape(n_people, -1)
    return np.repeat(np.arange(n_people), rated.shape[1] // 2), rated.reshape(-1, 2)


def _person_features(people, data_home):
    """Return gender, age, time, and the coordinates of two prefectures."""
    table = read_columns("sushi/prefecture_latlon.csv", data_home=data_home)
    where = dict(
        zip(map(int, table["prefecture_id"]), zip(table["latitude"], table["longitude"], strict=True), strict=True)
    )
    unknown = set(people[:, list(PLACES.values())].ravel().astype(int).tolist()) - set(where)
    if unknown:
        raise ValueError(f"sushi/prefecture_latlon.csv has no row for the prefectures {sorted(unknown)}; add them.")
    coordinates = [np.array([where[int(code)] for code in people[:, j]], dtype=float) for j in PLACES.values()]
    return np.column_stack([people[:, list(PERSON_COLUMNS.values())], *coordinates])
