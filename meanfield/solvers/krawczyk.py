r"""Equilibria of any rule that samples few servers: Newton in doubles, then an interval proof in logarithms.

With :math:`p_{j,k}` the probability that a sampled server is of pool j with k jobs and :math:`w_j = \sum_k p_{j,k}`,

.. math:: p_{j,k+1} = c_j\lambda\,p_{j,k}\Psi_{j,k}(p), \qquad c_j = w_j/(\gamma_j\mu_j),

are the equilibria of finite mean.  :math:`\Psi` has nonnegative coefficients: nothing cancels, and tails of 1e-9000
keep their relative digits.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, arb_mat, fmpq
from numpy.typing import NDArray

from exactchains.domain import Balls, ball_ends
from exactchains.enclosure import Enclosure
from exactchains.number import nearest_double
from exactchains.solvers.threads import one_thread
from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided
from meanfield.closed_forms import FluidPoint, separate_loads
from meanfield.models.policy import Policy
from meanfield.models.pools import whole
from meanfield.solvers.krawczyk_certificate import INVERSE, Witness, document
from meanfield.solvers.sampled import Rule, Shares, rule_of, shares

__all__ = ["SampledPoint", "sampled_equilibrium"]

Array = NDArray[Any]
SMALLEST = 1 / 50  # step of the continuation, in log(1/(1 - load))
FIRST = 0.1  # load at which the continuation starts
MOST_LEVELS = 400  # of all pools together
MOST_DIGITS = 1050  # 1000, and those that callers spare
SLOPE_BITS = 96
DEEPEST = 650.0  # -log of what doubles still hold


@dataclass(frozen=True)
class SampledPoint(FluidPoint):
    """An equilibrium of finite mean, proved to exist and to be the only one in its box; not the only one of all.

    ``rest[j]`` bounds the sum of the tails of pool j beyond the listed levels.  ``contraction`` < 1 is the proved
    factor of the map whose fixed point it is.
    """

    rest: tuple[fmpq, ...] = ()
    contraction: fmpq = field(default_factory=fmpq)
    uniqueness: str = "in the box"
    witness: Witness | None = field(default=None, repr=False, compare=False)

    def pool_tail(self, pool: int, k: int) -> Enclosure:
        if 0 <= pool < len(self.pools) and k > len(self.levels[pool]):
            raise PrecisionExhausted(f"tail {k} lies beyond the {len(self.levels[pool])} levels that were certified")
        return super().pool_tail(pool, k)

    def pool_mean_queue(self, pool: int) -> Enclosure:
        self.pool_tail(pool, 0)
        low = sum((x.lower for x in self.levels[pool]), fmpq(0))
        high = sum((x.upper for x in self.levels[pool]), self.rest[pool])
        return Enclosure(low, high)

    def certificate(self, *, tails: tuple[int, ...] = ()) -> dict[str, Any] | None:
        """Return the certificate of box, mean queue and tails asked for; None: beyond the caps of the checker."""
        if self.witness is None:
            return None
        return document(self.pools, self.load, self.witness, self.mean_queue, {k: self.tail(k) for k in tails})


@one_thread
def sampled_equilibrium(policy: Policy, *, digits: int = 30, levels: int = 0) -> SampledPoint:
    r"""Return an equilibrium of the limit of many servers for a rule that samples few of them.

    Guarantee
    ---------
    With :math:`p = \hat p e^u` on levels 0..K and tails below :math:`b_j\theta^{k-K}` beyond, the map
    :math:`u \mapsto u - C f(u)`, :math:`p_{k+1} \mapsto c\lambda p_k\Psi_k` takes the box into itself and is a
    contraction there, so that one equilibrium lies in it.  Others outside are not excluded.  The rule is taken at its
    word for :attr:`Policy.sight`.  Tail lemma: a job joins a server with k >= K jobs only if the least load of its
    sample is below K - reach (those terms are summed), or all the other servers have K - reach jobs or more.

    Raises
    ------
    DoesNotExist
        The load is at or above a known stability limit.
    InputError
        The rule has no finite table, see :func:`meanfield.solvers.sampled.rule_of`.
    Undecided
        Newton finds no equilibrium, or the box cannot be proved.

    Examples
    --------
    >>> from meanfield.models.shortest import PoolPowerOfD
    >>> sampled_equilibrium(PoolPowerOfD("1/2:3/2,1/2:1/2", "1/2"), digits=12).mean_response.digits(12)
    '1.79723031341'
    """
    digits = whole(digits, "digits", "give", most=MOST_DIGITS)
    levels = whole(levels, "levels", "give", least=0, most=MOST_LEVELS)
    if separate_loads(policy) is not None:
        raise InputError("d = 1: every queue is M/M/1, in closed form; meanfield.balancing_quantity gives its values")
    limit = policy.stability_limit(None)
    if limit is not None and policy.load >= (limit.lower if isinstance(limit, Enclosure) else limit):
        raise DoesNotExist(
            f"load = {policy.load}: no equilibrium has a finite mean; it has one below the stability limit {limit}"
        )
    system = Balance(policy, rule_of(policy))
    bits = int(digits * math.log2(10)) + 24
    for _ in range(4):
        found = _proved(system, bits, levels)
        tails = [found.tail(k) for k in range(1, levels + 1)]
        if all(x.has_digits(digits) for x in [found.mean_queue, *tails]):
            return found
        bits += 32 + bits // 2
    raise PrecisionExhausted(f"fixed point: {digits} digits are not reached with {bits} bits; ask for fewer")


@dataclass(frozen=True)
class Balance:
    """The balance equations of a policy in logarithms s[j, k] = log p[j, k], k = 0..K."""

    policy: Policy
    rule: Rule

    @cached_property
    def weights(self) -> list[fmpq]:
        """The share of each pool among sampled servers."""
        fast = self.policy.weighting == "speed"
        return [p.fraction * (p.speed if fast else 1) for p in self.policy.pools]

    @cached_property
    def factors(self) -> list[fmpq]:
        """c_j."""
        return [w / (p.fraction * p.speed) for w, p in zip(self.weights, self.policy.pools, strict=True)]

    def growth(self, s: Array, load: float, *, slopes: bool = True) -> tuple[Array, Array]:
        """Return log(c lam Psi) and its derivatives by s, in doubles."""
        found = shares(self.rule, np.exp(s), np.zeros((len(s), self.rule.reach + 1)), slopes=slopes)
        value = np.maximum(found.value, 1e-300)
        rate = load * np.array([nearest_double(c) for c in self.factors])
        return np.log(rate[:, None] * value), found.slope / value[:, :, None, None]

    def rows(self, s: Array, load: float) -> tuple[Array, Array]:
        """Return residuals and Jacobian: for each pool K balances, then its total mass."""
        pools, size = s.shape
        value, slope = self.growth(s, load)
        residual, matrix = np.empty((pools, size)), np.zeros((pools, size, pools, size))
        steps = np.arange(size - 1)
        for j in range(pools):
            residual[j, :-1] = s[j, 1:] - s[j, :-1] - value[j, :-1]
            matrix[j, :-1] = -slope[j, :-1]
            matrix[j, steps, j, steps + 1] += 1
            matrix[j, steps, j, steps] -= 1
            total = np.logaddexp.reduce(s[j])
            residual[j, -1] = total - math.log(nearest_double(self.weights[j]))
            matrix[j, -1, j] = np.exp(s[j] - total)
        return residual.ravel(), matrix.reshape(pools * size, pools * size)

    def newton(self, s: Array, load: float, tolerance: float) -> Array:
        s = s.copy()
        for _ in range(25):
            residual, matrix = self.rows(s, load)
            step = np.linalg.solve(matrix, -residual).reshape(s.shape)
            longest = np.abs(step[s > -40]).max()
            s = np.minimum(s + step * min(1.0, 2 / max(longest, 1e-300)), 0.0)
            if not np.isfinite(s).all():
                break
            if (np.abs(step) / np.maximum(1, np.abs(s))).max() < tolerance:
                return s
        raise ArithmeticError("Newton does not converge")

    def grown(self, s: Array, load: float, depth: float, tolerance: float) -> Array:
        """Return the solution on so many levels that every pool ends below exp(-depth)."""
        while True:
            s = self.newton(s, load, tolerance)
            if s[:, -1].max() < -depth:
                return s
            self.require_few(s)
            for _ in range(max(1, s.shape[1] // 4)):
                step = self.growth(s, load, slopes=False)[0][:, -1]
                s = np.concatenate([s, s[:, -1:] + np.minimum(step, -0.05)[:, None]], axis=1)
                if s[:, -1].max() < -depth:
                    break

    def require_few(self, s: Array) -> None:
        if s.size > MOST_LEVELS:
            raise Undecided(
                f"fixed point: more than {MOST_LEVELS} levels are needed; ask for fewer digits or a lower load"
            )

    def deepened(self, p: Array, depth: float, levels: int) -> tuple[Array, Array]:
        """Return p in balls with the levels that doubles cannot hold, and the Jacobian of all rows in doubles."""
        rate = [arb(c * self.policy.load) for c in self.factors]
        while True:
            none = np.full((len(p), self.rule.reach + 1), arb(0), dtype=object)
            last = max((x.log() for x in p[:, -1]), key=float)
            if last < -depth and p.shape[1] > levels + self.rule.reach + 1:
                break
            self.require_few(p)
            value = shares(self.rule, p, none, slopes=False).value[:, -1]
            step = [[(x * r * v).mid()] for x, r, v in zip(p[:, -1], rate, value, strict=True)]
            p = np.concatenate([p, np.array(step, dtype=object)], axis=1)
        return p, _jacobian(p, shares(self.rule, p, none), none)

    def solved(self, depth: float) -> Array:
        """Return log p by continuation in the load, from queues of independent arrivals at a small one."""
        load = nearest_double(self.policy.load)
        here, shallow = min(load, FIRST), min(30.0, DEEPEST / self.rule.d)
        k = np.arange(2)
        s = np.array([math.log(nearest_double(w) * (1 - here)) + k * math.log(here) for w in self.weights])
        try:
            s = self.grown(s, here, shallow, 1e-8)
        except (ArithmeticError, np.linalg.LinAlgError):
            raise Undecided(f"Newton finds no equilibrium at load {here}") from None
        step = 0.5
        while here < load:
            target = min(load, 1 - (1 - here) * math.exp(-step))
            try:
                s, here, step = self.grown(s, target, shallow, 1e-8), target, 1.5 * step
            except (ArithmeticError, np.linalg.LinAlgError):
                step /= 2
                if step < SMALLEST:
                    raise Undecided(f"Newton finds no equilibrium beyond load {here:.6g}") from None
        return self.grown(s, load, min(depth, DEEPEST / self.rule.d), 1e-11)


def _proved(system: Balance, bits: int, levels: int) -> SampledPoint:
    depth = bits * math.log(2) + 12
    s = system.solved(depth)
    with Balls(SLOPE_BITS).working():
        p, rows = system.deepened(_exponentials(s), depth, levels)
        inverse = np.linalg.inv(np.vectorize(float, otypes=[float])(rows))
    with Balls(bits + 32).working():
        p = _refined(system, p, inverse, bits)
        theta = _ratio(system, p)
        inverse = np.rint(inverse * 2.0**INVERSE) / 2.0**INVERSE  # what the certificate holds
        C = arb_mat(inverse.tolist())
        b = [2 * x for x in p[:, -1]]
        beyond = _geometric(b, theta, system.rule.reach + 1)
        start = C * arb_mat([[x] for x in _residual(system, p, beyond)[0]])
        offset = [abs(start[i, 0]).upper() for i in range(p.size)]
        radius = [(8 * max(offset, key=float) + arb(2) ** (-bits - 24)).upper()] * len(offset)
        with Balls(SLOPE_BITS).working():
            contraction = _contraction(system, p, beyond, theta, C, radius)
        for x, r in zip(offset, radius, strict=True):
            if not x + contraction * r < r:
                raise Undecided("fixed point: the box is not mapped into itself; ask for other digits")
        found = _point(system, p, radius, b, theta, contraction)
        return replace(found, witness=Witness(system.rule, system.weights, p, radius, theta, inverse))


def _exponentials(s: Array) -> Array:
    return np.vectorize(lambda x: arb(float(x)).exp().mid(), otypes=[object])(s)


def _refined(system: Balance, p: Array, inverse: Array, bits: int) -> Array:
    """Return increments in exact balls, the residuals of whose balances are below 2^-bits."""
    none = np.full((len(p), system.rule.reach + 1), arb(0), dtype=object)
    before, stalled = math.inf, 0
    while True:
        residual = [x.mid() for x in _residual(system, p, none)[0]]
        size = max(residual, key=abs)
        if abs(size) < arb(2) ** -bits:
            return p
        scale = abs(size)
        step = -(inverse @ np.array([float(x / scale) for x in residual])).reshape(p.shape)
        log_size = float(scale.log())
        stalled, before = stalled + (log_size > before - 2), log_size
        if stalled > 4:
            raise Undecided(f"refinement of the fixed point stalls at {math.exp(max(before, -700)):.1e}")
        p = p * np.vectorize(lambda x, scale=scale: (arb(float(x)) * scale).exp(), otypes=[object])(step)
        p = np.vectorize(lambda x: x.mid(), otypes=[object])(p)


def _residual(system: Balance, p: Array, beyond: Array, *, slopes: bool = False) -> tuple[list[arb], Any]:
    """Return the residuals of :meth:`Balance.rows` in balls, and the shares they come from."""
    found = shares(system.rule, p, beyond, slopes=slopes)
    rows: list[arb] = []
    for j, (w, c) in enumerate(zip(system.weights, system.factors, strict=True)):
        rate = arb(c * system.policy.load)
        rows += [(p[j, k + 1] / (rate * p[j, k] * found.value[j, k])).log() for k in range(p.shape[1] - 1)]
        rows.append(((p[j].sum() + arb(0).union(beyond[j, 0])) / arb(w)).log())
    return rows, found


def _jacobian(p: Array, found: Shares, beyond: Array) -> Array:
    """Return the Jacobian of :meth:`Balance.rows` in balls."""
    pools, size = p.shape
    matrix = np.full((pools, size, pools, size), arb(0), dtype=object)
    steps = np.arange(size - 1)
    for j in range(pools):
        matrix[j, :-1] = -found.slope[j, :-1] / found.value[j, :-1, None, None]
        matrix[j, steps, j, steps + 1] += arb(1)
        matrix[j, steps, j, steps] -= arb(1)
        matrix[j, -1, j] = p[j] / (p[j].sum() + arb(0).union(beyond[j, 0]))
    return matrix.reshape(pools * size, pools * size)


def _ratio(system: Balance, p: Array) -> arb:
    """Return the ratio of the geometric bound of the tails, above what the tail lemma gives."""
    guess = _steepest(system, p, np.full((len(p), system.rule.reach + 1), arb(0), dtype=object)).upper()
    if not guess < 1:
        raise Undecided(f"fixed point: no geometric tail is proved, ratio {float(guess):.4g}; ask for more digits")
    return min(3 * guess, (1 + 2 * guess) / 3).upper()


def _steepest(system: Balance, p: Array, beyond: Array, far: Array | None = None) -> arb:
    """Return the tail lemma's bound of c lam Psi on all levels from K on."""
    rule, top = system.rule, p.shape[1] - 1
    if far is None:
        far = shares(rule, p, beyond, slopes=False).far
    high = sum((p[i, top - rule.reach :].sum() + beyond[i, 0] for i in range(len(p))), arb(0))
    bounds = [
        arb(c * system.policy.load) * (x + rule.d * high ** (rule.d - 1))
        for c, x in zip(system.factors, far, strict=True)
    ]
    return max((x.upper() for x in bounds), key=float)


