"""Findings that hold for every number of servers: from one sample, or from the form of the rule."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from exactchains.truth import InputError
from meanfield.models.expected_delay import SED
from meanfield.models.policy import Policy
from proofs_check.check.cells import Cell, leaves, root, servers
from proofs_check.check.sampling import power_ratio, top_ratio
from proofs_check.lyapunov.cells import samples
from proofs_check.lyapunov.domination import consequences
from proofs_check.lyapunov.finding import Finding, Row, certified, law, queues, ray

Json = dict[str, Any]
Cells = list[tuple[Cell, list[Fraction]]]
SIZE = 500  # largest denominator of a base in the search
SEE_ALL = ("jsq", "sa-jsq", "jiq", "sa-jiq")


def findings(policy: Policy, functions: tuple[str, ...], base: Fraction | None) -> list[Finding]:
    """Return what holds for every n >= d (every n with replacement) or every n that the pools divide."""
    if policy.d is None:
        return [_by_delay(policy, functions)] if isinstance(policy, SED) else _by_rule(policy)
    if policy.weighting == "speed" and not policy.replacement:
        raise InputError("sampling by speed without replacement has no bound for all n here; give n")
    problems = list(samples(policy))
    found = []
    if "domination" in functions:
        found.append(_tops(policy, problems))
    fair = len(policy.pools) == 1 or policy.weighting == "speed"  # a sampled position is a pick in proportion to speed
    if "quadratic" in functions and fair:
        found.append(_means(policy, problems))
    if "exponential" in functions and fair:
        found.append(_powers(policy, problems, base))
    if not found:
        raise InputError("uniform samples of unequal servers: for all n only domination is known; give n")
    return found


def _by_rule(policy: Policy) -> list[Finding]:
    rule = policy.rule or {}
    if rule.get("rule") not in SEE_ALL:
        raise InputError(
            f"{type(policy).__name__} sees all servers, so each n has its own cells and no one of them speaks for all:"
            f" give n; for every n at once sed and {', '.join(SEE_ALL)} are known, and rules with d samples, which a"
            " policy of yours becomes by a class field d"
        )
    load, speeds = _fraction(policy.load), [_fraction(s) for s in policy.pools.speeds]
    uniform = rule.get("fallback") == "uniform"
    rho = max(load / s for s in speeds) if uniform else load
    problem = {"policy": dict(rule), "speeds": list(map(str, speeds)), "load": str(load)}
    if rho >= 1:
        where = (
            f"cell without an idle server, those of speed {min(speeds)} with at least 2 jobs, the others with 1:"
            f" they get {rho} times the work that they can do"
        )
        statement = "no domination for all n: the fallback gives slow servers more than they can do"
        return [Finding("domination", statement, False, {"rho": str(rho), "load": str(load)}, ray=where)]
    return [
        Finding(
            "domination",
            f"n load P(joined in U) <= {rho} (speed of U) for U = {{q >= k}}, every k >= 1, every state and every n",
            True,
            {"rho": str(rho), "load": str(load)},
            follows=consequences(rho, load, None),
            certificate=certified("domination", problem, {"rho": str(rho)}, {}),
        )
    ]


def _by_delay(policy: SED, functions: tuple[str, ...]) -> Finding:
    """Return the bound by the function whose growth the rule minimises."""
    if "quadratic" not in functions:
        raise InputError("sed at every n: only --lyapunov quadratic is known; give n")
    load = _fraction(policy.load)
    problem = {"policy": {"rule": "sed"}, "speeds": list(map(str, policy.pools.speeds)), "load": str(load)}
    mean = load / (1 - load)
    return Finding(
        "quadratic",
        f"V = sum q_i (q_i + 1)/mu_i: L V <= n {2 * load} - {2 * (1 - load)} sum q_i in every state, every n, since an"
        " arrival adds 2 min (q_i + 1)/mu_i, at most its mean under the chances mu_j/n",
        True,
        {"load": str(load), "mean queue": str(mean)},
        follows=(
            "positive recurrent for every n",
            f"(1/n) E sum q_i <= {mean} for every n",
        ),
        certificate=certified("domination", problem, {"mean_queue": str(mean)}, {}),
    )


def _tops(policy: Policy, problems: list[Json]) -> Finding:
    load, slowest = _fraction(policy.load), min(map(_fraction, policy.pools.speeds))
    ratio, at = _largest(problems, top_ratio)
    fair = len(policy.pools) == 1 or policy.weighting == "speed"
    rho = load * ratio / (1 if fair else slowest)
    constants = {"ratio": str(ratio), "rho": str(rho), "load": str(load)}
    statement = f"in every sample P(joined in U) <= {ratio} (share of U), U = {{q >= k}}; so rho = {rho} for every n"
    if rho >= 1:
        return Finding("domination", f"no domination: rho = {rho}", False, constants, (at,), f"sample {at}")
    conclusion = {"bound": "top", "ratio": str(ratio)}
    return Finding(
        "domination", statement, True, constants, (at,), "", consequences(rho, load, None), _table(problems, top_ratio),
        _all(problems, conclusion),
    )  # fmt: skip


def _means(policy: Policy, problems: list[Json]) -> Finding:
    load = _fraction(policy.load)
    for problem in problems:
        for cell, join in _cells(problem):
            row = _excess(join)
            for r in cell.columns:
                if cell.along(row, r) > 0:
                    where = f"sample {ray(cell, r)}: the joined length outgrows the mean by {cell.along(row, r)} a step"
                    return Finding(
                        "quadratic", "the joined length is not near the mean of the sample", False, ray=where
                    )
    excess, at = _largest(problems, lambda cell, join: cell.least(_excess(join)))
    mean = load * (1 + excess) / (1 - load)
    return Finding(
        "quadratic",
        f"in every sample the joined length has mean <= mean of the sample + {excess}; V = sum q_i^2, every n",
        True,
        {"excess": str(excess), "load": str(load)},
        (at,),
        "",
        (
            "positive recurrent for every n",
            f"(1/n) E sum mu_i q_i <= {mean} for every n",
            f"L V <= n {load * (2 * excess + 1) + 1} - {2 * (1 - load)} sum mu_i q_i in every state",
        ),
        _table(problems, lambda cell, join: cell.least(_excess(join))),
        _all(problems, {"bound": "mean", "excess": str(excess)}),
    )


def _powers(policy: Policy, problems: list[Json], base: Fraction | None) -> Finding:
    load = _fraction(policy.load)

    def product(z: Fraction) -> Fraction:  # below 1: the transform at z is finite
        return z * load * _largest(problems, lambda cell, join: power_ratio(cell, join, z))[0]

    low, high = Fraction(1), 1 / load
    for _ in range(12):
        middle = ((low + high) / 2).limit_denominator(SIZE)
        if not low < middle < high:
            break
        low, high = (middle, high) if product(middle) < 1 else (low, middle)
    chosen = base or (simple((1 + low) / 2, Fraction(1), low) if low > 1 else 1 + (high - 1) / 2)
    ratio, at = _largest(problems, lambda cell, join: power_ratio(cell, join, chosen))
    value = chosen * load * ratio
    constants = {"base": str(chosen), "ratio": str(ratio), "base * load * ratio": str(value)}
    constants |= {"base reached": str(low), "base too large": str(high)}
    if value >= 1:
        statement = f"base {chosen}: base * load * ratio = {value} is not below 1"
        return Finding("exponential", statement, False, constants, (at,), f"sample {at}")
    return Finding(
        "exponential",
        f"in every sample the mean of ({chosen})^joined is <= {ratio} times the mean of ({chosen})^q",
        True,
        constants,
        (at,),
        "",
        (
            f"speed-weighted mean of E ({chosen})^q <= {(1 - load) / (1 - value)} for every n",
            "the stationary laws are tight in n, with exponential tails",
            f"base {low} works too, base {high} does not",
        ),
        _table(problems, lambda cell, join: power_ratio(cell, join, chosen)),
        _all(problems, {"bound": "power", "base": str(chosen), "ratio": str(ratio)}),
    )


def simple(x: Fraction, low: Fraction, high: Fraction) -> Fraction:
    """Return a fraction near x with a small denominator, between low and high."""
    return next(y for k in range(30) if low < (y := x.limit_denominator(10 * 2**k)) < high)


def _excess(join: list[Fraction]) -> list[Fraction]:
    return [p - Fraction(1, len(join)) for p in join]


def _largest(problems: list[Json], measure: Callable[[Cell, list[Fraction]], Fraction]) -> tuple[Fraction, str]:
    found = [(measure(cell, join), queues(cell)) for p in problems for cell, join in _cells(p)]
    most = max(x for x, _ in found)
    return most, next(where for x, where in found if x == most)


def _table(problems: list[Json], measure: Callable[[Cell, list[Fraction]], Fraction]) -> tuple[Row, ...]:
    cells = (part for p in problems for part in _cells(p))
    return tuple(Row(queues(cell), law(join), str(measure(cell, join)), ()) for cell, join in cells)


def _cells(problem: Json) -> Cells:
    return list(leaves(root(servers(problem["pools"])[0]), problem["cells"]))


def _all(problems: list[Json], conclusion: Json) -> Json:
    if len(problems) == 1:
        return certified("sample", problems[0], conclusion, {})
    parts = [{"kind": "sample", "problem": p} for p in problems]
    return certified("all", {"parts": parts}, {"parts": [conclusion] * len(parts)}, {"parts": [{}] * len(parts)})


def _fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))
