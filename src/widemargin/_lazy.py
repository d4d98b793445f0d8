"""Names of a module that are made, or imported, when they are first asked for (PEP 562)."""


def lazy_attributes(module, makers):
    """Return `__getattr__` and `__dir__` for a module, given its `globals()` and a maker of each late name."""

    def get(name):
        if name not in makers:
            raise AttributeError(f"module {module['__name__']!r} has no attribute {name!r}")
        return module.setdefault(name, makers[name]())

    return get, lambda: sorted({*module, *makers})
