"""Kind *all*: several certificates that together establish one claim.  Parts may not be conjunctions themselves."""

from typing import Any

from proofs_check.check.exact import Rejected, fields, items


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    from proofs_check.check.document import checker

    problems = items(fields(problem, "parts")["parts"])
    conclusions = items(fields(conclusion, "parts")["parts"], len(problems))
    proofs = items(fields(proof, "parts")["parts"], len(problems))
    if not problems:
        raise Rejected("a conjunction of nothing")
    for i, (part, says, shown) in enumerate(zip(problems, conclusions, proofs, strict=True)):
        kind = fields(part, "kind problem")["kind"]
        if kind == "all":
            raise Rejected("a conjunction inside a conjunction")
        try:
            checker(kind)(part["problem"], says, shown)
        except Rejected as reason:
            raise Rejected(f"part {i + 1} ({kind}): {reason}") from None
