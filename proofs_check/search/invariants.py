"""Invariants of an induction over integers: guesses them, keeps those that steps keep.

Candidates are signs of the states (powers, sums, sequences), comparisons of them, the statement and the user's lemmas.
Those that fail at a sampled state are dropped; then those whose step has no proof from the others, until all have one.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import sympy

from proofs_check.check import transitions as checked
from proofs_check.check.boxes import box_of
from proofs_check.check.expression import expression
from proofs_check.check.polynomial import Ratio, substituted
from proofs_check.check.sign import Domain
from proofs_check.integer_terms import Integers
from proofs_check.search.algebra import constraints, poly, positive_texts, ratio, text
from proofs_check.search.bernstein import Point, at, inside, value
from proofs_check.search.handelman import NotFound, sign_text
from proofs_check.search.induction import Reducer, statement_signs
from proofs_check.search.prover import Answer, certificate
from proofs_check.search.refuter import axis

SAMPLES, WALK, SEED = 40, 4, 20230301
MAX_PRODUCTS = 1500
MAX_SHOWN = 5  # invariants in one line of the answer
Json = dict[str, Any]
Step = list[Any]  # [text, cofactors]
Claim = tuple[str, str, str]


@dataclass
class Search:
    """The search for invariants of one statement; ``kept`` are those that survived so far."""

    names: tuple[str, ...]
    domain: Json
    integers: Integers
    claim: Claim
    until: float

    def __post_init__(self) -> None:
        least, states = self.integers.least, self.integers.states
        state = [*least, *states]
        stay = {n: n for n in state}
        self.problem = {
            "variables": list(self.names),
            "domain": {s: list(c) for s, c in self.domain.items()},
            "state": state,
            "starts": [{**{n: str(a) for n, a in least.items()}, **{n: s.start for n, s in states.items()}}],
            "steps": {
                n: {"set": {**stay, n: f"{n}+1", **{m: s.after for m, s in states.items() if s.index == n}}}
                for n in least
            },
        }
        said: Json = {"claim": list(self.claim)}
        if self.integers.assume:
            said["assume"] = {s: list(c) for s, c in self.integers.assume.items()}
        self.conclusion = {"statements": [said]}
        self.system = checked.read(self.problem)
        self.squares = tuple(n for n in self.names if n not in self.domain)
        self.zeros: list[str] = []
        self.plain: set[str] = set()
        self.kept: dict[str, list[str]] = {}
        self.simple: set[str] = set()
        self.candidates()

    def candidates(self) -> None:
        """Fill ``kept`` with what holds at the sampled states, and ``zeros`` with what vanishes there."""
        least, states = self.integers.least, self.integers.states
        seen = _sampled(self.system, self.names)
        listed = [(f"{n}-{a}", ">=") for n, a in least.items()] + [(n, ">") for n, a in least.items() if a > 0]
        self.plain = {f for f, _ in listed}
        for left, relation, right in (*self.integers.lemmas, self.claim):
            f = expression(left, self.system.vocabulary) - expression(right, self.system.vocabulary)
            top = _cleared(f if relation in (">", ">=", "=") else -f, seen)
            if relation == "=":
                self.zeros += [top] if not f.is_zero() else []
            else:
                listed.append((top, ">" if relation in (">", "<") else ">="))
        first = dict.fromkeys(listed)
        for n, s in states.items():
            listed += [(n, ">"), (n, ">="), (f"1-{n}", ">="), (f"{n}-1", ">=")]
            if not s.base:
                listed += [(f"{n}-({s.after})", ">="), (f"({s.after})-{n}", ">=")]
        for a, b in combinations(states, 2):
            listed += [(f"{a}-{b}", ">="), (f"{b}-{a}", ">=")]
        for f, relation in dict.fromkeys(listed):
            meaning = expression(f, self.system.names)
            values = [value(meaning, point) for point in seen]
            if f in [x for x, r in self.kept.values() if r == ">"] or meaning.bottom:
                continue  # the strict form holds already
            if all(v is not None and (v > 0 or (v == 0 and relation == ">=")) for v in values):
                self.kept[symbol := f"i{len(self.kept) + 1}"] = [f, relation]
                if (f, relation) in first:
                    self.simple.add(symbol)
        self.zeros = [z for z in self.zeros if all(value(expression(z, self.system.names), p) == 0 for p in seen)]

    def proved(self) -> Answer:
        """Return the answer, from statement and lemmas alone if they are enough, or raise NotFound."""
        every = self.kept
        self.kept = {s: c for s, c in every.items() if s in self.simple}
        try:
            return self.attempt()
        except NotFound:
            self.kept = every
            return self.attempt()

    def attempt(self) -> Answer:
        """Return the answer from the candidates in ``kept``, or raise NotFound."""
        self.zeros = [z for z, keeps in zip(self.zeros, self.vanishing(), strict=True) if keeps]
        reducer, texts = self.reducer(), dict[str, tuple[str, dict[str, Step]]]()
        while todo := [s for s in self.kept if s not in texts]:
            here = self.invariants()
            for symbol in todo:
                try:
                    texts[symbol] = self.texts(symbol, here, reducer)
                except NotFound:
                    del self.kept[symbol]
            texts = {s: t for s, t in texts.items() if _symbols(t) & set(here.meaning) <= set(self.kept)}
        everywhere = checked.joined(self.system.domain, self.invariants())
        signs, divisors = statement_signs(self.system, self.conclusion["statements"], everywhere, reducer, self.squares)
        positive = positive_texts(divisors, everywhere)
        for start in self.system.starts:
            positive += positive_texts(start.values(), self.system.domain)
        for moved, guarded in self.system.steps.values():
            positive += positive_texts(moved.values(), checked.joined(guarded, self.invariants()))
        used, more = set[str](), _symbols((signs, positive))
        while more := more & set(self.kept) - used:
            used, more = used | more, _symbols([texts[s] for s in more])
        self.kept = {s: c for s, c in self.kept.items() if s in used}
        proof = {
            "equalities": self.zeros,
            "invariants": self.kept,
            "starts": [{s: texts[s][0] for s in self.kept}],
            "steps": {
                n: {"equalities": zeros, "invariants": {s: texts[s][1][n] for s in self.kept}}
                for n, zeros in self.cofactors(reducer).items()
            },
            "positive": list(dict.fromkeys(positive)),
            "signs": signs,
        }
        return Answer("proved", self.how(), certificate("induction", self.problem, self.conclusion, proof))

    def helpers(self) -> str:
        """Return the invariants for a reader, without those that only bound an integer."""
        texts = [f"{f} {r} 0" for f, r in self.kept.values() if f not in self.plain] + [f"{z} = 0" for z in self.zeros]
        shown = {n: s.shown for n, s in self.integers.states.items()}
        more = ["..."] if len(texts) > MAX_SHOWN else []
        return ", ".join(
            [*(re.sub(r"[A-Za-z]\w*", lambda m: shown.get(m[0], m[0]), t) for t in texts[:MAX_SHOWN]), *more]
        )

    def how(self) -> str:
        helpers = self.helpers()
        return f"induction over {' and '.join(self.integers.least)}" + (
            f"; kept by every step: {helpers}" if helpers else ""
        )

    def invariants(self) -> Domain:
        return Domain(self.system.names, self.kept)

    def reducer(self) -> Reducer:
        zeros = [expression(z, self.system.names) for z in self.zeros]
        return Reducer(zeros, list(self.integers.states), self.system.names)

    def texts(self, symbol: str, invariants: Domain, reducer: Reducer) -> tuple[str, dict[str, Step]]:
        """Return the proofs that an invariant holds at the start and after each step."""
        if time.process_time() > self.until:
            raise NotFound("no time is left")
        meaning, strict = invariants.meaning[symbol], symbol in invariants.strict
        (start,) = self.system.starts
        first = self.sign(ratio(substituted(meaning, start)), self.system.domain, strict)
        steps = {}
        for name, (moved, guarded) in self.system.steps.items():
            rest, cofactors = reducer(ratio(substituted(meaning, moved)))
            steps[name] = [self.sign(rest, checked.joined(guarded, invariants), strict), cofactors]
        return first, steps

    def sign(self, f: Any, domain: Domain, strict: bool) -> str:
        """Return a text that shows the sign of f, from constraints in its own variables if they are enough."""
        given = constraints(domain, self.squares)
        near = {s: (g, sure) for s, (g, sure) in given.items() if g.free_symbols <= f.free_symbols}
        for some in [near, given] if len(near) < len(given) else [given]:
            try:
                return sign_text(f, some, strict=strict, limit=MAX_PRODUCTS)
            except NotFound:
                continue
        raise NotFound("no proof of a sign")

    def vanishing(self) -> Iterator[bool]:
        """Yield whether each of ``zeros`` vanishes at the start and, since all do, after every step."""
        reducer = self.reducer()
        for z in list(self.zeros):
            zero = expression(z, self.system.names)
            moves = [ratio(substituted(zero, moved)) for moved, _ in self.system.steps.values()]
            starts = all(substituted(zero, start).is_zero() for start in self.system.starts)
            yield starts and all(sympy.expand(reducer(m)[0]) == 0 for m in moves)

    def cofactors(self, reducer: Reducer) -> dict[str, list[list[str]]]:
        zeros = [expression(z, self.system.names) for z in self.zeros]
        return {
            n: [reducer(ratio(substituted(zero, moved)))[1] for zero in zeros]
            for n, (moved, _) in self.system.steps.items()
        }


def _sampled(system: checked.System, names: tuple[str, ...]) -> list[Point]:
    """Return states that steps reach from points of the domain, as points of all names."""
    rng, box = np.random.default_rng(SEED), box_of(system.domain)
    axes = {n: axis(box[n].low, box[n].high, 4) for n in names}
    found: list[Point] = []
    for _ in range(SAMPLES):
        point = {n: axes[n][rng.integers(len(axes[n]))] for n in names}
        if not inside(system.domain, point):
            continue
        (start,) = system.starts
        if (state := _moved(start, point)) is None:
            continue
        found.append(state)
        for name in (*system.steps, *rng.choice(list(system.steps), WALK)):
            if (state := _moved(system.steps[name][0], state)) is None:
                break
            found.append(state := {**point, **state})
    return found


def _moved(values: Mapping[str, Ratio], point: Point) -> Point | None:
    found = {name: value(f, point) for name, f in values.items()}
    exact = {name: x for name, x in found.items() if x is not None}
    return {**point, **exact} if len(exact) == len(found) else None


def _cleared(f: Ratio, seen: Sequence[Point]) -> str:
    """Return a polynomial, as text, with the sign of f at the sampled states."""
    turned = 1
    for factor, power in f.bottom.items():
        if power % 2 and all(at(factor, point) < 0 for point in seen):
            turned = -turned
    return text(turned * poly(f.top))


def _symbols(texts: Any) -> set[str]:
    return set(re.findall(r"[A-Za-z]\w*", str(texts), re.ASCII))
