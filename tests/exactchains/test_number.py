"""Exact numbers as doubles, against the rounding of the standard library and against its definition."""

import math
import random
import sys
from fractions import Fraction

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from exactchains.number import nearest_double

SMALLEST = Fraction(1, 2**1074)
BEYOND = 2**1024 - 2**970  # halfway between the largest double and 2^1024


def _exact(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _is_nearest(found: float, x: Fraction) -> bool:
    """Return whether no neighbour is closer, and a tie went to the even one."""
    error = abs(Fraction(found) - x)
    for other in (math.nextafter(found, -math.inf), math.nextafter(found, math.inf)):
        if math.isfinite(other):
            gap = abs(Fraction(other) - x)
            if gap < error or (gap == error and int(math.frexp(found)[0] * 2**53) % 2):
                return False
    return True


@given(st.integers(-(2**200), 2**200), st.integers(1, 2**200), st.integers(-1300, 900))
def test_nearest_double_is_nearest(top, below, exponent):
    x = Fraction(top, below) * Fraction(2) ** exponent
    try:
        wanted = float(x)
    except OverflowError:
        with pytest.raises(OverflowError):
            nearest_double(_exact(x))
        return
    assert nearest_double(_exact(x)) == wanted
    assert abs(wanted) < sys.float_info.min or _is_nearest(wanted, x)


def test_ties_subnormals_and_the_ends_of_the_range():
    assert nearest_double(fmpq(2**53 + 1)) == 2.0**53
    assert nearest_double(fmpq(2**53 + 3)) == 2.0**53 + 4
    assert nearest_double(fmpq(2**200 + 2**147, 1)) == 2.0**200  # twice rounded it would be the next one
    assert nearest_double(_exact(SMALLEST / 2)) == 0 < nearest_double(_exact(SMALLEST / 2 * (1 + SMALLEST)))
    assert nearest_double(_exact(SMALLEST * 3 / 2)) == float(2 * SMALLEST)
    assert nearest_double(_exact(-SMALLEST)) == -float(SMALLEST)
    assert nearest_double(fmpq(BEYOND - 1)) == sys.float_info.max
    for x in (BEYOND, -BEYOND, 10**400):
        with pytest.raises(OverflowError):
            nearest_double(fmpq(x))


def test_fractions_of_thousands_of_digits():
    digits = random.Random(1)
    for _ in range(200):
        x = Fraction(digits.getrandbits(9000) + 1, digits.getrandbits(8990 + digits.randrange(20)) + 1)
        assert nearest_double(_exact(x)) == float(x)
        assert _is_nearest(float(x), x)
