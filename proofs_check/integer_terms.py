"""Powers with integer exponents, sums and sequences in a user's claim: each becomes a state that a step moves on.

``x^(2*k+1)`` becomes ``x * x_to_k^2`` with the state x_to_k = x^k: 1 at k = 0, times x when k grows by one.
``sum(i, 1, n, 1/i^2)`` is a state that gains 1/(n+1)^2; a sequence is given by its first value and the next one.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from exactchains.truth import InputError
from proofs_check.check.exact import Rejected
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, variable
from proofs_check.claim_grammar import NAME, Reader, tokens

MAX_SUMMED = 200  # terms of a sum that are written out
MAX_EXPONENT = 200
MAX_TEXT = 20_000
MAX_INTEGERS = 4
MAX_SEQUENCES = 6

_DECLARED = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]{0,39})\s*(>=|>)\s*([0-9]{1,4})\s*", re.ASCII)


@dataclass(frozen=True)
class State:
    """A number that depends on one integer: its value at the least one, and after one more, in terms of before.

    ``base`` is that of a power; ``shown`` is how a reader knows the state.
    """

    index: str
    start: str
    after: str
    shown: str
    base: str = ""


class Terms:
    """Reads expressions over variables and integers; collects the states that they need.

    Parameters
    ----------
    names
        Real variables.
    least
        {integer: its least value}.
    """

    def __init__(self, names: list[str], least: Mapping[str, int]) -> None:
        self.names, self.least = names, dict(least)
        self.states: dict[str, State] = {}
        self.bases: dict[tuple[str, str], Ratio] = {}  # (state, integer) -> base
        self.known = {n: variable(n) for n in (*names, *least)}

    def sequence(self, name: str, index: str, first: str, following: str) -> None:
        """Add a sequence: its first value, and the next one in terms of the present ones."""
        start = Terms(self.names, {}).read(first)
        self.states[name] = State(index, start, name, name)  # so that the next value may hold it
        self.states[name] = State(index, start, self.read(following), name)

    def read(self, text: str) -> str:
        """Return an expression in variables, integers and states."""
        if not (listed := tokens(text)):
            raise InputError("an expression is empty")
        found = Reader(listed, self).whole()
        if len(found) > MAX_TEXT:
            raise InputError("an expression becomes too long")
        return found

    def power(self, base: str, exponent: Mapping[str, int], constant: int) -> str:
        """Return base ^ (sum of exponent times integer + constant) by states."""
        top, bottom = [], []
        for integer, times in exponent.items():
            if times:
                constant += times * self.least[integer]
                (top if times > 0 else bottom).append(_power(self._power_state(base, integer), abs(times)))
        if abs(constant) > MAX_EXPONENT:
            raise InputError(f"an exponent of {constant}; at most {MAX_EXPONENT}")
        if constant:
            (top if constant > 0 else bottom).append(_power(_grouped(base), abs(constant)))
        return f"({'*'.join(top or ['1'])}{''.join(f'/({b})' for b in bottom)})"

    def _power_state(self, base: str, integer: str) -> str:
        try:
            meaning = expression(base, self.known)
        except Rejected:
            raise InputError(
                f"base {base[:40]}: a base with an integer exponent holds numbers, variables and other integers only"
            ) from None
        for (name, index), other in self.bases.items():
            if index == integer and (meaning - other).is_zero():
                return name
        least, plain = self.least[integer], base.strip("()")
        stem = plain if plain.isidentifier() else f"power{len(self.bases) + 1}"
        name = f"{stem}_to_{integer}" + (f"_minus_{least}" if least else "")
        if name in self.known or name in self.states:
            raise InputError(f"{name} is needed as a name; rename yours")
        self.bases[name, integer] = meaning
        shown = f"{base}^({integer}-{least})" if least else f"{base}^{integer}"
        self.states[name] = State(integer, "1", f"{name}*{_grouped(base)}", shown, base)
        return name

    def summed(self, index: str, low: list[str], high: list[str], body: list[str]) -> str:
        """Return the state of a sum over index = low..high of body."""
        if index in self.known or index in self.states:
            raise InputError(f"sum: its index {index!r} is already a name")
        (none, first), (over, offset) = self.linear(low), self.linear(high)
        if none or sorted(over.values()) != [1]:
            raise InputError("sum(i, a, n, ..): a is a number, n an integer variable, perhaps plus a number")
        (integer,) = over
        last = self.least[integer] + offset
        if not first - 1 <= last <= first + MAX_SUMMED:
            raise InputError(f"sum from {first} to at least {last}: at most {MAX_SUMMED} terms, and none left out")

        def at(value: list[str]) -> str:
            return Reader([t for token in body for t in (value if token == index else [token])], self).whole()

        start = "+".join(f"({at([str(i)])})" for i in range(first, last + 1)) or "0"
        if len(start) > MAX_TEXT:
            raise InputError("a sum becomes too long")
        gain = at(["(", integer, "+" if offset >= -1 else "-", str(abs(offset + 1)), ")"])
        same = next((n for n, s in self.states.items() if (s.start, s.after) == (start, f"{n}+({gain})")), None)
        name = same or f"sum{sum(n.startswith('sum') for n in self.states) + 1}_to_{integer}"
        shown = f"sum({index},{first},{''.join(high)},{''.join(body)})"
        self.states[name] = State(integer, start, f"{name}+({gain})", shown)
        return name

    def linear(self, words: list[str]) -> tuple[dict[str, int], int]:
        """Return the coefficients and the constant of a linear expression in the integers."""
        text = "".join(words)
        try:
            f = expression(text, {n: variable(n) for n in self.least})
        except Rejected as reason:
            raise InputError(
                f"exponent or bound {text[:40]!r}: integers of the claim and numbers only; {reason}"
            ) from None
        found, constant = {}, 0
        for monomial, c in f.top.terms.items():
            if f.bottom or c != int(c) or len(monomial) > 1 or any(e > 1 for _, e in monomial):
                raise InputError(f"exponent or bound {text[:40]!r}: a sum of integers times whole numbers is needed")
            if abs(c) > MAX_EXPONENT:
                raise InputError(f"exponent or bound {text[:40]!r}: numbers up to {MAX_EXPONENT}")
            if monomial:
                found[monomial[0][0]] = int(c)
            else:
                constant = int(c)
        return found, constant

    @property
    def inducted(self) -> list[str]:
        """Return the integers over which an induction must run."""
        used = {s.index for s in self.states.values()}
        for name, s in self.states.items():
            others = (used & _words(s.after + " " + s.start)) - {s.index}
            foreign = {n for n in _words(s.after) & set(self.states) if self.states[n].index != s.index}
            if others or foreign or (s.base and used & _words(s.base)):
                what = f"the base {s.base}" if s.base else name
                raise InputError(f"{what} depends on more than one integer that stands in an exponent or ends a sum")
        return [n for n in self.least if n in used]


def _power(base: str, exponent: int) -> str:
    return base if exponent == 1 else f"{base}^{exponent}"


def _grouped(text: str) -> str:
    """Return an atom of the grammar as one that may be a factor and the base of a power."""
    return text if text[0] == "(" or text.isidentifier() else f"({text})"


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z][A-Za-z0-9_]*", text))


@dataclass(frozen=True)
class Integers:
    """The integer part of a claim: those an induction runs over with their least values, states, and the rest.

    ``whole`` are integers that only stand as numbers: a proof may take them for reals.  ``assume`` are constraints on
    integers and states; ``lemmas`` are [left, relation, right] that may help, and are proved like the statement.
    """

    least: Mapping[str, int]
    whole: Mapping[str, int]
    states: Mapping[str, State]
    assume: Mapping[str, tuple[str, str]]
    lemmas: tuple[tuple[str, str, str], ...]


def declared(listed: object, sequences: object, names: list[str]) -> Terms:
    """Return a reader for integers declared as ``["k >= 0"]`` and sequences ``{x = ["first", "next"]}``."""
    lines = [listed] if isinstance(listed, str) else listed
    if not isinstance(lines, list) or not 1 <= len(lines) <= MAX_INTEGERS:
        raise InputError(f'integers: 1 to {MAX_INTEGERS} in a list, each with its least value, such as ["n >= 1"]')
    least: dict[str, int] = {}
    for line in lines:
        match = _DECLARED.fullmatch(line) if isinstance(line, str) else None
        if not match or match[1] in names or match[1] in least:
            raise InputError(f'integers: {ascii(line)[:50]} is not of the form "n >= 1" with a new name')
        least[match[1]] = int(match[3]) + (match[2] == ">")
    if max(least.values()) > MAX_EXPONENT:
        raise InputError(f"integers: a least value of at most {MAX_EXPONENT}")
    terms = Terms(names, least)
    if not isinstance(sequences, Mapping) or len(sequences) > MAX_SEQUENCES:
        raise InputError(f'sequences: a table of at most {MAX_SEQUENCES}, such as {{ x = ["lam", "lam*x^2"] }}')
    if sequences and len(least) != 1:
        raise InputError("sequences need exactly one integer, their index")
    for name, pair in sequences.items():
        if not NAME.fullmatch(name) or name in terms.known or name == "sum":
            raise InputError(f"sequence {ascii(name)[:50]}: a new name is needed")
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(x, str) for x in pair):
            raise InputError(f'sequence {name}: two expressions, ["first value", "next value"]')
        terms.sequence(name, *least, *pair)
    return terms
