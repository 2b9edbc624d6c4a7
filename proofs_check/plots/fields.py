"""Drift fields of two servers: in every state, the exact mean change of both queues per unit of time."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from flint import fmpq

from exactchains.document import parsed, read_document
from exactchains.truth import InputError
from meanfield.models.policy import Policy, Server, routed
from proofs_check.catalogue import find
from proofs_check.catalogue.balancing import System
from proofs_check.plots.paths import PathReader

KEYS = {"title", "papers", "most", "fields"}
FIELD_KEYS = {"model", "heading", "parameters"}
MAX_FIELDS, MAX_JOBS = 3, 15
Arrow = tuple[int, int, fmpq, fmpq]  # jobs at both servers, and the drift of both


@dataclass(frozen=True)
class Field:
    """The drift of one policy on the states from (0, 0) to (most, most)."""

    label: str
    speeds: tuple[str, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True)
class Fields:
    """Drift fields side by side."""

    title: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class Wanted:
    """Drift fields as asked for: (model, heading, parameters), and the most jobs at a server."""

    name: str
    title: str
    runs: tuple[tuple[str, str, Mapping[str, str]], ...]
    most: int
    papers: tuple[str, ...] = ()


def wanted(place: Path) -> Wanted | None:
    """Return the drift fields that a TOML file asks for; None when it asks for something else."""
    data = read_document(place)
    if "fields" not in data:
        return None
    return FieldReader(place.stem, place.name, place.read_text(encoding="utf-8")).fields(data)


def from_text(text: str, name: str = "fields") -> Wanted:
    """Return the drift fields that TOML text asks for."""
    return FieldReader(name, f"{name}.toml", text).fields(parsed(text, f"{name}.toml", toml=True))


class FieldReader(PathReader):
    """Reads pictures of drift fields; errors name key and line."""

    def fields(self, data: Mapping[str, Any]) -> Wanted:
        self._known(data, KEYS, "")
        raw = data.get("fields")
        if not isinstance(raw, list) or not 1 <= len(raw) <= MAX_FIELDS:
            raise self.error("fields", f"from 1 to {MAX_FIELDS} [[fields]] with model and parameters are needed")
        title = self._text(data.get("title", self.name), "title")
        most = self._count(data.get("most", 6), "most", MAX_JOBS)
        runs = tuple(self._field(run, i) for i, run in enumerate(raw))
        return Wanted(self.name, title, runs, most, self._names(data.get("papers", []), "papers"))

    def _field(self, data: Any, i: int) -> tuple[str, str, Mapping[str, str]]:
        where = f"fields[{i}]"
        if not isinstance(data, Mapping):
            raise self.error("fields", "write [[fields]] and below it model and parameters")
        self._known(data, FIELD_KEYS, f"{where}.")
        words = self._parameters(data.get("parameters", {}), f"{where}.parameters")
        model = self._try(f"{where}.model", partial(find, self._text(data.get("model", ""), f"{where}.model")))
        self._try(f"{where}.parameters", partial(_pair, model.name, words))
        return model.name, self._text(data.get("heading", model.name), f"{where}.heading"), words


def drawn(asked: Wanted) -> Fields:
    """Return the drift fields, exact."""
    found = []
    for model, heading, words in asked.runs:
        policy = _pair(model, words)
        states = [(a, b) for a in range(asked.most + 1) for b in range(asked.most + 1)]
        arrows = tuple((a, b, *pair_drift(policy, a, b)) for a, b in states)
        found.append(Field(heading, tuple(str(s) for s in _speeds(policy)), arrows))
    return Fields(asked.title, tuple(found))


def pair_drift(policy: Policy, a: int, b: int) -> tuple[fmpq, fmpq]:
    r"""Return the drift of both queues in the state (a, b): arrivals joined minus services.

    :math:`2 \lambda\, p_i(a, b) - \mu_i 1\{q_i > 0\}` with the probabilities p of the rule, exact.

    Examples
    --------
    >>> from meanfield.models.shortest import SpeedAwareJSQ
    >>> pair_drift(SpeedAwareJSQ("1/2:3/2,1/2:1/2", "1/2"), 1, 0)
    (-3/2, 1)
    """
    _check_sees_both(policy)
    speeds = _speeds(policy)
    pools = (0, len(policy.pools) - 1)
    law = routed(policy, [Server(pools[i], speeds[i], jobs) for i, jobs in enumerate((a, b))])
    come = [2 * policy.load * law.get(i, fmpq(0)) for i in range(2)]
    first, second = (x - (mu if jobs else 0) for x, mu, jobs in zip(come, speeds, (a, b), strict=True))
    return first, second


def _speeds(policy: Policy) -> tuple[fmpq, fmpq]:
    return policy.pools.speeds[0], policy.pools.speeds[-1]


def _pair(model: str, words: Mapping[str, str]) -> Policy:
    """Return the policy of two servers, all of which a job sees."""
    system = find(model).make(words)
    if not isinstance(system, System) or system.n != 2 or system.buffer is not None:
        raise InputError(f"{model}: a drift field is of a load-balancing model with n = 2 and no buffer")
    system.policy.pools.sizes(2)
    _check_sees_both(system.policy)
    return system.policy


def _check_sees_both(policy: Policy) -> None:
    if policy.d not in (None, 2) or getattr(policy, "replacement", False):
        name = type(policy).__name__
        raise InputError(f"{name}: a drift field needs a job that sees both servers: d = 2 without replacement")
