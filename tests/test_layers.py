"""The import rules of docs/architecture.md over syntax trees, and what no file of the project may contain."""

import ast
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.source import PACKAGES, ROOT, called, definitions, imports, module_name, modules, project_files, tree

GROUND = ("exactchains", "!exactchains.solvers", "flint")
SCIENCE = ("exactchains", "numpy", "scipy", "sympy", "flint")
STATEMENTS = (
    *GROUND,
    "proofs_check.check",
    "proofs_check.claim",
    "proofs_check.claims",
    "proofs_check.registry",
    "proofs_check.verify",
    *(f"{package}.{name}" for package in ("aoi_tools", "meanfield") for name in ("models", "closed_forms")),
    "meanfield.finite",
    "meanfield.flow",
    "meanfield.fluid",
    "proofs_check.lyapunov.cells",
    "proofs_check.lyapunov.length",
)

# module pattern -> what it may import beside the standard library; the first pattern that fits a module counts
MAY_IMPORT = {
    "exactchains.symbolic": (*GROUND, "sympy"),
    "exactchains.solvers*": ("exactchains", "numpy", "scipy", "flint", "threadpoolctl"),
    "exactchains": ("exactchains",),  # hands out public names, lazily
    "exactchains.*": GROUND,
    "aoi_tools.models*": (*GROUND, "aoi_tools.models"),
    "aoi_tools.closed_forms": (*GROUND, "aoi_tools.models", "aoi_tools.closed_forms"),
    "aoi_tools*": (*SCIENCE, "aoi_tools"),
    "meanfield.models*": (*GROUND, "meanfield.models"),
    "meanfield.closed_forms": (*GROUND, "meanfield.models", "meanfield.closed_forms"),
    "meanfield.finite": (*GROUND, "meanfield.models", "meanfield.finite"),
    "meanfield.flow": (*GROUND, "meanfield.models", "meanfield.flow"),
    "meanfield*": (*SCIENCE, "meanfield"),
    "proofs_check": ("proofs_check",),  # runs before the checker: standard library, public names lazily
    "proofs_check.pytest_plugin": ("proofs_check", "exactchains.truth", "pytest"),
    "proofs_check.check*": ("proofs_check.check",),
    "proofs_check.claims*": STATEMENTS,
    "proofs_check.lyapunov.cells": STATEMENTS,  # derives the cells of a claim from the live rule
    "proofs_check.lyapunov.length": STATEMENTS,
    "proofs_check.claim": STATEMENTS,
    "proofs_check.registry": STATEMENTS,
    "proofs_check.verify": STATEMENTS,
    "proofs_check*": (
        *SCIENCE,
        *PACKAGES,
        "click",
        "matplotlib",
        "pandas",
        "dask",
        "z3",
        "pyarrow",
    ),
}
EXACT_MATH = {"comb", "factorial", "gcd", "isqrt", "lcm", "perm", "prod"}
RUNS_TEXT = {"eval", "exec", "compile", "sympify", "parse_expr", "parse_latex", "lambdify"}
UNSAFE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib"}
PLACES = "|".join(["home", "Users", "root", "tmp", "work"])  # apart from their slashes, or this line would be found
MACHINE_PATH = re.compile(rf"(?<![\w.~-])(?:/(?:{PLACES})/\w|[A-Z]:\\Users\\)")


def rule(name: str) -> tuple[str, ...]:
    return next(allowed for pattern, allowed in MAY_IMPORT.items() if fnmatch(name, pattern))


def may(name: str, allowed: tuple[str, ...]) -> bool:
    """Return whether the longest entry that covers ``name`` allows it; ``!`` forbids."""
    covering = [a for a in allowed if f"{name}.".startswith(a.removeprefix("!") + ".")]
    return bool(covering) and not max(covering, key=lambda a: len(a.removeprefix("!"))).startswith("!")


def found(violations: list[str]) -> str:
    return "\n" + "\n".join(violations)


def test_every_package_is_there():
    assert {path.parts[0] for path in modules()} == set(PACKAGES)


def test_modules_import_only_what_their_layer_may():
    bad = [
        f"{path}:{line}: {name} is not among {', '.join(rule(module_name(path)))}"
        for path in modules()
        for line, name in imports(path)
        if name.split(".")[0] not in sys.stdlib_module_names and not may(name, rule(module_name(path)))
    ]
    assert not bad, found(bad)


