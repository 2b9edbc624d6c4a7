"""The certificate of G and R as exact text, for the checker kind *rates*."""

from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpq_mat, fmpz, fmpz_mat

from exactchains.level_chain import LevelChain
from exactchains.solvers.level_drift import Drift, DriftProof
from exactchains.solvers.level_integers import LevelIntegers
from exactchains.solvers.rate_bounds import Around, Bounds
from exactchains.solvers.rate_proof import GAMMA_BITS, rate_proof
from exactchains.truth import Undecided

if TYPE_CHECKING:
    from exactchains.solvers.matrix_geometric import RateMatrix

FORMAT = 1
FOUND_BY = {"tool": "exactchains.solvers"}


def rate_certificate(rates: "RateMatrix") -> dict[str, Any] | None:
    """Return the certificate; None where no vectors prove the bounds."""
    try:
        conclusion, proof = rate_parts(rates)
    except Undecided:
        return None
    conclusion["status"], proof["drift"] = rates.status, drift_text(rates.drift)
    problem = level_problem(rates.chain, boundary=False)
    return certificate("rates", problem, conclusion, proof)


def drift_certificate(rates: "RateMatrix") -> dict[str, Any]:
    """Return the certificate that the chain is recurrent, null recurrent or transient (kind *level-drift*)."""
    problem = level_problem(rates.chain, boundary=False)
    return certificate("level-drift", problem, {"status": rates.status}, drift_text(rates.drift))


def certificate(kind: str, problem: Any, conclusion: Any, proof: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": kind,
        "problem": problem,
        "conclusion": conclusion,
        "proof": proof,
        "found_by": dict(FOUND_BY),
    }


def rate_parts(rates: "RateMatrix") -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the bounds of G and R, and the vectors that prove them.

    Raises
    ------
    Undecided
        An inequality that a checker will ask for does not hold.
    """
    if rates.exact is not None:
        return _exact_parts(rates)
    if rates.work is None:
        first, rate, vectors = rates.in_integers
        return {"G": _text(first), "R": _text(rate)}, {name: _vector(x) for name, x in vectors.items()}
    assert isinstance(rates.first, Around)
    if not _between_solutions(rates.blocks, rates.first, rates.rate):
        raise Undecided("the bounds of G and R are no sub- and super-solution")
    found = rate_proof(rates.work, rates.first)
    bounds: dict[str, Any] = {"G": _text(rates.first), "R": _text(rates.rate)}
    proof: dict[str, Any] = {"t": [integer_text(x) for x in found.t]}
    if found.V is not None:
        return bounds, proof | {"V": _rows(found.V)}
    gamma = rational_text(fmpq(found.gamma, fmpz(1) << GAMMA_BITS))
    vectors = {name: [integer_text(x) for x in getattr(found, name)] for name in ("u", "v")}
    return bounds, proof | {"gamma": gamma} | vectors


def _between_solutions(blocks: LevelIntegers, G: Bounds | Around, R: Bounds | Around) -> bool:
    """Return whether the ends of G and R are nonnegative sub- and super-solutions, in integers as a checker asks."""
    up = blocks.up * (fmpz(1) << G.bits + R.bits)
    for sign, first, rate in ((1, G.lower, R.lower), (-1, G.upper, R.upper)):
        inner = blocks.inner(first, G.bits)
        sides = (blocks.residual(first, inner, G.bits), rate * inner + up)
        if any(sign * x < 0 for side in sides for x in side.entries()):
            return False
    return all(x >= 0 for low in (G.lower, R.lower) for x in low.entries())


def _exact_parts(rates: "RateMatrix") -> tuple[dict[str, Any], dict[str, Any]]:
    """Bounds that coincide; the vectors solve (gamma up + local + up G) v = -1 and (local + up G) t = -1 exactly.

    At drift zero v does not exist, nor is it needed: G 1 = 1.
    """
    assert rates.exact is not None
    G, R = rates.exact
    up, local = fmpq_mat(rates.blocks.up), fmpq_mat(rates.blocks.local)
    inner, m = -1 * (local + up * G), rates.blocks.size
    ones, gamma = fmpq_mat(m, 1, [1] * m), fmpq(1) if any(G.entries()) else fmpq(1, 2)
    proof: dict[str, Any] = {"t": _scaled(inner.solve(ones))}
    if rates.drift.drift is not Drift.NULL_RECURRENT:
        proof |= {"gamma": str(gamma), "u": ["1"] * m, "v": _scaled((inner - up * gamma).solve(ones))}
    return {"G": _exact_text(G), "R": _exact_text(R)}, proof


def drift_text(proof: DriftProof) -> dict[str, Any]:
    y = [rational_text(x) for x in proof.y]
    return {"members": list(proof.members), "y": y, "constant": rational_text(proof.constant)}


def level_problem(chain: LevelChain, *, boundary: bool) -> dict[str, Any]:
    """Return the chain as exact text, dense blocks by name."""
    problem: dict[str, Any] = {"time": chain.time}
    for name in ("up", "local", "down", "reset"):
        if (block := getattr(chain, name)) is not None:
            problem[name] = [[rational_text(x) for x in row] for row in block]
    if boundary:
        assert chain.boundary_local is not None
        width = len(chain.boundary_local)
        for name, across in (("boundary_local", width), ("boundary_up", chain.phases), ("boundary_down", width)):
            rows = getattr(chain, name)
            problem[name] = [[rational_text(row.get(j, fmpq(0))) for j in range(across)] for row in rows]
    return problem


def rational_text(x: fmpq) -> str:
    """Return ``p/q`` with long integers in hexadecimal."""
    return integer_text(int(x.p)) if x.q == 1 else f"{integer_text(int(x.p))}/{integer_text(int(x.q))}"


def integer_text(x: int) -> str:
    if -(10**18) < x < 10**18:
        return str(x)
    return f"-0x{-x:x}" if x < 0 else f"0x{x:x}"


def _text(bounds: Bounds | Around) -> dict[str, Any]:
    return {
        "over": integer_text(1 << bounds.bits),
        "lower": _rows(bounds.lower),
        "upper": _rows(bounds.upper),
    }


def _exact_text(matrix: fmpq_mat) -> dict[str, Any]:
    top, over = matrix.numer_denom()
    rows = _rows(top)
    return {"over": integer_text(int(over)), "lower": rows, "upper": rows}


def _vector(x: list[int] | fmpz_mat) -> Any:
    return _rows(x) if isinstance(x, fmpz_mat) else [integer_text(v) for v in x]


def _rows(matrix: fmpz_mat) -> list[list[str]]:
    return [[integer_text(int(x)) for x in row] for row in matrix.tolist()]


def _scaled(column: fmpq_mat) -> list[str]:
    top, _ = column.numer_denom()
    return [integer_text(int(x)) for x in top.entries()]
