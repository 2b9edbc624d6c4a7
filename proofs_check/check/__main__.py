"""``python -m proofs_check.check FILE ...``: accept or reject certificate files, with the reason."""

import sys
import time

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
