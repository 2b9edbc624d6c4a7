"""Decimals of numbers with huge exponents: the fast path in balls against integers."""

import pytest
from flint import fmpq

from exactchains.decimals import exponent10, outward, scaled, truncated


@pytest.mark.parametrize("exponent", [-70_000, -30_000, 30_000, 70_000])
@pytest.mark.parametrize("factor", [fmpq(1), fmpq(2, 3), fmpq(-22, 7), fmpq(10**30 - 1, 10**30)])
def test_far_numbers(factor, exponent):
    x = factor * fmpq(10) ** exponent
    near = exponent10(factor)
    assert exponent10(x) == exponent + near
    for up in (False, True):
        assert scaled(x, 20 - exponent, up=up) == scaled(factor, 20, up=up)
        mantissa = outward(factor, 6, up=up)
        assert outward(x, 6, up=up).partition("e")[0].rstrip("0") in (mantissa.rstrip("0"), shifted(mantissa))
    assert truncated(x, 12).endswith(f"e{exponent + near}")


def shifted(text: str) -> str:
    """A number below 1 with the point after its first digit."""
    digits = text.removeprefix("0.")
    return f"{digits[0]}.{digits[1:]}".rstrip("0")
