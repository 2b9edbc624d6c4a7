"""The project's own files as the architecture tests read them: paths, syntax trees, imports."""

import ast
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("exactchains", "aoi_tools", "meanfield", "proofs_check")
DEFINITIONS = (
    *(f"{package}.{name}" for package in ("aoi_tools", "meanfield") for name in ("models*", "closed_forms")),
    *("meanfield.finite", "meanfield.flow"),
)


def modules() -> list[Path]:
    """Return every Python file of the four packages, relative to the root."""
    return sorted(p.relative_to(ROOT) for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


def definitions() -> list[Path]:
    """Return the modules that define models and formulas: part of the statements, hence trusted."""
    return [path for path in modules() if any(fnmatch(module_name(path), pattern) for pattern in DEFINITIONS)]


def project_files() -> list[Path]:
    """Return every file under version control or about to be; without git, every file that no tool made."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split("\0")
        paths = [ROOT / name for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        made = {"build", "dist", "report"}
        paths = [p for p in ROOT.rglob("*") if "__pycache__" not in p.parts]
        paths = [p for p in paths if (top := p.relative_to(ROOT).parts[0]) not in made and not top.startswith(".")]
    return [p for p in paths if p.is_file()]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))


def module_name(path: Path) -> str:
    """Return the dotted name of a module, given its path relative to the root."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, dotted name) of everything a module imports, wherever in the file, static or by literal name.

    A name taken from a lazy package (``from exactchains import stationary``) counts as the module it lives in.
    """
    package = module_name(path) if path.name == "__init__.py" else module_name(path).rpartition(".")[0]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parent, *filter(None, [base])])
            yield from ((node.lineno, origin(base, alias.name)) for alias in node.names)
        elif isinstance(node, ast.Call) and called(node) in ("import_module", "__import__", "run_module"):
            yield from ((node.lineno, name) for name in spelled(node.args[0], tree(path)))


def origin(module: str, name: str) -> str:
    """Return the dotted name that ``from module import name`` loads in the end."""
    if module in PACKAGES and name != "*":
        lazy = getattr(import_module(module), name, None)
        home = getattr(lazy, "__module__", None) or getattr(lazy, "__name__", None)
        if isinstance(home, str) and home.split(".")[0] in PACKAGES:
            return home
    return f"{module}.{name}"


def called(node: ast.Call) -> str:
    """Return the last name of what a call calls."""
    target = node.func
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def spelled(node: ast.expr, module: ast.Module) -> list[str]:
    """Return the dotted names that a dynamic import may mean, as far as they are literal; ``?`` where nothing is.

    A lookup in a dictionary of the module means every value in it.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return [str(node.values[0].value).rstrip(".")]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        table = constants(module).get(node.value.id)
        if isinstance(table, ast.Dict):
            return [name for value in table.values for name in spelled(value, module)]
    return ["?"]


def constants(module: ast.Module) -> dict[str, ast.expr]:
    """Return what the names at the top of a module are set to."""
    lines = [line for line in module.body if isinstance(line, ast.Assign)]
    return {target.id: line.value for line in lines for target in line.targets if isinstance(target, ast.Name)}
