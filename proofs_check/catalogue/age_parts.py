"""What the age models share: parameters, quantities, conventions, and how words become fates and sources."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aoi_tools.approximations import NormalApproximation
from aoi_tools.models.codes import LONGEST, Codeword
from aoi_tools.models.law import AT_SUCCESS, SAMPLING, Sampling
from aoi_tools.models.pair import FAMILIES, Code
from aoi_tools.models.source_library import named_source
from aoi_tools.models.sources import Source
from aoi_tools.models.windows import matching, window
from aoi_tools.solvers.age import age_quantity
from aoi_tools.solvers.penalties import exponential_penalty
from aoi_tools.solvers.quantiles import age_quantile, slot_quantile
from exactchains.document import read_document
from exactchains.enclosure import Enclosure, Result
from exactchains.truth import InputError
from proofs_check.catalogue.model import Parameter, Quantity


@dataclass(frozen=True)
class AgeProblem:
    """A scheme together with how its age is read off; ``sampling`` is None when no codeword length is known."""

    scheme: Any
    sampling: Sampling | None
    level: Any = None
    growth: Any = None


def solve(problem: AgeProblem, quantity: str, index: int | None, digits: int) -> Result:
    """Return one quantity of one age problem."""
    if quantity == "slot_exponential":
        if problem.growth is None:
            raise InputError("slot_exponential needs growth, the z >= 0 of the mean penalty E z^J")
        return exponential_penalty(problem.scheme, problem.growth, digits=digits)
    if not quantity.endswith("_quantile"):
        return age_quantity(problem.scheme, quantity, index=index, digits=digits, sampling=problem.sampling)
    if problem.level is None:
        raise InputError(f"{quantity} needs level, a number from 0 to below 1 such as 99/100")
    if quantity == "slot_quantile":
        found = Enclosure.exact(slot_quantile(problem.scheme, problem.level))
        return Result(found, quantity, method="certified comparisons of the tail")
    if problem.sampling is None:
        raise InputError(f"{quantity} needs the codeword length n; give n, an integer >= 1")
    return age_quantile(problem.scheme, problem.level, sampling=problem.sampling, digits=digits)


def certify(problem: AgeProblem, result: Result) -> dict[str, Any]:
    """Return the certificate of a value of the slot age; see :mod:`proofs_check.search.age_value`."""
    from proofs_check.search.age_value import age_certificate

    return age_certificate(problem.scheme, result)


def _optional(name: str, meaning: str, unit: str = "", **bounds: Any) -> Parameter:
    return Parameter(name, name, meaning, unit, required=False, **bounds)


P = _optional("p", "probability that an actual update is lost", lower=0, upper=1)
D = _optional("d", "probability that a differential update is lost", lower=0, upper=1)
CODE = _optional("code", "code family, in place of p and d", kind="choice", choices=(*FAMILIES, "normal"))
HEADER = _optional("header", "bits added to every codeword", "bits", kind="integer", lower=0)
FIELD = _optional("field", "field size of rpc and rlg; then n, m, k count symbols", kind="integer", lower=2)
N = _optional("n", "codeword length", "channel uses", kind="integer", lower=1)
M = _optional("m", "bits of an actual update", "bits", kind="integer", lower=0)
K = _optional("k", "bits of a differential update", "bits", kind="integer", lower=0)
EPS = _optional("eps", "erasure probability of a channel use", lower=0, upper=1)
Q = Parameter("q", "q", "differential updates after each actual one", "", "integer", lower=0, upper=100_000)
ALPHA = Parameter("alpha", "alpha", "probability that a difference is small, in every state", lower=0, upper=1)
DELAY = Parameter("delay", "delay", "slots by which feedback is late", "slots", "integer", lower=0, upper=10_000)
COST = Parameter("cost", "f", "channel uses of feedback in each slot", "channel uses", "integer", lower=0)
LOSS = Parameter("loss", "loss", "probability that feedback is lost", lower=0, upper=1)
SOURCE = Parameter("source", "source", "Markov source: a .json or .toml file, or a named one", kind="text")
WINDOW = Parameter(
    "window", "window", "small differences: lo..hi, a list, xor:k, hamming:r, all, threshold", kind="text"
)
SOURCE_CLASS = _optional("class", "a state of the closed class to use", kind="integer", lower=0)
CHECK_BITS = _optional(
    "check_bits",
    "refuse windows of more than 2^k differences",
    kind="choice",
    choices=("yes", "no"),
    default="yes",
)
READING = (
    _optional("sampling", "when the age is read", kind="choice", choices=SAMPLING, default="bit"),
    _optional(
        "at_success", "age counted at a usable update", "channel uses", kind="choice", choices=AT_SUCCESS, default="n"
    ),
    _optional("level", "level of the quantiles", lower=0, below=1),
    _optional("growth", "base z of the exponential penalty", lower=0),
)

QUANTITIES = (
    Quantity("slot_mean", "E J", "mean slot age: slots since the last usable update, at slot ends", "slots"),
    Quantity("slot_variance", "Var J", "variance of the slot age", "slots^2"),
    Quantity("slot_second_moment", "E J^2", "second moment of the slot age", "slots^2"),
    Quantity("slot_moment", "E J^r", "moment r >= 1 of the slot age", "slots^r", "r", first=1),
    Quantity("slot_pmf", "P(J = j)", "law of the slot age", "", "j", "slots"),
    Quantity("slot_ccdf", "P(J > j)", "tail of the slot age", "", "j", "slots"),
    Quantity("slot_quantile", "q_J", "smallest j with P(J <= j) >= level", "slots"),
    Quantity("slot_exponential", "E z^J", "mean exponential penalty; needs growth"),
    Quantity("failure", "P(J > 0)", "fraction of slots without a usable update"),
    Quantity("gap_mean", "E Z", "mean number of slots between usable updates", "slots"),
    Quantity("gap_second_moment", "E Z^2", "second moment of the gap", "slots^2"),
    Quantity("gap_pmf", "P(Z = z)", "law of the gap, z >= 1", "", "z", "slots", first=1),
    Quantity("age_mean", "E A", "long-run mean age; needs n", "channel uses"),
    Quantity("age_variance", "Var A", "variance of the age; needs n", "channel uses^2"),
    Quantity("age_pmf", "P(A = x)", "law of the age; needs n", "", "x", "channel uses"),
    Quantity("age_ccdf", "P(A > x)", "violation probability of the age; needs n", "", "x", "channel uses"),
    Quantity("age_quantile", "q_A", "smallest x with P(A <= x) >= level; needs n", "channel uses"),
    Quantity("peak_mean", "E peak", "mean age just before a usable update; needs n", "channel uses"),
    Quantity("peak_variance", "Var peak", "variance of the peak age; needs n", "channel uses^2"),
)

CONVENTIONS = (
    "One codeword of n channel uses a slot; erasures are independent; failures are detected.",
    "Lost codewords are not combined with later ones.",
    "Give p and d (and n for ages in channel uses), or code, n, m, k, eps: not both.",
    "sampling: the age is n (1 + J) + V, V uniform on {0..n-1} (bit), 0 (slot), uniform on [0, n) (fluid).",
    "Peaks: n (1 + Z) - 1 (bit), n (1 + Z) (slot, fluid). at_success=0 counts from 0 instead of n at a usable update.",
    "mds is the ideal erasure-counting code: a lower bound where no such binary code exists.",
    "rpc, rlg: random parity check, random generator; rep repetition; polar successive cancellation, n a power of two.",
    f"Codes have n <= {LONGEST}. polar is exact up to n = 32; beyond, up to n = 4096, it is enclosed: few digits.",
    "normal is the normal approximation of the best code: results are estimates.",
)
SOURCE_CONVENTIONS = (
    "A difference is new minus old value; on a cycle of length c it is reduced to -floor(c/2) .. ceil(c/2)-1 first.",
    "With a code, more than 2^m states or a window of more than 2^k differences are refused unless check_bits=no.",
    "window=threshold is 0 for k = 0, -2^(k-1)..2^(k-1)-1 for 0 < k < m, all for k = m.",
    "A source with several closed classes has one law a class: choose with class=STATE.",
)
ORIGIN = "Bhambay, Poojary and Parag, IEEE Trans. Commun. 67 (2019); laws derived in aoi_tools"


def reading(values: Mapping[str, Any]) -> Sampling | None:
    """Return how the age is read off, or None without a codeword length."""
    if values.get("n") is None:
        return None
    return Sampling(values["n"], values["sampling"], values["at_success"])


def decodings(model: str, values: Mapping[str, Any], *, differential: bool = True) -> tuple[Any, ...]:
    """Return the fate of an actual, and of a differential update where the model has one, from p, d or from a code."""
    direct = [name for name in ("p", "d") if name in values]
    coded = [name for name in ("code", "m", "k", "eps", "header", "field") if name in values]
    names = "p and d" if differential else "p"
    parts = ("code", "n", "m", "k", "eps") if differential else ("code", "n", "m", "eps")
    if direct and coded:
        raise InputError(f"{model}: {direct[0]} and {coded[0]} contradict; give {names} or a code, not both")
    if coded:
        if missing := [name for name in parts if name not in values]:
            raise InputError(f"{model} with a code needs {', '.join(parts)}; missing: {', '.join(missing)}")
        if values["code"] == "normal":
            words = [
                NormalApproximation(values["n"], values[name], values["eps"]) for name in ("m", "k")[: len(parts) - 3]
            ]
            return tuple(words)
        extra = (values.get("header", 0), values.get("field", 2))
        code = Code(values["code"], values["n"], values["m"], values["eps"], values.get("k"), *extra)
        return (code.actual, code.differential) if differential else (code.actual,)
    wanted = ("p", "d") if differential else ("p",)
    if missing := [name for name in wanted if name not in values]:
        raise InputError(f"{model} needs {names}, or {', '.join(parts)}; missing: {', '.join(missing)}")
    return tuple(Codeword.of(values[name], name) for name in wanted)


def source_and_window(values: Mapping[str, Any]) -> tuple[Source, Any]:
    """Return the source and the window that the words name, checked against each other and against k."""
    word = values["source"]
    by_file = word.endswith((".json", ".toml"))
    source = Source.from_document(read_document(word)) if by_file else named_source(word)
    if "class" in values:
        source = source.restricted(values["class"])
    chosen = window(threshold(values) if values["window"] == "threshold" else values["window"])
    source = source.closed()
    matching(chosen, source.values, source.cyclic)
    if values["check_bits"] == "yes":
        _check_bits(source, chosen, values)
    return source, chosen


def _check_bits(source: Source, chosen: Any, values: Mapping[str, Any]) -> None:
    """Refuse more states than m symbols, or more differences than k symbols, can tell apart."""
    field = values.get("field", 2)
    unit, states = ("bits" if field == 2 else f"symbols of {field} values"), len(set(source.values))
    if "m" in values and values["m"] < 64 and states > field ** values["m"]:
        raise InputError(
            f"source = {values['source']}: {states} states do not fit into m = {values['m']} {unit}; "
            "widen m or say check_bits=no"
        )
    size = chosen.size(source.dimension, source.bits)
    if "k" in values and size is not None and values["k"] < 64 and size > field ** values["k"]:
        raise InputError(
            f"window = {values['window']}: {size} differences do not fit into k = {values['k']} {unit}; "
            "widen k, narrow the window, or say check_bits=no"
        )


def threshold(values: Mapping[str, Any]) -> str:
    """Return the window of the differences that k bits, or symbols of a larger field, tell apart."""
    if "k" not in values or "m" not in values:
        raise InputError("window = threshold needs a code with m and k")
    k = values["k"]
    if k == 0:
        return "0"
    if k >= values["m"]:
        return "all"
    count = values.get("field", 2) ** k
    return f"{-(count // 2)}..{(count + 1) // 2 - 1}"
