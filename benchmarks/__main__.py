"""Run the benchmarks: `python -m benchmarks --help`."""

import sys

from .run import main

sys.exit(main())
