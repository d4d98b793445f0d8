"""Where the tests find real data: WIDEMARGIN_DATA, or a folder beside the checkout."""

import os
from pathlib import Path

import pytest

BESIDE = Path(__file__).parents[2] / "shared" / "data"
DATA_HOME = Path(os.environ.get("WIDEMARGIN_DATA") or BESIDE)


def needs(folder):
    """Skip a test where a data set is absent."""
    return pytest.mark.skipif(
        not (DATA_HOME / folder).is_dir(), reason=f"no {folder}/ in the data folder; set WIDEMARGIN_DATA"
    )
