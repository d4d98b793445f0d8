"""Large-margin preference learning."""

__all__: list[str] = []
