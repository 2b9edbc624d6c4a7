"""Age laws and age quantities of update schemes: the entry functions."""

from collections.abc import Callable
from typing import Any

from flint import arb

from aoi_tools.approximations import Estimated
from aoi_tools.closed_forms import closed_form
from aoi_tools.models.law import Sampling, SlotLaw
from aoi_tools.models.markov import LastDecoded, Markov
from aoi_tools.models.schemes import Delayed, Periodic, exact_bits
from exactchains.domain import QQ, Balls, Domain, Rigor
from exactchains.enclosure import Enclosure, Result
from exactchains.level_chain import LevelChain
from exactchains.truth import InputError, PrecisionExhausted, Undecided

ESTIMATED = 17  # digits of an estimate
EXACT_BITS = 10_000  # largest size of a fraction that is worth its digits
MAX_PRECISION = 1 << 20
FARTHEST = 10_000_000  # binary exponent of the smallest and the largest value that is written out
MOST_SLOTS, MOST_STEPS, MOST_MOMENTS = 1_000_000, 10_000, 1_000  # index of a law: in closed form, by steps; a moment

PLAIN: dict[str, Callable[[SlotLaw], Any]] = {
    "slot_mean": lambda law: law.mean(),
    "slot_variance": lambda law: law.variance(),
    "slot_second_moment": lambda law: law.second_moment(),
    "failure": lambda law: law.failure(),
    "gap_mean": lambda law: law.gap_mean(),
    "gap_second_moment": lambda law: law.gap_second_moment(),
}
INDEXED: dict[str, Callable[[SlotLaw, int], Any]] = {
    "slot_moment": lambda law, r: law.moment(r),
    "slot_pmf": lambda law, j: law.pmf(j),
    "slot_ccdf": lambda law, j: law.ccdf(j),
    "gap_pmf": lambda law, z: law.gap_pmf(z),
}
SAMPLED: dict[str, Callable[[SlotLaw, Sampling], Any]] = {
    "age_mean": lambda law, sampling: law.age_mean(sampling),
    "age_variance": lambda law, sampling: law.age_variance(sampling),
    "peak_mean": lambda law, sampling: law.peak_mean(sampling),
    "peak_variance": lambda law, sampling: law.peak_variance(sampling),
}
READ_AT: dict[str, Callable[[SlotLaw, Sampling, int], Any]] = {
    "age_pmf": lambda law, sampling, x: law.age_pmf(sampling, x),
    "age_ccdf": lambda law, sampling, x: law.age_ccdf(sampling, x),
}
QUANTITIES = (*PLAIN, *INDEXED, *SAMPLED, *READ_AT)
LEAST_INDEX = {"gap_pmf": 1, "slot_moment": 1}


def age_law(scheme: Any, *, domain: Domain = QQ, method: str = "auto") -> SlotLaw:
    """Return the stationary law of the slot age of ``scheme``.

    Parameters
    ----------
    scheme : Scheme
        Anything with ``modes`` and ``blocks(domain)``.
    domain : Domain
        ``QQ``, ``Balls(prec)``, ``Floats()`` or ``Fractions("p", "d")``; numbers of the law are native to it.
    method : {"auto", "chain", "closed form"}
        ``chain`` solves the mode chain of any scheme; ``closed form`` uses :mod:`aoi_tools.closed_forms`; ``auto``
        takes the closed form where there is one.

    Guarantee
    ---------
    Exact over ``QQ`` and ``Fractions``; over balls every value contains the truth.

    Raises
    ------
    DoesNotExist
        No update ever becomes usable, or the modes have several recurrent classes.

    Examples
    --------
    >>> from aoi_tools import Feedback, age_law
    >>> law = age_law(Feedback("1/2", "1/10"))
    >>> law.mean(), law.pmf(0), law.variance()
    (1/3, 5/6, 8/9)
    """
    if method not in ("auto", "chain", "closed form"):
        raise InputError(f"method = {method!r}: allowed are auto | chain | closed form")
    form = None if method == "chain" else closed_form(scheme, domain)
    if form is not None:
        return form
    from aoi_tools.solvers.markov import ReferenceLaw, markov_law  # import scipy, which a closed form needs not
    from aoi_tools.solvers.modes import ModeLaw

    if method != "chain":
        if isinstance(scheme, Markov):
            return markov_law(scheme, domain)
        if method == "closed form":
            raise InputError(f"{type(scheme).__name__} has no closed form; use method='chain'")
        if isinstance(scheme, LastDecoded):
            return ReferenceLaw(scheme, domain)
    with domain.working():
        up, reset = scheme.blocks(domain)
        return ModeLaw(LevelChain.resetting(up, reset, domain=domain), scheme.modes)


def age_quantity(
    scheme: Any, quantity: str, *, index: int | None = None, digits: int = 30, sampling: Sampling | None = None
) -> Result:
    """Return one quantity of the age of ``scheme`` with ``digits`` certain significant digits.

    Parameters
    ----------
    quantity : str
        One of :data:`QUANTITIES`; ``slot_pmf`` P(J = index), ``slot_ccdf`` P(J > index), ``gap_pmf`` P(Z = index).
    sampling : Sampling
        Needed by ``age_mean``, ``age_variance`` and ``peak_mean``.

    Guarantee
    ---------
    Exact when the parameters are exact and the fraction has moderate size; else an enclosure whose precision was
    raised until the digits were certain.

    Raises
    ------
    DoesNotExist
        There is no age law.
    PrecisionExhausted
        The digits were not reached, or the parameters are balls too wide for them.
    """
    value = evaluation(quantity, index=index, sampling=sampling)
    form = closed_form_name(scheme)
    if any(getattr(getattr(scheme, name), "estimate", False) for name in getattr(scheme, "__dataclass_fields__", ())):
        found, _ = certified(lambda domain: value(age_law(scheme, domain=Estimated(domain.prec))), ESTIMATED)
        middle = (found.lower + found.upper) / 2
        estimate = Enclosure(middle, middle, Rigor.ESTIMATE)
        return Result(estimate, quantity, index, f"{form}; an approximation of the code")
    levels = index if sampling is None or quantity not in READ_AT or index is None else index // sampling.n
    _bounded(scheme, quantity, levels)
    size = exact_size(scheme, levels)
    if size is not None and size <= EXACT_BITS:
        return Result(Enclosure.of(value(age_law(scheme))), quantity, index, f"{form}, exact rational arithmetic")
    found, prec = certified(
        lambda domain: value(age_law(scheme, domain=domain)), digits, fixed=exact_bits(scheme) is None
    )
    return Result(found, quantity, index, f"{form}, ball arithmetic with {prec} bits")