def _geometric(b: list[arb], theta: arb, columns: int) -> Array:
    """Return bounds of the mass on level K + 1 + m and above."""
    found = np.empty((len(b), columns), dtype=object)
    for i, x in enumerate(b):
        for m in range(columns):
            found[i, m] = (x * theta ** (m + 1) / (1 - theta)).upper()
    return found


def _contraction(system: Balance, p: Array, beyond: Array, theta: arb, C: arb_mat, radius: list[arb]) -> arb:
    """Return the factor of the map on the box, in the maximum norm of u / radius and p_k / (b theta^(k-K))."""
    pools, size = p.shape
    widths = np.array(radius, dtype=object).reshape(p.shape)
    box = p * np.vectorize(lambda r: (-r).union(r).exp(), otypes=[object])(widths)
    _, found = _residual(system, box, beyond, slopes=True)
    rows = arb_mat(_jacobian(box, found, beyond).tolist())
    change = []
    for j in range(pools):
        change += [abs(x / v).upper() for x, v in zip(found.beyond[j, :-1], found.value[j, :-1], strict=True)]
        change.append((beyond[j, 0] / (box[j].sum() + arb(0).union(beyond[j, 0]))).upper())
    product = C * rows
    worst = arb(0)
    for i in range(pools * size):
        moved = arb(0)
        for q in range(pools * size):
            moved += abs((1 if q == i else 0) - product[i, q]) * radius[q] + abs(C[i, q]) * change[q]
        worst = max(worst, (moved / radius[i]).upper())
    steep = _steepest(system, box, beyond, found.far) / theta
    d, longest = system.rule.d, max(radius, key=float)
    total = sum((x for row in box for x in row), arb(0)) + sum((x for x in beyond[:, 0]), arb(0))
    spread = sum((x for x in beyond[:, 0]), arb(0)) * d * (d - 1) * total ** max(d - 2, 0)
    rate = max((arb(c * system.policy.load) for c in system.factors), key=float)
    worst = max(worst, (steep * (1 + d * longest) + rate * spread / theta).upper())
    if not (worst < 1 and all(box[j, -1] < 2 * p[j, -1] for j in range(pools))):
        raise Undecided(f"fixed point: the map is not proved to contract, factor {float(worst):.3g}")
    return worst


def _point(system: Balance, p: Array, radius: list[arb], b: list[arb], theta: arb, contraction: arb) -> SampledPoint:
    levels, rest = [], []
    pools, size = p.shape
    widths = np.array(radius, dtype=object).reshape(p.shape)
    for j in range(pools):
        w, tail = arb(system.weights[j]), arb(0).union(b[j] * theta / (1 - theta))
        tails: list[Enclosure] = []
        total = tail
        for k in range(size - 1, 0, -1):
            total += p[j, k] * (-widths[j, k]).union(widths[j, k]).exp()
            low, high = ball_ends(total / w)
            tails.append(Enclosure(max(low, fmpq(0)), min(high, fmpq(1))))
        levels.append(tuple(tails[::-1]))
        rest.append(ball_ends(b[j] * theta / ((1 - theta) ** 2 * w))[1])
    policy = system.policy
    factor = ball_ends(contraction)[1]
    return SampledPoint(policy.pools, policy.load, tuple(levels), fmpq(0), False, tuple(rest), factor)
