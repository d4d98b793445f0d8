"""Settings of the whole suite."""

from hypothesis import Phase, settings

# The same examples on every machine and no long shrinking: a failure reports what it found, at once.
settings.register_profile(
    "suite", derandomize=True, deadline=None, database=None, phases=(Phase.explicit, Phase.generate, Phase.target)
)
settings.load_profile("suite")
