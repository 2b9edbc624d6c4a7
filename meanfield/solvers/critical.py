"""Mean response of power of d with errors at every gap at eps = 1/d, near load 1, where the tails decay like 1/k."""

import math

from flint import arb, fmpq, fmpq_poly

from exactchains.domain import Balls, ball_ends
from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from exactchains.truth import Undecided
from meanfield.models.noisy import PowerOfD, error_polynomial
from meanfield.models.pools import whole

__all__ = ["beyond_recursion", "critical_response"]

MAX_TERMS = 1_000_000
MOST_DIGITS = 2000
FIRST = 1000
LONG = fmpq(1, 20_000)  # 1 - load below which the plain recursion takes a million terms for a few digits


def beyond_recursion(policy: PowerOfD) -> bool:
    """Whether errors at every gap have chance 1/d, d >= 3, so near load 1 that the plain recursion does not end."""
    return policy.g is None and policy.d > 2 and policy.d * policy.eps == 1 and 1 - policy.load < LONG


def critical_response(policy: PowerOfD, *, digits: int) -> Enclosure:
    r"""Return the mean response at :math:`d \varepsilon = 1`, :math:`d \ge 3`, at any load below 1.

    The recursion :math:`x_{k+1} = \lambda h(x_k)`, rounded outward, and the sum of the rest in closed form: with
    :math:`b = (d-1)/2`, :math:`\delta = 1-\lambda`, :math:`q = \delta + b x` and the polynomial p of
    :math:`(1 + b x) h(x) - x = x^3 p(x)`, neighbouring levels satisfy

    .. math:: \log\frac{q_k}{q_{k+1}} = \log(1 + b x_k) - \log\Bigl(1 + \frac{\lambda\, b\, p(x_k)\, x_k^3}{q_k}\Bigr),

    so that :math:`b \sum x` is a logarithm up to terms of second order, which integrals enclose.

    Guarantee
    ---------
    The mean response lies between the returned bounds.

    Raises
    ------
    Undecided
        More digits are asked for than a million levels give: the width falls like the square of their number.

    Source
    ------
    Ours; :math:`b u^2 - b^2 u^3 \le u - h(u) \le b u^2` is part of claim noisy.independent.critical-constant.
    """
    d, load, digits = policy.d, policy.load, whole(digits, "digits", "give", most=MOST_DIGITS)
    guard = int((1 - load).q).bit_length() - int((1 - load).p).bit_length()  # the distance to load 1 grows to order one
    with Balls(int(3.4 * digits) + 80 + guard).working():
        h = error_polynomial(d, policy.eps, fmpq_poly([0, 1]))
        cubic = [arb(c) for c in (h * fmpq_poly([1, fmpq(d - 1, 2)]) - fmpq_poly([0, 1])).coeffs()[3:]]
        kept, erring = arb(load * (1 - policy.eps)), arb(load * policy.eps)
        low, high = arb(load).lower(), arb(load).upper()
        below, above, check = arb(0), arb(0), FIRST
        for level in range(1, MAX_TERMS + 1):
            if level == check:
                check *= 2
                found = Enclosure(
                    ball_ends((below + _rest(low, cubic, policy)).lower() / arb(load))[0],
                    ball_ends((above + _rest(high, cubic, policy)).upper() / arb(load))[1],
                )
                if found.has_digits(digits):
                    return found
                if (1 - load) * MAX_TERMS < 1:  # x_k decays like 1/k to the end
                    _require_near(found, digits, level)
            below, above = (below + low).lower(), (above + high).upper()
            low = (kept * low**d + erring * (1 - (1 - low) ** d)).lower()
            high = (kept * high**d + erring * (1 - (1 - high) ** d)).upper()
            low = low if low > 0 else arb(0)
    raise Undecided(f"{MAX_TERMS} levels do not give {digits} digits of the mean response; ask for fewer")


def _require_near(found: Enclosure, digits: int, level: int) -> None:
    """Refuse at once digits that a million levels do not give: the width falls like the square of their number."""
    wanted = (found.upper - found.lower) / found.lower * fmpq(10) ** (digits - 1)
    gain = fmpq(MAX_TERMS, level) ** 2
    if wanted > 10 * gain:
        excess = nearest_double(wanted / gain)
        raise Undecided(
            f"{digits} digits of the mean response take more than {MAX_TERMS} levels; "
            f"ask for at most {max(digits - math.ceil(math.log10(excess)), 1)}"
        )


def _rest(x: arb, cubic: list[arb], policy: PowerOfD) -> arb:
    """Return a ball with x + lam h(x) + ..: the sums of x^2 and of x^2 b x/q are integrals, up to small factors.

    They lie between these integrals and the integrals over (lam (1 - b x))^2 and (lam (1 - b x))^3.
    """
    b, idle = arb(fmpq(policy.d - 1, 2)), arb(1 - policy.load)
    shrink = policy.load * (1 - b * x)
    log, zero = (1 + b * x / idle).log(), arb(0)
    squares = _between(1, 1 / shrink**2) * (b * x - idle * log) / b**2
    weighted = _between(1, 1 / shrink**3) * (b * x - 2 * idle * log + idle * b * x / (idle + b * x)) / b**2
    slope = policy.load * sum((c * zero.union(x) ** i for i, c in enumerate(cubic)), zero)
    small = slope * x**2
    quotient = 1 / (1 + zero.union(small))  # log(1 + t)/t lies between 1 and 1/(1 + t)
    second = b**2 / 2 * _between(1 - 2 * b * x / 3, 1) * squares + slope * _between(1, quotient) * weighted
    rest: arb = (log + second) / b
    return rest


def _between(low: arb | int, high: arb | int) -> arb:
    return arb(low).union(arb(high))
