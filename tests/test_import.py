"""Importing the package is cheap, and names that come late are still there for tools and people."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import widemargin
from widemargin import metrics

SOLVERS = {f"widemargin._core.{name}" for name in ("newton", "interior_point", "one_norm", "linear_program", "risks")}
HEAVY = {"sklearn.metrics", "sklearn.model_selection", "sklearn.preprocessing", "scipy.optimize", "rich"} | SOLVERS


def modules_after(code):
    """Return the modules that a fresh process adds to `import sklearn`."""
    program = f"import sys, sklearn\nbefore = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stderr == ""
    return set(done.stdout.split())


def test_the_package_loads_next_to_nothing():
    """`import widemargin` adds itself and one helper to scikit-learn's import."""
    added = {name for name in modules_after("import widemargin") if not name.startswith("__editable")}
    assert {name for name in added if name.startswith("widemargin")} == {"widemargin", "widemargin._lazy"}
    assert len(added) <= 5


@pytest.mark.parametrize("name", ["RankingSVM", "OrdinalSVM", "ComparisonSVM", "RankingVectorMachine"])
def test_an_estimator_loads_no_solver_and_no_large_part_of_scikit_learn(name):
    """What takes long to load waits for the fit that needs it."""
    assert not modules_after(f"from widemargin import {name}") & HEAVY


def test_a_fit_loads_one_solver():
    """The first fit pays for its own solver alone."""
    added = modules_after("from widemargin import RankingSVM; RankingSVM().fit([[0.0], [1.0], [3.0]], [0, 1, 2])")
    assert added & (HEAVY - {"widemargin._core.interior_point"}) == set()
    assert "widemargin._core.interior_point" in added


def test_types_are_declared_for_every_public_name():
    """Editors and type checkers read the imports under TYPE_CHECKING: they name what `__all__` names."""
    (block,) = [node for node in ast.parse(Path(widemargin.__file__).read_text()).body if isinstance(node, ast.If)]
    declared = {(node.module, alias.name) for node in block.body for alias in node.names}
    assert {name for _, name in declared} == set(widemargin.__all__)
    for module, name in declared:
        assert getattr(importlib.import_module(f"widemargin.{module}"), name) is getattr(widemargin, name)


@pytest.mark.parametrize("module", [widemargin, metrics], ids=lambda m: m.__name__)
def test_late_names_are_listed_and_others_are_refused(module):
    """`dir` shows the late names, each is the same object every time, and a misspelt one is an AttributeError."""
    for name in dir(module):
        assert getattr(module, name) is getattr(module, name)
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'RankingSVN'"):
        module.RankingSVN  # noqa: B018
