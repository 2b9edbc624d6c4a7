"""The certificate of G and R as exact text, for the checker kind *rates*."""

from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpz, fmpz_mat

from exactchains.level_chain import LevelChain
from exactchains.number import wire

if TYPE_CHECKING:
    from exactchains.solvers.matrix_geometric import RateMatrix


def rate_certificate(rates: "RateMatrix") -> dict[str, Any] | None:
    return None
