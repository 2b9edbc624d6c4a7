"""What a stored certificate establishes, sentence by sentence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proofs_check.check.document import read
from proofs_check.check.exact import Rejected
from proofs_check.verify import stored

LONG = 400  # characters beyond which the steps of an induction are left to its certificate


@dataclass(frozen=True)
class Summary:
    """The kinds of a certificate's parts, and what they conclude."""

    kinds: tuple[str, ...]
    sentences: tuple[str, ...]
    found_by: str = ""


def summary(name: str) -> Summary | None:
    """Return the summary of the certificate stored for a claim; None when there is none that can be read."""
    path = stored(name)
    if path is None:
        return None
    try:
        certificate = read(path)
    except Rejected:
        return None
    problem, conclusion = certificate["problem"], certificate["conclusion"]
    whole = certificate["kind"] == "all"
    parts = problem["parts"] if whole else [{"kind": certificate["kind"], "problem": problem}]
    kinds = [part["kind"] for part in parts]
    says = list(zip(parts, conclusion["parts"] if whole else [conclusion], strict=True))
    says.sort(key=lambda pair: pair[0]["kind"] == "identity")  # what is written out comes after what is argued
    sentences = dict.fromkeys(text for part, end in says for text in [*concluded(end), *reached(part["problem"])])
    return Summary(tuple(kinds), tuple(sentences), str(certificate.get("found_by", "")))


def reached(problem: Mapping[str, Any]) -> list[str]:
    """Return, of an induction that is short to tell, of which states it speaks: those that steps reach from a start."""
    if "starts" not in problem:
        return []
    starts = (", ".join(f"{name} = {x}" for name, x in start.items()) for start in problem["starts"])
    steps = (
        ", ".join(f"{name} -> {x}" for name, x in step["set"].items() if x != name) + _allowed(step)
        for step in problem["steps"].values()
    )
    text = f"this in every state reached from {' or '.join(starts)} by steps {' or '.join(steps)}"
    return [text] if len(text) <= LONG else []


def _allowed(step: Mapping[str, Any]) -> str:
    """Return what a step asks for, such as the range of a free name."""
    asked = [f"{text} {relation} 0" for text, relation in step.get("guard", {}).values()]
    return f" if {' and '.join(asked)}" if asked else ""


def concluded(conclusion: Mapping[str, Any]) -> list[str]:
    """Return what one part of a certificate concludes."""
    found = [" ".join(s["claim"]) + _given(s) for s in conclusion.get("statements", [])]
    found += [f"{o['smaller']} <= {o['larger']} stochastically" + _given(o) for o in conclusion.get("orders", [])]
    found += [f"the law of {name} at every level" for name in conclusion.get("laws", {})]
    if "zero" in conclusion:
        found += [f"{_element(x)} = 0" for x in conclusion["zero"]]
    if "order" in conclusion:
        found.append(f"{conclusion['order']}, path by path")
    if "mean_queue" in conclusion:
        found.append("mean queue from {} to {}".format(*conclusion["mean_queue"]))
    if "mean" in conclusion:
        found.append("stationary mean from {} to {}".format(*conclusion["mean"]))
    if "function" in conclusion:
        constants = (f"{name} {x}" for name, x in conclusion.items() if isinstance(x, str) and name != "function")
        found.append(f"{conclusion['function']} drift in every state: {', '.join(constants)}")
    if "left" in conclusion:
        point = ", ".join(f"{name} = {x}" for name, x in conclusion["at"].items()) or "the instance"
        found.append(f"left side {conclusion['left']}, right side {conclusion['right']} at {point}")
    return found


def _given(statement: Mapping[str, Any]) -> str:
    """Return the further assumptions of one statement."""
    assumed = [f"{text} {relation} 0" for text, relation in statement.get("assume", {}).values()]
    assumed += [f"{name} = {text}" for name, text in statement.get("set", {}).items()]
    return f" if {' and '.join(assumed)}" if assumed else ""


def _element(terms: list[list[Any]]) -> str:
    """Return a sum of words in letters that do not commute."""
    return " + ".join(" ".join([*([] if scalar == "1" else [f"({scalar})"]), *word]) for scalar, word in terms)
