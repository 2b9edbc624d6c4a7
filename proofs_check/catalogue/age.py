"""Ages of status updates as named models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aoi_tools.models.codes import Codeword
from aoi_tools.models.law import AT_SUCCESS, SAMPLING, Sampling
from aoi_tools.models.pair import FAMILIES, Code
from aoi_tools.models.schemes import Actual, Feedback, Generalised, Periodic
from aoi_tools.solvers.age import age_quantity
from exactchains.enclosure import Result
from exactchains.truth import InputError
from proofs_check.catalogue.model import Model, Parameter, Quantity


@dataclass(frozen=True)
class AgeProblem:
    """A scheme together with how its age is read off; ``sampling`` is None when no codeword length is known."""

    scheme: Any
    sampling: Sampling | None


def solve(problem: AgeProblem, quantity: str, index: int | None, digits: int) -> Result:
    return age_quantity(problem.scheme, quantity, index=index, digits=digits, sampling=problem.sampling)


P = Parameter("p", "p", "probability that an actual update is lost", lower=0, upper=1, required=False)
D = Parameter("d", "d", "probability that a differential update is lost", lower=0, upper=1, required=False)
CODE = Parameter(
    "code", "code", "code family, in place of p and d", kind="choice", choices=tuple(FAMILIES), required=False
)
N = Parameter("n", "n", "codeword length", "channel uses", "integer", lower=1, required=False)
M = Parameter("m", "m", "bits of an actual update", "bits", "integer", lower=0, required=False)
K = Parameter("k", "k", "bits of a differential update", "bits", "integer", lower=0, required=False)
EPS = Parameter("eps", "eps", "erasure probability of a channel use", lower=0, upper=1, required=False)
Q = Parameter("q", "q", "differential updates after each actual one", "", "integer", lower=0)
ALPHA = Parameter("alpha", "alpha", "probability that a difference is small, in every state", lower=0, upper=1)
READING = (
    Parameter(
        "sampling", "sampling", "when the age is read", kind="choice", choices=SAMPLING, default="bit", required=False
    ),
    Parameter(
        "at_success", "at_success", "age counted at a usable update", "channel uses", "choice", choices=AT_SUCCESS,
        default="n", required=False,
    ),
)  # fmt: skip

QUANTITIES = (
    Quantity("slot_mean", "E J", "mean slot age: slots since the last usable update, at slot ends", "slots"),
    Quantity("slot_variance", "Var J", "variance of the slot age", "slots^2"),
    Quantity("slot_second_moment", "E J^2", "second moment of the slot age", "slots^2"),
    Quantity("slot_pmf", "P(J = j)", "law of the slot age", "", indexed=True),
    Quantity("slot_ccdf", "P(J > j)", "tail of the slot age", "", indexed=True),
    Quantity("failure", "P(J > 0)", "fraction of slots without a usable update"),
    Quantity("gap_mean", "E Z", "mean number of slots between usable updates", "slots"),
    Quantity("gap_second_moment", "E Z^2", "second moment of the gap", "slots^2"),
    Quantity("gap_pmf", "P(Z = z)", "law of the gap, z >= 1", "", indexed=True),
    Quantity("age_mean", "E A", "long-run mean age; needs n", "channel uses"),
    Quantity("age_variance", "Var A", "variance of the age; needs n", "channel uses^2"),
    Quantity("peak_mean", "E peak", "mean age just before a usable update; needs n", "channel uses"),
)

CONVENTIONS = (
    "One codeword of n channel uses a slot; erasures are independent; failures are detected.",
    "Lost codewords are not combined with later ones.",
    "Give p and d (and n for ages in channel uses), or code, n, m, k, eps: not both.",
    "sampling: the age is n (1 + J) + V, V uniform on {0..n-1} (bit), 0 (slot), uniform on [0, n) (fluid).",
    "Peaks: n (1 + Z) - 1 (bit), n (1 + Z) (slot, fluid). at_success=0 counts from 0 instead of n at a usable update.",
    "mds is the ideal erasure-counting code: a lower bound where no such binary code exists.",
)

DIFFERENTIAL_SOURCE = "Bhambay, Poojary and Parag, IEEE Trans. Commun. 67 (2019); laws derived in aoi_tools"


def reading(values: Mapping[str, Any]) -> Sampling | None:
    """Return how the age is read off, or None without a codeword length."""
    if values.get("n") is None:
        return None
    return Sampling(values["n"], values["sampling"], values["at_success"])


def decodings(model: str, values: Mapping[str, Any], *, differential: bool = True) -> tuple[Any, ...]:
    """Return the fate of an actual, and of a differential update where the model has one, from p, d or from a code."""
    direct = [name for name in ("p", "d") if name in values]
    coded = [name for name in ("code", "m", "k", "eps") if name in values]
    if direct and coded:
        raise InputError(
            f"{model}: {direct[0]} and {coded[0]} contradict; give {_direct(differential)} or a code, not both"
        )
    if coded:
        missing = [name for name in _coded(differential) if name not in values]
        if missing:
            raise InputError(
                f"{model} with a code needs {', '.join(_coded(differential))}; missing: {', '.join(missing)}"
            )
        code = Code(values["code"], values["n"], values["m"], values["eps"], values.get("k"))
        return (code.actual, code.differential) if differential else (code.actual,)
    wanted = ("p", "d") if differential else ("p",)
    missing = ", ".join(name for name in wanted if name not in values)
    if missing:
        coding = ", ".join(_coded(differential))
        raise InputError(f"{model} needs {_direct(differential)}, or {coding}; missing: {missing}")
    return tuple(Codeword.of(values[name], name) for name in wanted)


def _direct(differential: bool) -> str:
    return "p and d" if differential else "p"


def _coded(differential: bool) -> tuple[str, ...]:
    return ("code", "n", "m", "k", "eps") if differential else ("code", "n", "m", "eps")


def _builder(model: str, scheme: Callable[..., Any], *extra: str) -> Callable[[Mapping[str, Any]], AgeProblem]:
    def build(values: Mapping[str, Any]) -> AgeProblem:
        words = decodings(model, values, differential=scheme is not Actual)
        return AgeProblem(scheme(*words, *(values[name] for name in extra)), reading(values))

    return build


def _model(name: str, title: str, scheme: Callable[..., Any], *extra: Parameter) -> Model:
    given = (P, CODE, N, M, EPS) if scheme is Actual else (P, D, CODE, N, M, K, EPS)
    return Model(
        name,
        title,
        (*given, *extra, *READING),
        QUANTITIES,
        _builder(name, scheme, *(p.name for p in extra)),
        solve,
        CONVENTIONS,
        DIFFERENTIAL_SOURCE,
    )


MODELS = (
    _model("age.actual", "every slot the actual state", Actual),
    _model("age.feedback", "differential after a success, actual after a failure", Feedback),
    _model("age.periodic", "no feedback: one actual, then q chained differentials", Periodic, Q),
    _model("age.generalised", "differential after a success when the difference is small", Generalised, ALPHA),
)
