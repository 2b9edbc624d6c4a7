"""What a user installs: the wheel holds everything, and works away from the source tree."""

import configparser
import re
import shutil
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

from proofs_check.verify import verify
from tests.source import PACKAGES, ROOT, project_files

SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
DATA = [p.relative_to(ROOT) for p in project_files() if p.relative_to(ROOT).parts[0] in PACKAGES and p.suffix != ".py"]
RUN = """
import json, sys
import exactchains, aoi_tools, meanfield, proofs_check
from proofs_check.verify import verify
print(json.dumps([m.__file__ for m in (exactchains, aoi_tools, meanfield, proofs_check)]))
for v in verify("age.feedback.*", "pools.*"):
    print(v.claim.id, v.status.value)
"""


def lines(section: str, key: str) -> list[str]:
    return [line.strip() for line in SETUP[section][key].splitlines() if line.strip()]


def test_every_data_file_is_package_data():
    patterns = {package: lines("options.package_data", package) for package in PACKAGES}
    lost = [
        str(path)
        for path in DATA
        if not any(fnmatch("/".join(path.parts[1:]), pattern) for pattern in patterns[path.parts[0]])
    ]
    assert not lost, f"not shipped, see [options.package_data] in setup.cfg: {lost}"


def test_every_dependency_is_pinned():
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pinned = {name(line.partition("==")[0]) for line in text.splitlines() if "==" in line}
    wanted = lines("options", "install_requires")
    for extra in SETUP["options.extras_require"]:
        wanted += lines("options.extras_require", extra)
    assert {name(re.split(r"[\[<>=~!]", requirement)[0]) for requirement in wanted} <= pinned


def name(text: str) -> str:
    return re.sub(r"[-_.]+", "-", text.strip()).lower()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which a wheel of this tree was unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    for path in project_files():
        relative = path.relative_to(ROOT)
        if relative.parts[0] in PACKAGES or len(relative.parts) == 1:
            (source / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, source / relative)
    build = "from setuptools import build_meta; build_meta.build_wheel('..')"
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_wheel_holds_every_data_file(installed: Path):
    assert DATA
    assert not [str(path) for path in DATA if not (installed / path).is_file()]


def test_wheel_names_the_command(installed: Path):
    (entry,) = installed.glob("exaq-*.dist-info/entry_points.txt")
    assert "exaq = proofs_check.cli.main:main" in entry.read_text(encoding="utf-8")


def test_installed_packages_verify_claims(installed: Path, tmp_path: Path):
    path = f"import sys; sys.path.insert(0, {str(installed)!r})\n"
    run = subprocess.run(
        [sys.executable, "-P", "-c", path + RUN], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    where, *statuses = run.stdout.splitlines()
    assert where.count(str(installed)) == len(PACKAGES)
    assert statuses == [f"{v.claim.id} {v.status.value}" for v in verify("age.feedback.*", "pools.*")]
