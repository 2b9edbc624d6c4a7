"""Certificates of equilibria of rules that sample few servers, in integers, for the checker of kind ``krawczyk``."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq
from numpy.typing import NDArray

from exactchains.domain import ball_ends
from exactchains.enclosure import Enclosure
from exactchains.number import text, wire
from meanfield.models.pools import Pools
from meanfield.solvers.sampled import Rule

__all__ = ["INVERSE", "Witness", "document"]

SPARE = 24  # bits of the units below the last bit of the smallest level
INVERSE = 16  # bits of the inverse: it need only be near
MOST_UNKNOWNS, MOST_BITS, MOST_WORK = 300, 100_000, 2 * 10**9  # caps of the checker


@dataclass(frozen=True)
class Witness:
    """A proved box: ``levels[j, k]`` exp(+- ``radius``), tails below ``ratio``, and the inverse of the Jacobian."""

    rule: Rule
    weights: list[fmpq]
    levels: NDArray[Any]
    radius: list[arb]
    ratio: arb
    inverse: NDArray[Any]


def document(
    pools: Pools, load: fmpq, witness: Witness, mean: Enclosure, tails: Mapping[int, Enclosure]
) -> dict[str, Any] | None:
    """Return the certificate, of a box within the one that was proved; None: beyond the caps of the checker."""
    rule, p = witness.rule, witness.levels
    parts = [[_dyadic(x) for x in row] for row in p]
    scale = SPARE + max(-e for row in parts for _, e in row)
    factors = sum(len(terms) for kind in rule.kinds for terms in kind.values()) * rule.d * p.shape[1]
    bits = scale * rule.d
    if p.size > MOST_UNKNOWNS or bits > MOST_BITS or (factors + p.size**2) * bits > MOST_WORK:
        return None
    radius = [int((ball_ends(x)[0] * 7 / 8 * 2**scale).floor()) for x in witness.radius]
    size = p.shape[1]
    conclusion: dict[str, Any] = {
        "box": {
            "scale": scale,
            "levels": [[hex(m << (scale + e)) for m, e in row] for row in parts],
            "radius": [[hex(x) for x in radius[j * size : (j + 1) * size]] for j in range(len(p))],
            "ratio": wire(_rounded_up(ball_ends(witness.ratio)[1])),
        },
        "mean_queue": [wire(mean.lower), wire(mean.upper)],
    }
    if tails:
        conclusion["tail"] = [[k, wire(x.lower), wire(x.upper)] for k, x in tails.items()]
    rows = [[hex(round(float(x) * 2**INVERSE)) for x in row] for row in witness.inverse]
    return {
        "format": 1,
        "kind": "krawczyk",
        "problem": _problem(pools, load, witness),
        "conclusion": conclusion,
        "proof": {"inverse": [INVERSE, rows]},
        "found_by": {"tool": "meanfield.solvers.krawczyk", "version": "0.1.0"},
    }


def _problem(pools: Pools, load: fmpq, witness: Witness) -> dict[str, Any]:
    rule = witness.rule
    return {
        "load": text(load),
        "d": rule.d,
        "pools": [[text(p.fraction), text(p.speed), text(w)] for p, w in zip(pools, witness.weights, strict=True)],
        "sight": [rule.base, rule.reach],
        "table": [
            [
                [j * (rule.reach + 1) + r, list(others), text(share)]
                for (j, r), terms in kind.items()
                for share, others in terms
            ]
            for kind in rule.kinds
        ],
    }


def _dyadic(x: arb) -> tuple[int, int]:
    """Return (m, e) with x = m 2^e."""
    m, e = x.mid().man_exp()
    return int(m), int(e)


def _rounded_up(x: fmpq) -> fmpq:
    """Return a dyadic of 32 bits at or above x > 0."""
    shift = 32 + int(x.q).bit_length() - int(x.p).bit_length()
    return fmpq((x * fmpq(2) ** shift).ceil()) / fmpq(2) ** shift
