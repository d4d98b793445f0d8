"""What the documentation shows is run, and what is public is documented."""

import doctest
import importlib
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest

import widemargin
from widemargin.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
LINKED = sorted({*PAGES, *ROOT.glob("*.md"), *(ROOT / "adr").glob("*.md"), *(ROOT / "benchmarks").glob("*.md")})
MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(widemargin.__path__, "widemargin.")
    if "._" not in info.name and not info.name.endswith((".demo", ".cli"))
)
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """Return the runnable python blocks of a page with the line each begins at.

    A block whose first line is a comment that names a file of the package (`# _core/losses.py`) shows what one
    would write into that file, and is compiled only.
    """
    text = page.read_text()
    for match in FENCE.finditer(text):
        if match.group(1) in ("python", "py", "pycon"):
            yield text[: match.start()].count("\n") + 2, textwrap.dedent(match.group(2))


def is_excerpt(code):
    """Whether a block shows a piece of a source file."""
    return re.match(r"# [\w/]+\.py$", code.splitlines()[0]) is not None if code else False


@pytest.mark.parametrize("name", ["widemargin", *MODULES])
def test_docstrings_are_true(name, monkeypatch, tmp_path):
    """Every example in a public docstring gives what it shows."""
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report = []
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)


def test_docstrings_have_examples():
    """The finder finds something: every estimator shows at least one call."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    shown = {
        name
        for name in widemargin.__all__
        if isinstance(getattr(widemargin, name), type) and not issubclass(getattr(widemargin, name), Exception)
        if any(test.examples for test in finder.find(getattr(widemargin, name), name))
    }
    classes = {n for n in widemargin.__all__ if not issubclass(getattr(widemargin, n), Exception)}
    assert shown == classes


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_code_on_pages_runs(page, monkeypatch, tmp_path):
    """The python blocks of a page run from top to bottom, in one namespace, without a warning."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__page__"}
    n_blocks = 0
    for line, code in blocks(page):
        n_blocks += 1
        if is_excerpt(code):
            compile(code, page.name, "exec")
        elif code.lstrip().startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
            runner, report = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), []
            runner.run(test, out=report.append, clear_globs=False)
            assert runner.failures == 0, "".join(report)
            names.update(test.globs)
        else:
            exec(compile("\n" * (line - 1) + code, str(page), "exec"), names)  # noqa: S102
    if not n_blocks:
        pytest.skip(f"{page.name} has no python block")


@pytest.mark.parametrize("name", widemargin.__all__)
def test_public_names_are_on_a_page(name):
    """What is public is mentioned in the README or in docs/."""
    assert any(re.search(rf"\b{name}\b", page.read_text()) for page in PAGES)


def anchors(page):
    """Return what links into a page may name: its headings as GitHub and the site spell them."""
    text = FENCE.sub("", page.read_text())
    found = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *$", text, re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)|`", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def broken(page):
    """Return the links of a page that lead nowhere: no such file, or no such heading."""
    bad = []
    for link in re.findall(r"\]\(<?([^)\s>]+)>?[^)]*\)", FENCE.sub("", page.read_text())):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            bad.append(link)
    return bad


@pytest.mark.parametrize("page", LINKED, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    """A relative link names a file of the repository, and a heading that is there."""
    assert not broken(page)


def test_a_broken_link_is_found(tmp_path):
    """The check itself: a file, a heading and a heading of the same page that are not there."""
    (tmp_path / "b.md").write_text("# One `two`: three\n\n## Four\n\n```sh\n# five\n```\n")
    page = tmp_path / "a.md"
    page.write_text("# Here\n[x](b.md#one-two-three) [y](b.md#four) [z](#here) [w](b.md) [v](https://x.org/#q)\n")
    assert not broken(page)
    page.write_text("# Here\n[x](c.md) [y](b.md#five) [z](#there)\n")
    assert broken(page) == ["c.md", "b.md#five", "#there"]


@pytest.mark.parametrize("name", [m for m in MODULES if ".cli" not in m and m.count(".") == 1])
def test_public_names_of_modules_are_in_the_reference(name):
    """Every public class and function of a module is on the page of the API."""
    module = importlib.import_module(name)
    reference = (ROOT / "docs" / "api.md").read_text()
    names = getattr(module, "__all__", None) or [
        n
        for n, thing in vars(module).items()
        if not n.startswith("_") and getattr(thing, "__module__", "").startswith(name) and callable(thing)
    ]
    missing = [n for n in names if not re.search(rf"^   {n}$", reference, re.MULTILINE)]
    assert not missing


def test_every_command_is_on_the_page_of_the_command_line():
    """A command that no page names does not exist for a reader."""
    page = (ROOT / "docs" / "command_line.md").read_text()
    commands = [c.name or c.callback.__name__ for c in app.registered_commands]
    assert commands
    assert all(f"| `{command}` |" in page for command in commands)