def certified(evaluate: Callable[[Balls], Any], digits: int, *, fixed: bool = False) -> tuple[Enclosure, int]:
    """Return an enclosure with ``digits`` certain digits, and the bits it took; precision doubles until it has.

    ``fixed`` evaluates once: the inputs are balls that do not shrink.
    """
    if digits < 1:
        raise InputError(f"digits = {digits}: an integer >= 1 is needed")
    prec, reached = 64 + int(3.33 * digits) + 1, 0
    while prec <= MAX_PRECISION:
        domain = Balls(prec)
        try:
            with domain.working():
                found = _written(evaluate(domain))
            if found.has_digits(digits):
                return found, prec
            reached = found.certain_digits or 0
        except Undecided:
            if fixed:
                raise
        if fixed:
            break
        prec *= 2
    if fixed:
        raise PrecisionExhausted(
            f"could not certify {digits} digits: {reached} reached, as the inputs are enclosures of fixed width "
            "(balls, or a polar code of more than 32 uses); "
            f"the value lies in {found.bounds(3)}"
        )
    raise PrecisionExhausted(f"could not certify {digits} digits: {reached} reached with {prec} bits")


def _written(x: Any) -> Enclosure:
    """Return the enclosure of a value; a ball of radius zero is an exact value."""
    for part in (x.mid(), x.rad()) if isinstance(x, arb) and x.is_finite() else ():
        if part != 0 and abs(int(part.man_exp()[1])) > FARTHEST:
            if x.contains(0) and x.rad() > 1:
                raise Undecided("the enclosure lost all its digits at this precision; raise the precision")
            raise InputError(
                f"the value is too small or too large to be written out: beyond 2^-{FARTHEST}..2^{FARTHEST}; "
                "give a smaller index or at"
            )
    found = Enclosure.of(x)
    return Enclosure.exact(found.lower) if found.lower == found.upper else found


def _bounded(scheme: Any, quantity: str, index: int | None) -> None:
    """Refuse an index whose value would take too long."""
    most = MOST_SLOTS if has_closed_form(scheme) else MOST_STEPS
    most = MOST_MOMENTS if quantity == "slot_moment" else most
    if index is not None and index > most:
        unit = "index" if quantity in INDEXED else "index / n"
        raise InputError(f"{quantity}: {unit} = {index}: an integer up to {most} is needed for this scheme")


def exact_size(scheme: Any, index: int | None) -> int | None:
    """Return a bound in bits on the size of the exact answer; None when the parameters are not exact."""
    bits = exact_bits(scheme)
    if bits is None:
        return None
    slots = 4 + (index or 0)
    if isinstance(scheme, Periodic | Delayed):
        return bits * (slots + 2 * (scheme.period if isinstance(scheme, Periodic) else scheme.lag))
    closed = type(scheme).__name__ in METHODS
    return bits * slots * (getattr(scheme, "degree", 1) if closed else len(scheme.modes))


def has_closed_form(scheme: Any) -> bool:
    """Return whether far levels of the law cost no more than near ones; others are followed slot by slot."""
    return type(scheme).__name__ in METHODS and not isinstance(scheme, LastDecoded)


def closed_form_name(scheme: Any) -> str:
    """Return how :func:`age_law` solves ``scheme``, for the method text of a result."""
    return METHODS.get(type(scheme).__name__, "mode chain by state reduction")


METHODS = dict.fromkeys(
    ("Actual", "Delayed", "Feedback", "Generalised", "Lossy", "Periodic"), "renewal closed form"
) | {
    "Markov": "pi_0 = (1-p) nu (I - D P_k)^-1",
    "LastDecoded": "matrix-geometric law by reference",
}


def evaluation(
    quantity: str, *, index: int | None = None, sampling: Sampling | None = None
) -> Callable[[SlotLaw], Any]:
    """Return the function of a law that gives ``quantity``, a native number of the law's domain."""
    if quantity not in QUANTITIES:
        raise InputError(f"quantity = {quantity!r}: allowed are {', '.join(QUANTITIES)}")
    if (quantity in SAMPLED or quantity in READ_AT) and sampling is None:
        raise InputError(f"{quantity} needs the codeword length n; give n, an integer >= 1")
    if quantity in PLAIN:
        return PLAIN[quantity]
    if quantity in SAMPLED:
        read = SAMPLED[quantity]
        return lambda law: read(law, sampling)  # type: ignore[arg-type]
    least = LEAST_INDEX.get(quantity, 0)
    if index is None or index < least:
        raise InputError(f"{quantity} needs an index >= {least}; index = {index}")
    if quantity in READ_AT:
        read_at = READ_AT[quantity]
        return lambda law: read_at(law, sampling, index)  # type: ignore[arg-type]
    chosen = INDEXED[quantity]
    return lambda law: chosen(law, index)
