"""Who may import whom, how long things may be, and what is public: the design page as assertions."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import widemargin

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "widemargin"
FILES = sorted(SOURCE.rglob("*.py"))

ESTIMATORS = {"classification", "regression", "ranking", "vector_machine", "ordinal", "comparison", "choice"}
# under an estimator
SHARED = {"_estimator", "_finite", "_ranker", "_queries", "_task", "_threads", "metrics", "exceptions", "pairs"}
SOLVERS = {"newton", "rows_newton", "interior_point", "one_norm", "linear_program"}
UNIMPORTED = {"cli", "experiments", "demo"}
ABOVE = {"io", "onnx"}  # what is done with fitted models: may use every estimator

# module -> the modules of the package that it may import; "_core" stands for all of `_core/`
ALLOWED = {name: SHARED | {"_core"} for name in ESTIMATORS} | {
    "_estimator": {"_core", "_finite", "_queries", "_solving", "_task", "exceptions"},
    "_finite": set(),
    "_solving": {"_core", "_memory", "_solving_levels", "_threads"},
    "_solving_levels": {"_core", "_memory", "_threads"},
    "_ranker": {"_core", "_estimator", "_queries", "_task", "exceptions", "metrics"},
    "_queries": {"_core"},
    "_lazy": set(),
    "_memory": set(),
    "_task": set(),
    "_threads": set(),
    "exceptions": set(),
    "pairs": {"_queries"},
    "items": {"pairs"},
    "_unwrap": set(),
    "active": {"_core", "_estimator", "_unwrap", "pairs"},
    "calibration": {"_core", "_estimator", "_unwrap", "model_selection", "pairs"},
    "kernels": {"_core"},
    "metrics": {"_lazy", "_metric_inputs", "_pair_weights"},
    "_metric_inputs": {"_queries"},
    "_pair_weights": set(),
    "model_selection": {"_path", "_queries", "pairs"},
    "_path": {"_threads"},
    "plotting": {"_unwrap", "metrics", "model_selection", "pairs", "plotting"},
    "_path_cv": {"_path", "exceptions", "metrics", "model_selection"},
    "cross_validation": {"_path_cv", *ESTIMATORS},  # machines made of machines
    "ratings": set(),
    "theory": set(),
    "uncertainty": {"_estimator", "_queries", "exceptions", "pairs"},
    "datasets": {"pairs", "_queries"},
}


def imports(path):
    """Return the dotted names that a file imports, those of the package as `widemargin.x.y`."""
    package = ["widemargin", *path.relative_to(SOURCE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            found |= {".".join([*base, alias.name]) for alias in node.names}
    return found


def inside(path):
    """Return the package's modules that a file imports, by their path below `widemargin`."""
    names = [name.split(".")[1:] for name in imports(path) if name.split(".")[0] == "widemargin"]
    return {tuple(name) for name in names if name}


