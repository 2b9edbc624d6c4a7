"""The certificate of a stationary expectation as exact text, for the checker kind *poisson*."""

from typing import TYPE_CHECKING, Any

from flint import fmpq

from exactchains.countable_chain import CountableChain, Reward
from exactchains.number import rational
from exactchains.solvers.poisson_box import TAIL_BITS
from exactchains.solvers.rate_certificate import certificate, integer_text, rational_text

if TYPE_CHECKING:
    from exactchains.solvers.infinite import Bound


def poisson_certificate(
    chain: CountableChain, reward: Reward, lyapunov: tuple[list[fmpq], fmpq], bounds: tuple["Bound", "Bound"]
) -> dict[str, Any]:
    """Return the certificate of lower <= mean <= upper."""
    problem = {"chain": chain_text(chain), "reward": reward_text(reward)}
    conclusion = {"mean": [rational_text(bound.value) for bound in bounds]}
    theta, delta = lyapunov
    proof = {
        "lyapunov": {"theta": [rational_text(x) for x in theta], "delta": rational_text(delta)},
        "lower": _bound_text(bounds[0], reward.unit()),
        "upper": _bound_text(bounds[1], reward.unit()),
    }
    return certificate("poisson", problem, conclusion, proof)


def chain_text(chain: CountableChain) -> dict[str, Any]:
    """Return borders and, for every cell, its signs and jumps."""
    cells = [
        {"signs": list(signs), "jumps": [[*jump, rational_text(rate)] for jump, rate in chain.jumps[signs]]}
        for signs in chain.cells()
    ]
    return {"borders": [list(border) for border in chain.borders], "cells": cells}


def reward_text(reward: Reward) -> dict[str, Any]:
    special = sorted(reward.exceptions.items())
    return {
        "linear": [rational_text(x) for x in reward.coefficients()],
        "exceptions": [[*pair, rational_text(rational(x, "exception"))] for pair, x in special],
    }


def _bound_text(bound: "Bound", unit: int) -> dict[str, Any]:
    """V and the outer function of the reward itself: those of ``unit`` times the reward over ``unit``."""
    one = 1 << TAIL_BITS
    theta = [fmpq(t, one * unit) for t in bound.theta]
    theta[0] += fmpq(bound.kappa, one * unit)
    return {
        "sides": [[*side.form, side.bound] for side in bound.box.sides],
        "theta": [rational_text(t) for t in theta],
        "over": integer_text((one << bound.bits) * unit),
        "values": [integer_text(v) for v in bound.V],
    }
