"""A user's claims in a TOML file: variables, domain, statement; read by a small grammar with bounds on everything.

    [[claim]]
    id = "my.bound"
    variables = ["lam", "eps"]
    domain = ["0 < lam < 1", "0 <= eps <= 1/2"]
    statement = "lam*(1-lam) <= 1/4"
    expect = "proved"        # or "refuted"; this line may be left out

    [[claim]]
    id = "bernoulli"
    variables = ["x"]
    integers = ["n >= 0"]
    domain = ["x >= -1"]
    statement = "(1+x)^n >= 1 + n*x"

Expressions hold numbers, variables, + - * / ^ and parentheses; relations are <, <=, >, >=, =, perhaps in a chain.  An
equality in the domain gives one variable in terms of the others.  With ``integers`` exponents may hold them, and there
are sums and sequences: :mod:`proofs_check.integer_terms`.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exactchains.truth import InputError
from proofs_check.check.exact import Rejected
from proofs_check.check.polynomial import MAX_PRODUCTS, Work
from proofs_check.claim_domain import Relation, UserClaim, reduced, with_integers
from proofs_check.claim_grammar import NAME, tokens
from proofs_check.expression_size import bounded
from proofs_check.integer_terms import Terms, declared
from proofs_check.patience import OutOfTime, at_most

MAX_BYTES = 1_000_000
MAX_CLAIMS = 200
MAX_VARIABLES = 24
MAX_CONSTRAINTS = 100
MAX_CHARACTERS = 10_000
READ_PRODUCTS = 100_000  # products of terms that reading one claim may cost
SECONDS = 10

RELATIONS = re.compile(r"(<=|>=|==|<|>|=)")
_DOTTED = re.compile(r"""(?<![\w-])(?:["']?[\w-]++["']?[ \t]*+\.[ \t]*+){17}""")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
FIELDS = {"id", "text", "variables", "domain", "statement", "expect", "integers", "sequences", "lemmas"}


def read_claims(path: str | Path) -> list[UserClaim]:
    """Return the claims of a file.

    Raises
    ------
    InputError
        The file is no TOML, too large, or a claim is not in the grammar; the message names the claim and the part.
    """
    where = Path(path).name
    with Path(path).open("rb") as file:
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise InputError(f"{where}: more than {MAX_BYTES} bytes")
    try:
        with at_most(SECONDS):
            text = raw.decode("utf-8")
            deep = _DOTTED.search(text)
            data = {} if deep else tomllib.loads(text, parse_float=str)
    except OutOfTime:
        raise InputError(f"{where}: reading takes more than {SECONDS} s") from None
    except RecursionError:
        raise InputError(f"{where}: nested too deeply") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise InputError(f"{where} is no TOML file: {str(error)[:200]}") from None
    if deep:
        raise InputError(f"{where}: a key of more than 16 parts; fields are {', '.join(sorted(FIELDS))}")
    listed = data["claim"] if set(data) == {"claim"} else [data]
    if not isinstance(listed, list) or not listed or len(listed) > MAX_CLAIMS:
        raise InputError(f"{where}: write 1 to {MAX_CLAIMS} tables [[claim]] with variables, domain, statement")
    found = [_claim(entry, f"{Path(path).stem}.{i}") for i, entry in enumerate(listed, 1)]
    if len({c.id for c in found}) != len(found):
        raise InputError(f"{where}: two claims share an id; give each its own")
    return found


def _claim(entry: Any, name: str) -> UserClaim:
    if not isinstance(entry, dict):
        raise InputError(f"claim {_safe(name)}: a table with variables, domain and statement is needed")
    name = entry.get("id", _safe(name))
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise InputError(f"id = {_shown(name)}: letters, digits, dots and dashes, at most 100")
    Work.spent = MAX_PRODUCTS - READ_PRODUCTS
    try:
        if foreign := set(entry) - FIELDS:
            raise InputError(f"unknown field {_shown(min(foreign))}; fields are {', '.join(sorted(FIELDS))}")
        expect, text = entry.get("expect", "proved"), entry.get("text", "")
        if expect not in ("proved", "refuted"):
            raise InputError(f"expect = {_shown(expect)}: allowed are proved | refuted")
        if not isinstance(text, str):
            raise InputError("text is a sentence in quotes")
        names = _variables(entry.get("variables", []))
        terms = None
        if set(entry) & {"integers", "sequences", "lemmas"}:
            terms = declared(entry.get("integers", []), entry.get("sequences", {}), names)
        relations, statements, lemmas = (
            [r for line in _lines(entry.get(part, []), part) for r in _relations(line, names, terms)]
            for part in ("domain", "statement", "lemmas")
        )
        if not statements:
            raise InputError('statement is missing; write one such as statement = "x*(1-x) <= 1/4"')
        if terms:
            said = text or "; ".join(_lines(entry["statement"], "statement"))
            return with_integers(name, said, terms, relations, statements, lemmas, expect)
        return reduced(name, text, names, relations, statements, expect)
    except (InputError, Rejected) as error:
        long = f"written out it costs more than {READ_PRODUCTS} products of terms"
        raise InputError(f"claim {name}: {long if 'products of terms' in str(error) else error}") from None


def _variables(listed: Any) -> list[str]:
    names = [n.strip() for n in listed.split(",")] if isinstance(listed, str) else listed
    if not isinstance(names, list) or len(names) > MAX_VARIABLES:
        raise InputError(f"variables: a list of at most {MAX_VARIABLES} names")
    for n in names:
        if not isinstance(n, str) or not NAME.fullmatch(n):
            raise InputError(f"variable {_shown(n)}: a letter, then letters, digits or _, at most 40")
    if len(set(names)) != len(names):
        raise InputError("a variable is listed twice")
    return names


def _lines(x: Any, what: str) -> list[str]:
    listed = x if isinstance(x, list) else [x]
    if not all(isinstance(line, str) for line in listed):
        raise InputError(f"{what}: relations in quotes, such as 0 <= x <= 1")
    split = [part for line in listed for part in _parts(line) if part.strip()]
    if len(split) > MAX_CONSTRAINTS:
        raise InputError(f"{what}: at most {MAX_CONSTRAINTS} relations")
    if any(len(line) > MAX_CHARACTERS for line in split):
        raise InputError(f"{what}: at most {MAX_CHARACTERS} characters a relation")
    return split


def _parts(line: str) -> Iterator[str]:
    """Yield what commas and the word ``and`` separate outside of parentheses."""
    depth, start = 0, 0
    for match in re.finditer(r"[(),]|\band\b", line):
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0 and match[0] not in "()":
            yield line[start : match.start()]
            start = match.end()
    yield line[start:]


def _relations(line: str, names: list[str], terms: Terms | None) -> list[Relation]:
    """Return the relations of a chain a < b <= c as (left, relation, right)."""
    parts = RELATIONS.split(line)
    if len(parts) < 3:
        raise InputError(f"{_shown(line.strip())} is no relation; use <, <=, >, >= or =")
    sides = [_integer_side(side, terms) if terms else _side(side, names) for side in parts[::2]]
    signs = ["=" if sign == "==" else sign for sign in parts[1::2]]
    return list(zip(sides, signs, sides[1:], strict=False))


def _side(text: str, names: list[str]) -> str:
    """Return an expression in the grammar of certificates, after its size was found to be bounded."""
    words = tokens(text)
    for word in words:
        if word == ",":
            raise InputError("',' is not allowed inside parentheses; use numbers, names, + - * / ^ ( )")
        if word[0].isalpha() and word not in names:
            raise InputError(f"unknown name {_shown(word)}; variables are {', '.join(names) or 'none'}")
    if not words:
        raise InputError("a relation has an empty side")
    bounded(side := "".join(words), names)
    return side


def _integer_side(text: str, terms: Terms) -> str:
    """Return an expression in variables, integers and states, after its size was found to be bounded."""
    side = terms.read(text)
    for part in (side, *(t for s in terms.states.values() for t in (s.start, s.after))):
        bounded(part, [*terms.known, *terms.states])
    return side


def _shown(x: Any) -> str:
    text = ascii(x) if isinstance(x, str) else type(x).__name__
    return text if len(text) <= 50 else f"{text[:40]}..' ({len(x)} characters)"


def _safe(name: str) -> str:
    """Return a file name as an id."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)[:90].lstrip("._-") or "claim"
