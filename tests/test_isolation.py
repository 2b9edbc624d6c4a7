"""What the trust rests on runs alone: the verifier without solvers, the checker without anything but Python."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from proofs_check.registry import claims
from proofs_check.verify import Status, certificate_folder
from tests.source import PACKAGES, ROOT, definitions, module_name, modules

STORED = sorted(certificate_folder().glob("*.json"))

BLOCKER = """
import importlib.abc, json, sys

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if parts[0] in BLOCKED or (parts[0] in PACKAGES and parts[1:2] in (["solvers"], ["search"])):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
sys.path.insert(0, ROOT)
for name in (*BLOCKED, "exactchains.solvers", "aoi_tools.solvers", "meanfield.solvers", "proofs_check.search"):
    try:
        __import__(name)
    except ImportError:
        continue
    sys.exit(f"{name} could be imported: the blocker does not work")
"""
VERIFY = """
from proofs_check.verify import verify
print(json.dumps({v.claim.id: v.status.value for v in verify()}))
"""
IMPORT_ALL = """
import importlib
for name in MODULES:
    importlib.import_module(name)
print(json.dumps(len(MODULES)))
"""
FINDERS = ("numpy", "scipy")
EXTRAS = ("matplotlib", "dask", "distributed", "z3", "pyarrow", "pytest", "hypothesis", "setuptools")


def blocked(code: str, *names: str, **values: object) -> object:
    """Return what ``code`` prints as JSON in a new interpreter that lacks the named libraries and all solvers."""
    settings = {"BLOCKED": names, "PACKAGES": PACKAGES, "ROOT": str(ROOT), **values}
    header = "".join(f"{name} = {value!r}\n" for name, value in settings.items())
    run = subprocess.run(
        [sys.executable, "-P", "-c", header + BLOCKER + code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_verifier_needs_no_solver_and_no_numerical_library():
    expected = {name: Status.OPEN if c.missing else Status[c.expected.name] for name, c in claims().items()}
    assert blocked(VERIFY, *FINDERS, *EXTRAS) == {name: status.value for name, status in expected.items()}


def test_definitions_need_no_numerical_library():
    ground = [path for path in modules() if path.parts[0] == "exactchains" and "solvers" not in path.parts]
    names = [module_name(path) for path in (*ground, *definitions())]
    assert blocked(IMPORT_ALL, *FINDERS, *EXTRAS, MODULES=names) == len(names) > len(PACKAGES)


# The checker


@pytest.fixture
def checker(tmp_path: Path):
    """Return a function that runs a copy of the checker's folder, with nothing else on the path."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "proofs_check/check", tmp_path / "copied", ignore=ignored)

    def run(*files: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", str(tmp_path / "copied"), *map(str, files)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return run


def test_checker_alone_accepts_every_stored_certificate(checker):
    assert STORED, "no certificate is stored"
    run = checker(*STORED)
    assert run.returncode == 0, run.stdout + run.stderr
    assert [line.split()[0] for line in run.stdout.splitlines()] == ["ACCEPTED"] * len(STORED)


def test_checker_alone_rejects_a_certificate_without_its_proof(checker, tmp_path: Path):
    spoiled = []
    for path in STORED:
        spoiled.append(tmp_path / path.name)
        spoiled[-1].write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"proof": {}}))
    run = checker(*spoiled)
    assert run.returncode == 1
    assert [line.split()[0] for line in run.stdout.splitlines()] == ["REJECTED"] * len(STORED)
    assert not run.stderr


def test_checker_alone_says_how_it_is_used(checker):
    run = checker()
    assert run.returncode == 2
    assert "FILE" in run.stderr


def test_every_certificate_belongs_to_a_claim():
    known = claims()
    assert {json.loads(path.read_text(encoding="utf-8"))["claim"] for path in STORED} <= set(known)
