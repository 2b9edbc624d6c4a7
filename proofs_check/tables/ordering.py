"""Models in the order of a quantity, every sign certified."""

from collections.abc import Callable, Sequence

from exactchains.enclosure import Enclosure
from exactchains.truth import DoesNotExist, Undecided

__all__ = ["ordered"]

DIGITS = (3, 6, 12, 24)


def ordered(names: Sequence[str], value: Callable[[str, int], Enclosure | None]) -> str:
    """Return the names, the least value first: ``a, b = c``; those whose value does not exist in brackets at the end.

    ``value(name, digits)`` encloses a value.  Digits rise only for values that are not yet apart from a neighbour's.

    Raises
    ------
    Undecided
        Two enclosures overlap at 24 digits, or one is not found to as many digits as are needed.

    Examples
    --------
    >>> values = {"b": "1/3", "a": "0.33", "c": "1/3"}
    >>> ordered(list(values), lambda name, digits: Enclosure.exact(values[name]))
    'a, b = c'
    """
    found: dict[str, Enclosure] = {}
    absent, open_names = [], list(names)
    for digits in DIGITS:
        for name in open_names:
            try:
                enclosure = value(name, digits)
            except DoesNotExist:
                enclosure = None
            if enclosure is None:
                absent.append(name)
            else:
                found[name] = enclosure
        open_names = [a for a in found if any(_together(found[a], found[b]) for b in found if a != b)]
        if not open_names:
            return _listed(found, absent)
    raise Undecided(f"the order of {', '.join(open_names)} is not decided with {DIGITS[-1]} digits: they may be equal")


def _together(a: Enclosure, b: Enclosure) -> bool:
    """Return whether it is open which of two values is the greater, or whether they are equal."""
    tied = a.is_exact and b.is_exact and a.lower == b.lower
    return a.overlaps(b) and not tied


def _listed(found: dict[str, Enclosure], absent: list[str]) -> str:
    groups: dict[object, list[str]] = {}
    for name, x in found.items():
        groups.setdefault(x.lower, []).append(name)
    listed = ", ".join(" = ".join(groups[low]) for low in sorted(groups))  # type: ignore[type-var]
    return listed + (f" (none: {', '.join(absent)})" if absent else "")
