"""Three-valued logic, the two ways in which a question can fail to have an answer, and bad input."""

import enum


class DoesNotExist(ValueError):
    """What was asked for does not exist: an unstable system, a law of a reducible chain."""


class Undecided(ArithmeticError):
    """It exists or not, but this computation could not decide; more precision or effort may."""


class PrecisionExhausted(Undecided):
    """The precision limit was reached before the digits that were asked for."""


class InputError(ValueError):
    """Bad input: one line that names the parameter, its value, what is allowed and what to do."""


class Truth(enum.Enum):
    """The answer to a question about enclosures."""

    TRUE = "true"
    FALSE = "false"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        if self is Truth.UNKNOWN:
            raise Undecided("not decided at this precision; raise the precision or use QQ")
        return self is Truth.TRUE


_ENTRY = {
    "FiniteChain": "stationary",
    "LevelChain": "level_law",
    "DependentChain": "dependent_law",
    "CountableChain": "expectation",
}


def expect(chain: object, kind: type) -> None:
    """Refuse what is no chain of this kind; the message names the function that solves the kind given."""
    if not isinstance(chain, kind):
        given = type(chain).__name__
        advice = f"; {_ENTRY[given]} solves those" if given in _ENTRY else f"; make one with {kind.__name__}.from_.."
        raise InputError(f"chain: a {kind.__name__} is needed, this is a {given}{advice}")
