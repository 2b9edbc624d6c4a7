"""Accept or reject certificate files, with the reason.

``python -I -S CHECK FILE ...`` runs this folder, wherever it was copied; ``python -m proofs_check.check FILE ...`` the
installed one.
"""

import sys
import time
from pathlib import Path
from types import ModuleType

if not __package__:  # run as a folder: give it the name that its modules use
    for _name, _path in (("proofs_check", []), ("proofs_check.check", [str(Path(__file__).resolve().parent)])):
        sys.modules[_name] = ModuleType(_name)
        sys.modules[_name].__path__ = _path

from proofs_check.check.document import check, read
from proofs_check.check.exact import Rejected


def main(paths: list[str]) -> int:
    if not paths:
        print("usage: python -m proofs_check.check FILE ...", file=sys.stderr)
        return 2
    bad = 0
    for path in paths:
        start = time.perf_counter()
        try:
            certificate = read(path)
            check(certificate)
        except Rejected as reason:
            bad += 1
            print(f"REJECTED {path}: {reason}")
        else:
            print(f"ACCEPTED {path}: {certificate['kind']}, {time.perf_counter() - start:.2f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
