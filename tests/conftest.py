"""Settings of the whole suite, and the command line as a fixture."""

import io
import sys

import pytest
from hypothesis import Phase, settings

# The same examples on every machine and no long shrinking: a failure reports what it found, at once.
settings.register_profile(
    "suite", derandomize=True, deadline=None, database=None, phases=(Phase.explicit, Phase.generate, Phase.target)
)
settings.load_profile("suite")


@pytest.fixture
def widemargin(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder; return its exit code, stdout and stderr."""
    from widemargin.cli import app as cli  # noqa: PLC0415 (an extra, and slow: for the tests that ask)

    monkeypatch.chdir(tmp_path)

    def command(*words, stdin=b"", terminal=False):
        monkeypatch.setattr(sys, "argv", ["widemargin", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
        with pytest.raises(SystemExit) as stop:
            cli.run()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return command
