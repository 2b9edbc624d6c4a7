"""Where the headline "differential encoding improves timeliness only with feedback" breaks."""

from typing import Any

from aoi_tools.closed_forms import periodic_mean_age
from aoi_tools.models.codes import RandomGenerator
from aoi_tools.models.schedules import SideInformation
from aoi_tools.models.schemes import Actual, Cyclic
from exactchains.symbolic import Fractions
from proofs_check.claim import Claim, Scope, Source, Statement, Verdict, together
from proofs_check.claims.age.domains import DOMAIN, PD, WITNESS, D, P, blocks, problem, stated
from proofs_check.claims.age.feedback import BETTER, TIE, WORSE

ANY = Fractions("t")  # no parameter is used
OPEN = DOMAIN | {"b": ["1-d", ">"]}
LENGTHS = "5 - 7*p - 4*p^2 - 4*(1-p)*(2+p)*d"  # positive where two uses and one in turn beat two uses alone


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


def _where_synchronised() -> Statement:
    """Odd slots lose actual updates with chance p, differentials with chance d; even slots lose nothing."""
    fates = ((0, 0), (P, D))
    schemes = {"actual": Cyclic(("actual",), fates), "periodic": Cyclic(("actual", "differential"), fates)}
    return Statement("levels", problem(schemes, domain=OPEN), _smaller_if("mean_periodic", "mean_actual"))


def _lengths() -> Statement:
    """No erasures: an actual update of two bits takes two uses, a difference of one bit takes one."""
    return Statement(
        "counterexample",
        {
            "variables": [],
            "domain": {},
            "laws": {},
            "statement": [_mean_age("0", "0", 1), ">=", _mean_age("0", "0", 0)],
        },
        {"at": {}, "left": "5/3", "right": "5/2"},
    )


def _where_lengths() -> Statement:
    """Codewords of two uses, lost with chance p, and of one, lost with chance d, in turn."""
    left, right = _mean_age(P, D, 1), _mean_age(P, D, 0)
    return Statement(
        "sign",
        {"variables": ["p", "d"], "domain": dict(DOMAIN)},
        stated(
            (left, "<", right, {"assume": {"f": [LENGTHS, ">"]}}),
            (left, ">=", right, {"assume": {"f": [f"-({LENGTHS})", ">="]}}),
        ),
    )


def _mean_age(p: Any, d: Any, q: int) -> str:
    return PD.text(PD.convert(periodic_mean_age(p, d, q, actual=2, differential=1, domain=PD)))


def _side_information() -> Statement:
    """Only actual updates; the decoder subtracts the last decoded state, one unknown bit of two remains."""
    two, one = RandomGenerator(2, 2, "0"), RandomGenerator(2, 1, "0")
    schemes = {"actual": Actual(two), "decoder": SideInformation(two, one)}
    return Statement(
        "counterexample",
        {
            "variables": [],
            "domain": {},
            "laws": {name: blocks(scheme.blocks(ANY), ANY) for name, scheme in schemes.items()},
            "statement": ["mean_decoder", ">=", "mean_actual"],
        },
        {"at": {}, "left": "1/3", "right": "5/3"},
    )


def _where_side_information() -> Statement:
    schemes = {"actual": Actual(P), "decoder": SideInformation(P, D)}
    return Statement("levels", problem(schemes, domain=OPEN), _smaller_if("mean_decoder", "mean_actual"))


def _smaller_if(left: str, right: str) -> dict[str, Any]:
    """Smaller if d < p, equal if d = p, larger if d > p."""
    return stated((left, "<", right, BETTER), (left, "=", right, TIE), (left, ">", right, WORSE))


CLAIMS = (
    Claim(
        id="age.headline.equal-lengths-needed",
        text="Without feedback, periodic differential updates never have a smaller mean age than actual updates, even if"
        " differential codewords may be shorter.",
        latex=r"\bar A_{\mathrm{periodic}} \ge \bar A_{\mathrm{actual}} \quad\text{for codewords of any lengths}",
        source=Source(("P5", "P8"), "corrects"),
        scope=Scope.INSTANCE,
        statement=lambda: together(_lengths(), _where_lengths()),
        assumptions="equal codeword lengths dropped: no erasures, two bits in two channel uses, differences of one bit in"
        " one use, read at every channel use",
        argument="Alternating actual and differential updates has mean age 5/3, actual updates alone 5/2. With erasures the"
        " sums of the ages from one decoded actual codeword to the next give both means (part 2).",
        definitions=("age", "scheme-actual", "scheme-periodic"),
        expected=Verdict.REFUTED,
        witness=WITNESS,
        fails="two uses for actual codewords, lost with chance p < 1, one for differentials, lost with chance d, q = 1: exactly"
        " where d < (5 - 7p - 4p^2)/(4 (1-p)(2+p))",
    ),
    Claim(
        id="age.headline.iid-needed",
        text="Without feedback, periodic differential updates never have a smaller mean age than actual updates, on any"
        " channel that repeats in step with the schedule.",
        latex=r"E J_{\mathrm{periodic}(1)} \ge E J_{\mathrm{actual}} \quad\text{on every cyclostationary channel}",
        source=Source(("P5", "P8"), "corrects"),
        scope=Scope.INSTANCE,
        statement=lambda: together(_synchronised(), _where_synchronised()),
        assumptions="i.i.d. erasures replaced by a channel of period two in step with the schedule",
        argument="Even slots decode everything, odd slots only differential codewords: actual updates have mean slot age"
        " 1/2, periodic updates with q = 1 have 0. With losses p and d in odd slots the means are p/2 and d/2 (part 2).",
        definitions=("slot-age", "scheme-actual", "scheme-periodic", "channel-cyclic"),
        expected=Verdict.REFUTED,
        witness=WITNESS,
        fails="odd slots lose actual updates with chance p and differentials with chance d, even slots nothing, q = 1: exactly"
        " where d < p",
    ),
    Claim(
        id="age.headline.memoryless-decoding-needed",
        text="Without feedback no scheme has a smaller mean age than actual updates, even if the decoder may use its last"
        " decoded state.",
        latex=r"E J_{\mathrm{side\ information}} \ge E J_{\mathrm{actual}}",
        source=Source(("P5", "P8"), "corrects"),
        scope=Scope.INSTANCE,
        statement=lambda: together(_side_information(), _where_side_information()),
        assumptions="memoryless decoding dropped: fresh random 2 x 2 generator a slot, no erasures, changes in a fixed"
        " subspace of one bit",
        argument="Sums of changes stay in the subspace, so one unknown bit remains after any number of failures: the age is"
        " geometric with the failure probability of one bit. Means 1/3 against 5/3. With failure probabilities p of all bits"
        " and d of the unknown ones the means are p/(1-p) and d/(1-d) (part 2).",
        definitions=("slot-age", "scheme-actual", "scheme-side-information"),
        expected=Verdict.REFUTED,
        witness=WITNESS,
        fails="failure probabilities p < 1 of all bits and d < 1 of the unknown ones: exactly where d < p",
    ),
)
