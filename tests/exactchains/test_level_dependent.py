"""Level chains whose rates grow: Poisson laws, a retrial queue with a closed form, a truncated chain in fractions."""

from fractions import Fraction

import mpmath
import pytest

from exactchains import DependentChain, InputError, NotAGenerator, PrecisionExhausted, Undecided, dependent_law
from exactchains.solvers import level_dependent

from .chains import brute_law


def inside(x, value, places=25):
    with mpmath.workdps(80):
        low, high = (mpmath.mpf(int(end.p)) / int(end.q) for end in (x.lower, x.upper))
        return low - mpmath.mpf(10) ** -places <= value <= high + mpmath.mpf(10) ** -places


@pytest.mark.parametrize("load", ["1/2", "3", "20"])
def test_infinitely_many_servers_have_a_poisson_law(load):
    law = dependent_law(DependentChain.from_blocks({"up": [[load]]}, {"down": [["1"]]}), digits=20)
    assert law.mean_level.contains(Fraction(load)) and law.mean_level.has_digits(20)
    with mpmath.workdps(60):
        rho = mpmath.mpf(Fraction(load).numerator) / Fraction(load).denominator
        for n in (0, 1, 7):
            assert inside(law.level(n)[0], mpmath.exp(-rho) * rho**n / mpmath.factorial(n))
    assert sum(x.lower for level in law.levels for x in level) <= 1


@pytest.mark.parametrize(("arrival", "retry"), [("1/2", "1/3"), ("1/10", "5"), ("9/10", "2")])
def test_retrial_queue(arrival, retry):
    """M/M/1 with retrials, service rate 1: mean orbit rho^2/(1-rho) + lam rho / (theta (1-rho))."""
    lam, theta = Fraction(arrival), Fraction(retry)
    chain = DependentChain.from_blocks(
        {"up": [["0", "0"], ["0", arrival]], "local": [["0", arrival], ["1", "0"]]},
        {"down": [["0", retry], ["0", "0"]]},
    )
    law = dependent_law(chain, digits=12)
    assert law.mean_level.contains(lam**2 / (1 - lam) + lam * lam / (theta * (1 - lam)))
    assert law.mean_level.has_digits(12)


def test_modulated_servers_against_a_truncated_chain():
    chain = DependentChain.from_blocks(
        {"up": [["3", "0"], ["0", "1"]], "local": [["0", "1"], ["2", "0"]]}, {"down": [["1", "0"], ["0", "2"]]}
    )
    law = dependent_law(chain, digits=15)
    levels, rates = 22, {}
    for n in range(levels):
        for i in range(2):
            rates[2 * n + i, 2 * n + 1 - i] = Fraction((1, 2)[i])
            if n + 1 < levels:
                rates[2 * n + i, 2 * n + 2 + i] = Fraction((3, 1)[i])
            if n:
                rates[2 * n + i, 2 * n - 2 + i] = Fraction((1, 2)[i] * n)
    truncated = brute_law(2 * levels, rates)
    mean = sum((k // 2) * x for k, x in enumerate(truncated))
    assert abs(Fraction(int(law.mean_level.lower.p), int(law.mean_level.lower.q)) - mean) < Fraction(1, 10**9)
    assert law.mean_level.contains(Fraction(17, 9))  # from the linear equations of the two conditional means


def test_more_digits_nest():
    chain = DependentChain.from_blocks({"up": [["4"]]}, {"down": [["1"]]})
    few, many = dependent_law(chain, digits=5), dependent_law(chain, digits=40)
    assert few.mean_level.lower <= many.mean_level.lower <= many.mean_level.upper <= few.mean_level.upper
    assert many.mean_level.has_digits(40)


def test_what_is_refused():
    with pytest.raises(Undecided, match="Lyapunov"):
        dependent_law(DependentChain.from_blocks({"up": [["3"]], "down": [["1"]]}, {}))
    with pytest.raises(Undecided, match="never lead above them"):
        dependent_law(DependentChain.from_blocks({"up": [["0"]]}, {"down": [["1"]]}))
    with pytest.raises(InputError, match="a DependentChain is needed"):
        dependent_law([["1"]])
    with pytest.raises(NotAGenerator, match=r"slope down \(0, 0\) = -1"):
        DependentChain.from_blocks({"up": [["1"]]}, {"down": [["-1"]]})
    with pytest.raises(NotAGenerator, match="expected 1 x 1"):
        DependentChain.from_blocks({"up": [["1"]]}, {"down": [["1", "1"]]})
    with pytest.raises(InputError, match="give at least one"):
        DependentChain.from_blocks({"sideways": [["1"]]}, {})
    with pytest.raises(InputError, match="at least one phase"):
        DependentChain.from_blocks({"up": []}, {"down": []})
    with pytest.raises(InputError, match="were watched"):
        dependent_law(DependentChain.from_blocks({"up": [["1"]]}, {"down": [["1"]]})).level(10**6)


def test_phases_that_are_not_joined_are_named(monkeypatch):
    monkeypatch.setattr(level_dependent, "LAST", 32)
    each = [["1", "0"], ["0", "1"]]
    with pytest.raises(PrecisionExhausted, match="phase 1 leads to phases from which none leads back"):
        dependent_law(DependentChain.from_blocks({"up": each, "local": [["0", "0"], ["1", "0"]]}, {"down": each}))
    with pytest.raises(Undecided, match="separate classes"):
        dependent_law(DependentChain.from_blocks({"up": each}, {"down": [["1", "0"], ["0", "2"]]}))