def module_of(path):
    """Return the first part of a file's place in the package: a module's name, or a folder's."""
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def functions(path):
    """Yield every function of a file with the number of lines of its body, docstring left out."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield node.name, (body[-1].end_lineno - body[0].lineno + 1 if body else 0)


def public_classes():
    """Yield (name, class) of everything public that can be made."""
    for name in widemargin.__all__:
        thing = getattr(widemargin, name)
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            yield name, thing


CLASSES = dict(public_classes())
PUBLIC_ESTIMATORS = {name: cls for name, cls in CLASSES.items() if issubclass(cls, BaseEstimator)}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_imports_only_what_the_table_allows(path):
    """Estimators stand on the door, the door on `_core`, and nothing imports sideways or upwards."""
    name = module_of(path)
    if name == "__init__" or name in UNIMPORTED | ABOVE:  # above the estimators: may use all of them
        return
    if name == "_core":
        outside = {target[0] for target in inside(path)} - {"_core"}
    elif name == "datasets":
        outside = {target[0] for target in inside(path)} - ALLOWED[name] - {"datasets"}
    else:
        assert name in ALLOWED, f"{name} is a new module: add it to the table, knowingly"
        outside = {target[0] for target in inside(path)} - ALLOWED[name]
    assert not outside, f"{name} must not import {sorted(outside)}"


@pytest.mark.parametrize("path", sorted((SOURCE / "_core").rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_the_core_never_imports_scikit_learn(path):
    """`_core` sees arrays and numbers: numpy and scipy are all it needs."""
    outside = {name.split(".")[0] for name in imports(path)} & {"sklearn", "pandas", "polars", "matplotlib"}
    assert not outside


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_imports_the_command_line_or_the_experiments(path):
    """What runs the package is above it; what handles fitted models is below that alone."""
    parts = {part for name in imports(path) for part in name.split(".")}
    assert module_of(path) in UNIMPORTED or not parts & UNIMPORTED
    below = {target[0] for target in inside(path)} - {module_of(path)}
    assert module_of(path) in UNIMPORTED or not below & ABOVE


@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_solvers_do_not_import_each_other(name):
    """A solver gets its risk, rows and map as arguments, and knows of no other solver."""
    place = SOURCE / "_core" / name
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    core = {target[1] for path in paths for target in inside(path) if target[0] == "_core" and len(target) > 1}
    assert not core & (SOLVERS - {name})


@pytest.mark.parametrize("name", ["metrics", "model_selection", "theory", "datasets", "plotting"])
def test_what_estimators_are_judged_with_imports_no_estimator(name):
    """Metrics, splitters, theory, data and plots serve every estimator, so they know none."""
    place = SOURCE / name
    paths = sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]
    for path in paths:
        targets = {target[0] for target in inside(path)} if path.exists() else set()
        assert not targets & (ESTIMATORS | {"_estimator", "_ranker"})


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_only_public_names_of_scikit_learn_are_imported(path):
    """A name with an underscore would pin us to one version of scikit-learn."""
    private = [n for n in imports(path) if n.startswith("sklearn") and any(p.startswith("_") for p in n.split("."))]
    assert not private


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_files_and_functions_stay_short(path):
    """A file has at most 450 lines, a function's body at most 60; compiled loops are exempt."""
    assert len(path.read_text().splitlines()) <= 450
    long = {name: n for name, n in functions(path) if n > 60}
    assert not long


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_modules_import_at_the_top(path):
    """An import inside a function hides a dependency; only optional packages may be imported late."""
    tree = ast.parse(path.read_text())
    late = [
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert not late, f"line {late[0].lineno} imports inside a function"


def test_all_is_sorted_and_is_what_is_public():
    """`__all__` is the one public door: every class or function that one can see is in it, in order."""
    machinery = {"TYPE_CHECKING", "import_module", "lazy_attributes", "partial"}
    seen = {name for name in dir(widemargin) if not name.startswith("_")} - machinery
    public = {name for name in seen if not inspect.ismodule(getattr(widemargin, name))}
    assert widemargin.__all__ == sorted(widemargin.__all__)
    assert set(widemargin.__all__) == public


@pytest.mark.parametrize("path", sorted(SOURCE.glob("[a-z]*.py")), ids=lambda p: p.name)
def test_all_of_a_module_is_sorted_and_exists(path):
    """A public module's `__all__`, where it has one, is sorted and true."""
    module = importlib.import_module(f"widemargin.{path.stem}")
    names = getattr(module, "__all__", [])
    assert list(names) == sorted(names, key=lambda n: (not n.isupper(), not n[:1].isupper(), n))  # ruff's order
    assert len(set(names)) == len(names)
    assert all(hasattr(module, name) for name in names)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_parameters_after_the_first_are_keyword_only(name):
    """`RankingSVM(1.0, "rbf")` is an error: after the first parameter a name is needed."""
    if name == "Pairs":
        pytest.skip("Pairs is data: two positional parts, no options")
    parameters = list(inspect.signature(CLASSES[name].__init__).parameters.values())[1:]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters[1:])
    assert not any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_public_docstrings_have_parameters_and_examples(name):
    """Each public class says what it takes, and shows it."""
    doc = inspect.getdoc(CLASSES[name])
    for section in ("Parameters", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    assert ">>> " in doc


@pytest.mark.parametrize("name", sorted(PUBLIC_ESTIMATORS))
def test_every_parameter_is_in_the_docstring(name):
    """A parameter that is not described does not exist for a reader."""
    doc = inspect.getdoc(PUBLIC_ESTIMATORS[name])
    described = doc.split("Parameters\n")[1].split("Attributes\n")[0]
    missing = [p for p in PUBLIC_ESTIMATORS[name]._get_param_names() if p not in described]
    assert not missing


@pytest.mark.parametrize("name", sorted(PUBLIC_ESTIMATORS))
def test_public_methods_have_docstrings(name):
    """`fit`, `predict` and the rest say what they take and give."""
    methods = {k: v for k, v in vars(PUBLIC_ESTIMATORS[name]).items() if not k.startswith("_") and callable(v)}
    assert methods
    assert all(inspect.getdoc(method) for method in methods.values())


@pytest.mark.parametrize("name", sorted(PUBLIC_ESTIMATORS))
def test_the_constructor_only_stores(name):
    """`__init__` is a list of `self.x = x`, so that clone copies what the user wrote."""
    (function,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(PUBLIC_ESTIMATORS[name].__init__))).body
    for statement in function.body:
        assert isinstance(statement, ast.Assign)
        assert isinstance(statement.value, ast.Name)
        assert statement.targets[0].attr == statement.value.id


def test_the_repository_names_no_place_outside_itself():
    """Nothing tracked names the shared folder, but the fallback for the data folder."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    if listed.returncode:
        pytest.skip("not a git checkout")
    outside = "../" + "shared"
    for name in listed.stdout.split("\n"):
        path = ROOT / name
        if not path.is_file() or path.suffix in {".png", ".npz"}:
            continue
        text = path.read_text(errors="ignore")
        assert outside not in text, f"{name} names {outside}"
        assert "work/" + "shared" not in text, f"{name} names the shared folder"
        fallbacks = ("tests/", "benchmarks/datasets/", "experiments/_run.py")  # of the data folder
        if not name.startswith(fallbacks):
            assert '"shared" / ' not in text, f"{name} names the shared folder"


def test_importing_the_package_adds_no_plotting_or_frame_library():
    """`import widemargin` writes nothing, and loads no optional library that scikit-learn did not load."""
    code = (
        "import sys, sklearn.model_selection, sklearn.utils.validation, sklearn.metrics; before = set(sys.modules);"
        "import widemargin; print({'matplotlib', 'pandas', 'polars', 'cvxpy'} & set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "set()"
    assert done.stderr == ""
