"""Kind *words*: identities between vectors and matrices of any size, as words in letters that do not commute.

problem     ``scalars``: names; ``letters``: names; ``given``: elements that are zero
conclusion  ``zero``: elements that therefore are zero
proof       ``combinations``: one list a conclusion, of [scalar, left word, index into given, right word]

An element is a list of [scalar, word]: the sum of scalar times the product of the letters of the word.  It follows if
it is the sum of scalar * left * given * right; nothing about the size or the entries of the matrices is used.
"""

from collections.abc import Mapping
from typing import Any

from proofs_check.check.exact import Rejected, fields, integer, items, word
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, constant
from proofs_check.check.statements import variables

MAX_LETTERS = 1000
Word = tuple[str, ...]
Element = dict[Word, Ratio]


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    fields(problem, "scalars letters given")
    fields(conclusion, "zero")
    fields(proof, "combinations")
    scalars, letters = variables(problem["scalars"]), set(variables(problem["letters"]))
    given = [element(x, scalars, letters) for x in items(problem["given"])]
    wanted = [element(x, scalars, letters) for x in items(conclusion["zero"])]
    if not wanted:
        raise Rejected("nothing is stated")
    for i, (target, terms) in enumerate(zip(wanted, items(proof["combinations"], len(wanted)), strict=True)):
        rest = dict(target)
        for term in items(terms):
            scalar, left, index, right = items(term, 4)
            if integer(index) >= len(given):
                raise Rejected("no such given element")
            before, after = _word(left, letters), _word(right, letters)
            factor = constant(-1) * _scalar(scalar, scalars)
            for middle, x in given[index].items():
                _add(rest, (*before, *middle, *after), factor * x)
        if any(not x.is_zero() for x in rest.values()):
            raise Rejected(f"conclusion {i + 1} is another element than the combination of the given ones")


def element(terms: Any, scalars: Mapping[str, Ratio], letters: set[str]) -> Element:
    """Return the element that a list of [scalar, word] spells."""
    found: Element = {}
    for term in items(terms):
        scalar, letters_of_term = items(term, 2)
        _add(found, _word(letters_of_term, letters), _scalar(scalar, scalars))
    return found


def _add(total: Element, product: Word, x: Ratio) -> None:
    total[product] = total[product] + x if product in total else x


def _scalar(text: Any, scalars: Mapping[str, Ratio]) -> Ratio:
    value = expression(text, scalars)
    if value.bottom:
        raise Rejected("a scalar must be a polynomial")
    return value


def _word(listed: Any, letters: set[str]) -> Word:
    found = tuple(word(letter) for letter in items(listed))
    if len(found) > MAX_LETTERS or not set(found) <= letters:
        raise Rejected("a word of unknown letters")
    return found
