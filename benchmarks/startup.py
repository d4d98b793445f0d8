"""What `import widemargin` adds to `import sklearn`, and what the first fit adds to the second."""

from __future__ import annotations

import subprocess
import sys

RUNS = 5
IMPORT = """
import time
start = time.process_time(); import sklearn; middle = time.process_time()
import widemargin
print(middle - start, time.process_time() - middle)
"""
FIRST = """
import time, numpy as np
from widemargin import RankingSVM
X = np.random.default_rng(0).standard_normal((2000, 20)); y = (X[:, 0] > 0) * 1.0 + (X[:, 1] > 1)
times = [time.process_time()]
for _ in range(2):
    RankingSVM(C=1e-3, loss="squared_hinge", tol=1e-3).fit(X, y); times.append(time.process_time())
print(times[1] - times[0], times[2] - times[1])
"""


def startup():
    """Return lines that say both, best of a few fresh processes."""
    ours = min((_run(IMPORT) for _ in range(RUNS)), key=lambda pair: pair[1])
    fits = min((_run(FIRST) for _ in range(RUNS)), key=lambda pair: pair[0] - pair[1])
    return [
        f"import: scikit-learn {1e3 * ours[0]:.0f} ms, widemargin {1e3 * ours[1]:.0f} ms more",
        f"fit: first {1e3 * fits[0]:.0f} ms, second {1e3 * fits[1]:.0f} ms",
    ]


def _run(code):
    """Return the two numbers that a fresh process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    first, second = (float(word) for word in done.stdout.split())
    return first, second
