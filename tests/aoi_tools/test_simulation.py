"""The packet simulator against exact means: fixed seeds, intervals of five standard errors from batch means."""

import numpy as np
import pytest

from aoi_tools import (
    Actual,
    BurstChannel,
    Code,
    Cyclic,
    Delayed,
    Feedback,
    Generalised,
    LastDecoded,
    Lossy,
    Markov,
    OnChannel,
    Periodic,
    Schedule,
    SideInformation,
    SlotChannel,
    age_law,
    gilbert_elliott,
    named_source,
    slot_ages,
    window,
)
from exactchains import Floats, InputError


def coded(family: str) -> Feedback:
    code = Code(family, 8, 4, "1/3", 2)
    return Feedback(code.actual, code.differential)


SCHEMES = [
    Actual("1/3"),
    Feedback("1/2", "1/10"),
    Generalised("1/2", "1/10", "1/3"),
    Lossy("1/2", "1/10", "1/4"),
    Periodic("1/2", "1/10", 3),
    Delayed("1/2", "1/10", 2),
    Cyclic(("actual", "differential"), (("1/5", "1/9"), ("2/3", "1/3"), ("1/2", "1/2"))),
    coded("rpc"),
    coded("rlg"),
    coded("mds"),
    Schedule.star("1/2", "1/10", 3),
    Schedule.leapfrog("1/2", "1/10", stride=2, q=2),
    SideInformation("1/2", "1/4"),
    SideInformation("1/2", "1/4", 2),
    Markov("1/2", "1/10", named_source("regime8"), window("-1..0")),
    LastDecoded("1/2", "1/10", named_source("reflected8"), window("-1,1,0")),
    OnChannel(Schedule("1/2", "1/2", (0, 1)), SlotChannel(gilbert_elliott("1/10", "1/3"), (("1/9", 0), (1, "1/2")))),
    OnChannel(Feedback("1/2", "1/2"), SlotChannel(gilbert_elliott("1/10", "1/3"), (("1/9", 0), (1, "1/2")))),
    OnChannel(
        Feedback("1/2", "1/2"),
        BurstChannel(
            gilbert_elliott("1/10", "1/3"), ("1/20", "3/4"), Code("rpc", 6, 3, 0).actual, Code("rpc", 6, 1, 0).actual
        ),
    ),
]


@pytest.mark.parametrize(
    "scheme", SCHEMES, ids=lambda s: f"{type(s).__name__}-{getattr(getattr(s, 'actual', 0), 'family', '')}"
)
def test_simulated_mean_and_law(scheme):
    ages = slot_ages(scheme, slots=20_000, seed=20)
    law = age_law(scheme, domain=Floats())
    for series, exact in ((ages, law.mean()), (ages == 0, law.pmf(0)), (ages > 2, law.ccdf(2))):
        batches = series.reshape(40, -1).mean(axis=1)
        half = 5 * batches.std(ddof=1) / np.sqrt(40)
        assert abs(series.mean() - exact) < half + 10 / len(
            ages
        )  # an event never seen in N slots may have probability 10/N


def test_seed_fixes_the_run_and_ages_are_ages():
    first, again = (slot_ages(Periodic("1/2", "1/3", 2), slots=500, seed=7) for _ in range(2))
    assert (first == again).all()
    steps = first[1:] - first[:-1]
    assert ((steps == 1) | (first[1:] == 0)).all()


def test_what_cannot_be_simulated_says_so():
    with pytest.raises(InputError, match="slots = 0"):
        slot_ages(Actual("1/2"), slots=0, seed=1)
    with pytest.raises(InputError, match="cannot be simulated"):
        slot_ages("feedback", slots=10, seed=1)


def test_long_codes_are_drawn_as_short_ones():
    """All but the last 64 bits of a vector play no part: the mean at 200 uses against its exact law."""
    for family in ("rpc", "rlg"):
        code = Code(family, 200, 136, "3/10", 132)
        scheme = Feedback(code.actual, code.differential)
        ages, exact = slot_ages(scheme, slots=40_000, seed=4), age_law(scheme, domain=Floats()).mean()
        half = 5 * ages.reshape(40, -1).mean(axis=1).std(ddof=1) / np.sqrt(40)
        assert exact > 0.1 and abs(ages.mean() - exact) < half


def test_ten_thousand_channel_uses_can_be_simulated():
    code = Code("rpc", 10_000, 7_000, "3/10", 10)
    ages = slot_ages(Feedback(code.actual, code.differential), slots=20_000, seed=1)
    assert not ages.any()  # a differential is lost once in e^1000 slots
    lost = slot_ages(Actual(code.actual), slots=20_000, seed=1) > 0
    exact = age_law(Actual(code.actual), domain=Floats()).failure()
    assert 0 < exact < 1 and abs(lost.mean() - exact) < 5 * np.sqrt(exact / 20_000)
