"""Where the headline "differential encoding improves timeliness only with feedback" breaks."""

from aoi_tools.models.schemes import Cyclic
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, Verdict
from proofs_check.claims.age.domains import blocks

ANY = Fractions("t")  # no parameter is used


def _synchronised() -> Statement:
    """Even slots lose nothing; odd slots lose every actual update and no differential one."""
    even, odd = (0, 0), (1, 0)
    schemes = {
        "actual": Cyclic(("actual",), (even, odd)),
        "periodic": Cyclic(("actual", "differential"), (even, odd)),
    }
    return Statement(
        "counterexample",
        {
            "variables": [],
            "domain": {},
            "laws": {name: blocks(scheme.blocks(ANY), ANY) for name, scheme in schemes.items()},
            "statement": ["mean_periodic", ">=", "mean_actual"],
        },
        {"at": {}, "left": "0", "right": "1/2"},
    )


def _lengths() -> Statement:
    """No erasures: an actual update of two bits takes two uses, a difference of one bit takes one."""
    return Statement(
        "counterexample",
        {
            "variables": [],
            "domain": {},
            "laws": {},
            "statement": [mean_age((2, 1)), ">=", mean_age((2,))],
        },
        {"at": {}, "left": "5/3", "right": "5/2"},
    )


def mean_age(lengths: tuple[int, ...]) -> str:
    """Return the mean age, as text, when codewords of these lengths follow each other in turn and none is lost.

    At its end a codeword of g uses sets the age to g; during the next one, of h uses, the ages are g, .., g + h - 1.
    """
    after = (*lengths[1:], lengths[0])
    sums = (f"{h}*{g} + {h}*{h - 1}/2" for g, h in zip(lengths, after, strict=True))
    return f"({' + '.join(sums)})/{sum(lengths)}"


CLAIMS = (
    Claim(
        id="age.headline.equal-lengths-needed",
        text="Without feedback, periodic differential updates never have a smaller mean age than actual updates, even if"
        " differential codewords may be shorter.",
        latex=r"\bar A_{\mathrm{periodic}} \ge \bar A_{\mathrm{actual}} \quad\text{for codewords of any lengths}",
        source=Source(("P5", "P8"), "corrects"),
        scope=Scope.INSTANCE,
        statement=_lengths,
        assumptions="equal codeword lengths dropped: no erasures, two bits in two channel uses, differences of one bit in"
        " one use, read at every channel use",
        argument="Alternating actual and differential updates has mean age 5/3, actual updates alone 5/2.",
        definitions=("age", "scheme-actual", "scheme-periodic"),
        expected=Verdict.REFUTED,
    ),
    Claim(
        id="age.headline.iid-needed",
        text="Without feedback, periodic differential updates never have a smaller mean age than actual updates, on any"
        " channel that repeats in step with the schedule.",
        latex=r"E J_{\mathrm{periodic}(1)} \ge E J_{\mathrm{actual}} \quad\text{on every cyclostationary channel}",
        source=Source(("P5", "P8"), "corrects"),
        scope=Scope.INSTANCE,
        statement=_synchronised,
        assumptions="i.i.d. erasures replaced by a channel of period two in step with the schedule",
        argument="Even slots decode everything, odd slots only differential codewords: actual updates have mean slot age"
        " 1/2, periodic updates with q = 1 have 0.",
        definitions=("slot-age", "scheme-actual", "scheme-periodic", "channel-cyclic"),
        expected=Verdict.REFUTED,
    ),
)
