"""The command `widemargin`: it parses, calls the library, and prints."""

import sys

__all__ = ["main"]


def main():
    """Run the command line, or say which extra it needs."""
    try:
        import typer  # noqa: F401, PLC0415 (an extra)
    except ImportError:
        sys.stderr.write("widemargin: the command line needs typer; pip install 'widemargin[cli]' brings it.\n")
        raise SystemExit(1) from None
    from widemargin.cli.app import run  # noqa: PLC0415 (needs typer)

    run()
