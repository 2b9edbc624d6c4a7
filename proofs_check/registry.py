"""All claims by id; patterns; the order in which claims rest on each other."""

import difflib
import fnmatch
from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from importlib import import_module

from exactchains.truth import InputError
from proofs_check.claim import Claim

_FAMILIES = ("age", "noisy", "pools")


def claims() -> dict[str, Claim]:
    """Return every claim by id, each after the claims that it uses.

    Raises
    ------
    ValueError
        Two claims share an id, one uses an unknown claim, or two prove each other: a defect of the catalogue.
    """
    listed = [c for family in _FAMILIES for c in import_module(f"proofs_check.claims.{family}").CLAIMS]
    known = {c.id: c for c in listed}
    if len(known) != len(listed):
        raise ValueError("two claims share an id")
    return ordered(known)


def ordered(known: Mapping[str, Claim]) -> dict[str, Claim]:
    """Return the claims so that each stands after those it uses."""
    for c in known.values():
        if missing := set(c.uses) - set(known):
            raise ValueError(f"claim {c.id} uses unknown claims: {', '.join(sorted(missing))}")
    try:
        order = TopologicalSorter({c.id: c.uses for c in known.values()}).static_order()
        return {name: known[name] for name in order}
    except CycleError as error:
        raise ValueError(f"claims prove each other: {' -> '.join(error.args[1])}") from None


def matching(patterns: Sequence[str]) -> list[Claim]:
    """Return the claims whose id equals, starts with, or matches a pattern; all claims for no pattern.

    Raises
    ------
    InputError
        A pattern matches no claim.
    """
    known = claims()
    if not patterns:
        return sorted(known.values(), key=lambda c: c.id)
    found: dict[str, Claim] = {}
    for pattern in patterns:
        hits = {i: c for i, c in known.items() if i.startswith(pattern + ".") or fnmatch.fnmatchcase(i, pattern)}
        if not hits:
            near = difflib.get_close_matches(pattern[:80], known, n=3)
            hint = f"did you mean {', '.join(near)}?" if near else "`exaq verify` without a pattern lists all"
            raise InputError(f"no claim matches {pattern[:80]!r}; {hint}")
        found |= hits
    return sorted(found.values(), key=lambda c: c.id)


def claim(name: str) -> Claim:
    """Return the claim called ``name``."""
    known = claims()
    if name not in known:
        near = difflib.get_close_matches(name[:80], known, n=3)
        hint = f"did you mean {', '.join(near)}?" if near else "`exaq verify` lists all"
        raise InputError(f"no claim is called {name[:80]!r}; {hint}")
    return known[name]
