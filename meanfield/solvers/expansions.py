"""Light and heavy traffic of power of d with errors: exact series at load 0, enclosed constants towards load 1."""

from dataclasses import dataclass
from typing import Any

from flint import arb, fmpq, fmpq_poly

from exactchains.domain import QQ, Balls, ball_ends
from exactchains.enclosure import Enclosure
from exactchains.truth import DoesNotExist
from meanfield.models.noisy import PowerOfD, power_of_d
from meanfield.models.pools import whole
from meanfield.solvers.critical import critical_response
from meanfield.solvers.fixed_point import fixed_point

__all__ = ["heavy_traffic_offset", "heavy_traffic_slope", "light_traffic"]

MOST_ORDER, MOST_DIGITS = 60, 1000


@dataclass(frozen=True)
class _Series:
    """A power series in the load, cut after ``order``: the ring in which the routing law is evaluated."""

    value: fmpq_poly
    order: int

    def _new(self, value: fmpq_poly) -> "_Series":
        return _Series(fmpq_poly(value.coeffs()[: self.order + 1]), self.order)

    def _of(self, other: Any) -> fmpq_poly:
        return other.value if isinstance(other, _Series) else fmpq_poly([other])

    def __add__(self, other: Any) -> "_Series":
        return self._new(self.value + self._of(other))

    def __sub__(self, other: Any) -> "_Series":
        return self._new(self.value - self._of(other))

    def __rsub__(self, other: Any) -> "_Series":
        return self._new(self._of(other) - self.value)

    def __mul__(self, other: Any) -> "_Series":
        return self._new(self.value * self._of(other))

    def __pow__(self, exponent: int) -> "_Series":
        half = self ** (exponent // 2) if exponent > 1 else self._new(fmpq_poly([1]))
        return half * half * self if exponent % 2 else half * half

    __radd__ = __add__
    __rmul__ = __mul__


def light_traffic(policy: PowerOfD, *, order: int) -> list[fmpq]:
    r"""Return the exact coefficients of :math:`1, \lambda, \dots, \lambda^{order}` of the mean response of the limit.

    :math:`x_{k+1} = \lambda P_k(x)` is iterated in power series; each round makes one more coefficient final.  The
    policy's load is not used.

    Examples
    --------
    >>> light_traffic(PowerOfD("1/2", d=2, g=1, eps="1/2"), order=2)
    [1, 1, -1]
    """
    policy = power_of_d(policy, "light_traffic")
    order = whole(order, "order", "give", least=0, most=MOST_ORDER)
    size = order + 2
    one, load = _Series(fmpq_poly([1]), size), _Series(fmpq_poly([0, 1]), size)
    x = [one, load, *(0 * one for _ in range(size))]
    for _ in range(size + 1):
        law = policy.limit_law([x], QQ)
        above: Any = 0 * one
        tails = []
        for j in reversed(range(len(x))):
            above = above + law[0, j]
            tails.append(above)
        tails.reverse()
        x = [one, load, *(load * p for p in tails[1:-1])]
    queue = sum(x[1:], 0 * one).value
    return [fmpq(queue[k]) for k in range(1, order + 2)]


def heavy_traffic_offset(policy: PowerOfD, *, digits: int = 15) -> Enclosure:
    r"""Return the mean response minus its leading term at the policy's load.

    Leading terms: :math:`\log(1/(1-\lambda))` over log d for errors at bounded gaps, over
    :math:`\log(d(1-\varepsilon))` at every gap with :math:`\varepsilon < 1/d`, and times :math:`1/\log(d-1) +
    2/(d-1)` at :math:`\varepsilon = 1/d`, d >= 3.  The offset stays bounded as the load tends to 1, by claims
    ``noisy.*.heavy-traffic`` and ``noisy.independent.critical-constant``, which give explicit bounds; the raw ratio
    converges too slowly to show the constant.

    Raises
    ------
    DoesNotExist
        Errors at every gap with :math:`\varepsilon > 1/d`, or d = 1, or d = 2 with :math:`\varepsilon = 1/2`: the mean
        response does not grow like a logarithm.
    """
    policy, digits = power_of_d(policy, "heavy_traffic_offset"), whole(digits, "digits", "give", most=MOST_DIGITS)
    if policy.g is None and policy.d * policy.eps == 1 and policy.d > 2:
        mean = critical_response(policy, digits=digits + 3)
    else:
        mean = fixed_point(policy, digits=digits + 3).mean_response
    balls = Balls(int(3.4 * digits) + 64)
    with balls.working():
        low, high = ball_ends(_slope(policy) * (1 / (1 - arb(policy.load))).log())
    return Enclosure(mean.lower - high, mean.upper - low)


def heavy_traffic_slope(policy: PowerOfD, *, digits: int = 15) -> Enclosure:
    r"""Return the constant of the leading term of :func:`heavy_traffic_offset`: it does not depend on the load.

    Raises
    ------
    DoesNotExist
        The mean response does not grow like a logarithm.
    """
    policy, digits = power_of_d(policy, "heavy_traffic_slope"), whole(digits, "digits", "give", most=MOST_DIGITS)
    with Balls(int(3.4 * digits) + 64).working():
        return Enclosure.of(_slope(policy))


def _slope(policy: PowerOfD) -> arb:
    d, eps = policy.d, policy.eps
    bounded = policy.g is not None
    if d < 2 or (not bounded and (d * eps > 1 or (d * eps == 1 and d == 2))):
        raise DoesNotExist(f"d = {d}, eps = {eps}: the mean response does not grow like log(1/(1-load))")
    if bounded or d * eps < 1:
        return 1 / arb(d if bounded else d * (1 - eps)).log()
    return 1 / arb(d - 1).log() + arb(fmpq(2, d - 1))
