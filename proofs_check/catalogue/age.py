"""Ages of status updates as named models."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from aoi_tools.models.markov import LastDecoded, Markov
from aoi_tools.models.schemes import Actual, Delayed, Feedback, Generalised, Lossy, Periodic
from proofs_check.catalogue import age_parts as parts
from proofs_check.catalogue.age_parts import AgeProblem
from proofs_check.catalogue.model import Model, Parameter

CODING = (parts.HEADER, parts.FIELD)


def _model(name: str, title: str, scheme: Callable[..., Any], *extra: Parameter) -> Model:
    plain = scheme is Actual
    d, k = (_unsent(p) if plain else p for p in (parts.D, parts.K))
    given = (parts.P, d, parts.CODE, parts.N, parts.M, k, parts.EPS, *CODING)

    def build(values: Mapping[str, Any]) -> AgeProblem:
        words = parts.decodings(name, values, differential=not plain)
        made = scheme(*words, *(values[p.name] for p in extra))
        return AgeProblem(made, parts.reading(values), values.get("level"), values.get("growth"))

    shown = (*given, *extra, *parts.READING)
    return Model(
        name, title, shown, parts.QUANTITIES, build, parts.solve, parts.CONVENTIONS, parts.ORIGIN, certify=parts.certify
    )


def _unsent(parameter: Parameter) -> Parameter:
    """Return a parameter that is read and checked, so that all age models take one code, but plays no part."""
    return replace(parameter, meaning=f"{parameter.meaning}; this scheme sends none")


def _source_model(name: str, title: str, scheme: Callable[..., Any]) -> Model:
    given = (parts.P, parts.D, parts.CODE, parts.N, parts.M, parts.K, parts.EPS, *CODING)
    extra = (parts.SOURCE, parts.WINDOW, parts.SOURCE_CLASS, parts.CHECK_BITS)

    def build(values: Mapping[str, Any]) -> AgeProblem:
        words = parts.decodings(name, values)
        made = scheme(*words, *parts.source_and_window(values))
        return AgeProblem(made, parts.reading(values), values.get("level"), values.get("growth"))

    said = (*parts.CONVENTIONS, *parts.SOURCE_CONVENTIONS)
    shown = (*given, *extra, *parts.READING)
    return Model(name, title, shown, parts.QUANTITIES, build, parts.solve, said, parts.ORIGIN, certify=parts.certify)


def _costed_model() -> Model:
    """Return the feedback model with a slot of n + cost channel uses, delivered at the end of the slot."""
    plain = _model("age.costed", "feedback that takes channel uses of its own in every slot", Feedback, parts.COST)

    def build(values: Mapping[str, Any]) -> AgeProblem:
        scheme = Feedback(*parts.decodings("age.costed", values))
        slot = values if values.get("n") is None else {**values, "n": values["n"] + values["cost"]}
        return AgeProblem(scheme, parts.reading(slot), values.get("level"), values.get("growth"))

    said = (
        *parts.CONVENTIONS,
        "A slot is n uses for the codeword and cost uses for the feedback; p and d are of the codeword.",
    )
    return replace(plain, build=build, conventions=said)


MODELS = (
    _model("age.actual", "every slot the actual state", Actual),
    _model("age.feedback", "differential after a success, actual after a failure", Feedback),
    _model("age.periodic", "no feedback: one actual, then q chained differentials", Periodic, parts.Q),
    _model("age.generalised", "differential after a success when the difference is small", Generalised, parts.ALPHA),
    _source_model("age.markov", "differential after a success when the source changed little", Markov),
    _source_model("age.last-decoded", "difference to the last decoded state, also after failures", LastDecoded),
    _model("age.delayed", "feedback that is late", Delayed, parts.DELAY),
    _costed_model(),
    _model("age.lossy", "feedback that is lost at random; the actual state follows a loss", Lossy, parts.LOSS),
)