def test_the_two_fields_never_meet():
    bad = [
        f"{path}:{line}: {name}"
        for path in modules()
        for line, name in imports(path)
        if {path.parts[0], name.split(".")[0]} == {"aoi_tools", "meanfield"}
    ]
    assert not bad, found(bad)


@pytest.mark.parametrize("path", definitions(), ids=module_name)
def test_definitions_hold_no_floats(path: Path):
    bad = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            bad.append(f"{path}:{node.lineno}: {node.value}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("float", "complex"):
            bad.append(f"{path}:{node.lineno}: {node.func.id}(...)")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math":
            if node.attr not in EXACT_MATH:
                bad.append(f"{path}:{node.lineno}: math.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module in ("math", "cmath", "random", "statistics"):
            bad += [f"{path}:{node.lineno}: {a.name}" for a in node.names if a.name not in EXACT_MATH]
    assert not bad, found(bad)


def test_modules_never_run_text_nor_unpickle():
    bad = []
    for path in modules():
        bad += [f"{path}:{line}: {name}" for line, name in imports(path) if name.split(".")[0] in UNSAFE or name == "?"]
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and called(node) in RUNS_TEXT and not is_method_of(node, "re"):
                bad.append(f"{path}:{node.lineno}: {called(node)}(...)")
            elif isinstance(node, ast.ImportFrom):
                bad += [f"{path}:{node.lineno}: {a.name}" for a in node.names if a.name in RUNS_TEXT]
    assert not bad, found(bad)


def is_method_of(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and node.func.value.id == name


def test_no_file_names_a_place_on_a_developers_machine():
    bad = []
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        bad += [
            f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if MACHINE_PATH.search(line)
        ]
    assert not bad, found(bad)


# The rules themselves, on small sources: a test that cannot fail guards nothing.


@pytest.mark.parametrize(
    ("name", "imported", "fine"),
    [
        ("exactchains.chain", "exactchains.domain", True),
        ("exactchains.chain", "exactchains.solvers.gth", False),
        ("exactchains.chain", "numpy", False),
        ("exactchains.solvers.levels", "scipy.linalg", True),
        ("exactchains.domain", "sympy", False),
        ("exactchains.symbolic", "sympy.polys.fields", True),
        ("aoi_tools.models.schemes", "aoi_tools.solvers.age", False),
        ("aoi_tools.models.schemes", "exactchains.solvers.stationary", False),
        ("aoi_tools.solvers.age", "meanfield.models.policy", False),
        ("proofs_check.check.exact", "exactchains.number", False),
        ("proofs_check.check.exact", "proofs_check.claim", False),
        ("proofs_check.claims.age", "aoi_tools.models.schemes", True),
        ("proofs_check.claims.age", "aoi_tools.solvers.age", False),
        ("proofs_check.verify", "proofs_check.search.age", False),
        ("proofs_check.verify", "proofs_check.check", True),
        ("proofs_check.search.age", "exactchains.solvers.gth", True),
        ("proofs_check.cli.main", "torch", False),
    ],
)
def test_table_says(name: str, imported: str, fine: bool):
    assert may(imported, rule(name)) is fine


def test_imports_are_found_wherever_they_stand(tmp_path, monkeypatch):
    (tmp_path / "aoi_tools").mkdir()
    (tmp_path / "aoi_tools/sample.py").write_text(
        "import numpy.linalg as la\n"
        "TABLE = {'a': 'scipy.linalg'}\n"
        "def f():\n"
        "    from exactchains import stationary, QQ\n"
        "    from .models import codes\n"
        "    import_module(f'meanfield.{f}')\n"
        "    import_module(f)\n"
        "    import_module(TABLE[f])\n"
    )
    monkeypatch.setattr("tests.source.ROOT", tmp_path)
    tree.cache_clear()
    names = [name for _, name in imports(Path("aoi_tools/sample.py"))]
    tree.cache_clear()
    assert sorted(names) == [
        "?",
        "aoi_tools.models.codes",
        "exactchains.domain",
        "exactchains.solvers.stationary",
        "meanfield",
        "numpy.linalg",
        "scipy.linalg",
    ]


@pytest.mark.parametrize(
    ("line", "bad"),
    [
        ("see " + "/".join(["", "home", "ann", "x"]), True),
        ('open("' + "/".join(["", "tmp", "x"]) + '")', True),
        ("https://example.org/work/x and a/tmp/b", False),
    ],
)
def test_machine_paths_are_recognised(line: str, bad: bool):
    assert bool(MACHINE_PATH.search(line)) is bad
