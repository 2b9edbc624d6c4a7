"""Statements about all integers: refuted at integers, proved for reals or by induction, or undecided."""

import time
from itertools import product

from proofs_check.check.boxes import box_of, described
from proofs_check.check.exact import Rejected
from proofs_check.check.sign import Domain
from proofs_check.check.statements import variables
from proofs_check.integer_terms import Integers
from proofs_check.search import instances
from proofs_check.search.handelman import NotFound
from proofs_check.search.invariants import Claim, Json, Search
from proofs_check.search.prover import PATIENCE, Answer, answer, refuted
from proofs_check.search.refuter import counterexample

SMALL, LARGE = {1: 12, 2: 5}, (20, 40)  # integers above the least one at which a statement is tried


def for_all_integers(
    names: tuple[str, ...], domain: Json, integers: Integers, claim: Claim, *, patience: float = PATIENCE
) -> Answer:
    """Return whether the relation holds at every point of the domain and for all integers from their least values on.

    Parameters
    ----------
    names, domain
        Real variables (integers that are only numbers among them), and {symbol: [expression, ">" or ">="]}.
    integers
        The integers with their states; see :class:`proofs_check.integer_terms.Integers`.
    claim
        (left, relation, right) in variables, integers and states.

    Guarantee
    ---------
    Proved and refuted come with a certificate that the independent checker has accepted.
    """
    until = time.process_time() + patience
    case = instances.Case(names, domain, integers, claim)
    if found := _refutation(case, 0.0, until):
        return found
    if not integers.states:  # true of all reals, perhaps
        above = {f"n{i}": [f"{n}-{a}", ">="] for i, (n, a) in enumerate(integers.least.items())}
        found = answer((*names, *integers.least), domain | above | dict(integers.assume), claim, patience=patience / 4)
        if found.verdict == "proved":
            return found
    search = Search(names, domain, integers, claim, until)
    try:
        return search.proved()
    except (NotFound, Rejected):
        pass
    if found := _refutation(case, patience / 10, until + patience / 2):
        return found
    how = f"no induction found (kept by every step: {search.helpers() or 'nothing of use'}); a lemma may help"
    return Answer("undecided", how, None, whole(names, domain, integers))


def whole(names: tuple[str, ...], domain: Json, integers: Integers | None) -> str:
    """Return the box of the domain, integers included, as text."""
    box = described(box_of(Domain(variables(list(names)), domain)))
    least = integers.least if integers else {}
    return ", ".join([*([box] if box else []), *(f"{n} >= {a}" for n, a in least.items())])


def _refutation(case: instances.Case, deep: float, until: float) -> Answer | None:
    """Return the refutation at the first integers that have one."""
    integers = {**case.integers.least, **case.integers.whole}
    small = sorted(
        product(*(range(a, a + SMALL.get(len(integers), 3)) for a in integers.values())), key=lambda v: (sum(v), v)
    )
    large = [tuple(a + far for a in integers.values()) for far in LARGE] if not deep else []
    for values in [*small, *large]:
        if time.process_time() > until:
            return None
        chosen = dict(zip(integers, values, strict=True))
        if (plain := case.at(chosen)) is None:
            continue
        problem = {"variables": list(plain.names), "domain": {s: list(c) for s, c in plain.domain.items()}}
        try:
            read = Domain(variables(problem["variables"]), problem["domain"])
            point = counterexample(plain.claim, read, box_of(read), deep=deep)
        except Rejected:
            continue
        if point is not None:
            return refuted(problem, plain.claim, point, chosen)
    return None
