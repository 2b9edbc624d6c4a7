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


CLAIMS = (
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
