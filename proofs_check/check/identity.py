"""Kind *identity*: equalities of rational functions on a domain; as kind *sign*, without inequalities."""

from typing import Any

from proofs_check.check import statements
from proofs_check.check.exact import Rejected, items


def check(problem: Any, conclusion: Any, proof: Any) -> None:
    statements.check(problem, conclusion, proof)
    if any(statement["claim"][1] != "=" for statement in items(conclusion["statements"])):
        raise Rejected("an identity states equalities only")
