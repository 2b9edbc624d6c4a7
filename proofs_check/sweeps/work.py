"""Answers the questions of one point, here or as a child process that speaks JSON lines.

An item is plain data: ``{"model", "parameters", "digits", "asks": [[quantity, index], ..], "certificates"}``.  As a
program (``python -m proofs_check.sweeps.work [BYTES]``) it reads items from standard input and writes one answer a
line, so that whoever started it can time every answer and end it without harm.
"""

import json
import os
import platform
import queue
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from exactchains.number import wire
from exactchains.truth import DoesNotExist, InputError, Undecided
from proofs_check.catalogue import find, models
from proofs_check.store.question import METHODS, canonical

NO_VALUE = "no value: "  # begins the word that stands for a parameter whose formula has none
LIBRARIES = ("exaq", "python-flint", "numpy", "scipy")


def answers(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one answer for every (quantity, index) of an item, as the plain form of ``proofs_check.store.Answer``.

    Failures are answers too: ``refused`` (no such law, parameters that the model does not allow), ``undecided``,
    ``memory``, ``failed``.
    """
    thing = None
    for quantity, index in item["asks"]:
        start = time.perf_counter()
        try:
            model = find(item["model"])
            if thing is None:
                _all_valued(item["parameters"])
                thing = model.make(item["parameters"])
            (result,) = model.results(thing, [quantity], [index], item["digits"])
            answer = _answer(result, item)
        except Exception as error:
            answer = _failure(error)
        yield answer | {"seconds": round(time.perf_counter() - start, 6), "versions": versions()}


def _all_valued(parameters: Mapping[str, str]) -> None:
    for name, word in parameters.items():
        if word.startswith(NO_VALUE):
            raise InputError(f"{name} has {word}")


def _answer(result: Any, item: Mapping[str, Any]) -> dict[str, Any]:
    e, digits = result.enclosure, item["digits"]
    enough = e.has_digits(digits) or e.status == "estimate"
    answer = {
        "status": e.status if enough else "undecided",
        "lower": wire(e.lower),
        "upper": wire(e.upper),
        "certain_digits": e.certain_digits,
        "reason": "" if enough else f"{digits} digits asked, {e.certain_digits or 0} reached",
        "method": result.method,
    }
    if item.get("certificates") and result.certificate is not None:
        from proofs_check.verify import dump

        answer["proof"] = dump(result.certificate)
    return answer


def _failure(error: Exception) -> dict[str, Any]:
    text = " ".join(str(error).split())[:500] or type(error).__name__
    if isinstance(error, Undecided):
        return {"status": "undecided", "reason": text}
    if isinstance(error, DoesNotExist | InputError):
        return {"status": "refused", "reason": text}
    if isinstance(error, MemoryError):
        return {"status": "memory", "reason": "out of memory"}
    return {"status": "failed", "reason": f"{type(error).__name__}: {text}"}


@cache
def versions() -> str:
    """Return the versions of what computes, as canonical JSON."""
    found = {"methods": METHODS, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from a source tree
            found[name] = "source"
    return canonical(found)


def serve(memory: int | None = None) -> None:
    """Answer items from standard input until it ends; whatever else is printed goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="ascii", buffering=1)
    os.dup2(2, 1)
    models()  # imported before the clock of the first point runs
    if memory is not None:
        limit_memory(memory)
    items: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(items,), daemon=True).start()
    try:
        out.write(canonical({"ready": METHODS}) + "\n")
        while True:
            for answer in answers(items.get()):
                out.write(canonical(answer) + "\n")
    except BrokenPipeError:  # whoever started this process is gone
        os._exit(0)


def _read(items: "queue.SimpleQueue[dict[str, Any]]") -> None:
    """Hand on the items; when whoever started this process is gone, end at once, in the middle of a computation too."""
    for line in sys.stdin:
        items.put(json.loads(line))
    os._exit(0)


def limit_memory(size: int) -> None:
    """Let no more than ``size`` bytes beyond what is in use be reserved, where the system can."""
    try:
        import resource
    except ImportError:  # not a Unix system
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    total = size + _in_use(resource)
    resource.setrlimit(resource.RLIMIT_AS, (total if most == resource.RLIM_INFINITY else min(total, most), most))


def _in_use(resource: Any) -> int:
    """Return the bytes of address space in use: exact on Linux, elsewhere the largest memory so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError):
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return pages * int(resource.getpagesize())


if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else None)
