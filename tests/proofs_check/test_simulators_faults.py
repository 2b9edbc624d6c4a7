"""The faults that the validator knows: those of the how-to's table exist, and every fault there is stands in it."""

import functools
import re

import numpy as np
import pytest
from flint import fmpq

from aoi_tools.models.queues import Erlang, Mixture
from exactchains.enclosure import Enclosure
from proofs_check.catalogue import find
from proofs_check.simulators.classic_suspects import from_delivery, from_service
from proofs_check.simulators.knowledge import knowledge
from proofs_check.simulators.queue_runs import job_trace
from proofs_check.simulators.service import SERVICES
from tests.source import ROOT

QUEUE, POOLS = {"lam": "1/2", "mu": "1"}, {"pools": "1/3:2,2/3:1/2", "n": "3", "lam": "1/2", "buffer": "2"}
PD, POD = {"p": "1/2", "d": "1/4"}, {"d": "2", "eps": "1/4", "lam": "1/2", "n": "3", "buffer": "2"}
WORDS = {
    **dict.fromkeys(("mm1", "md1", "dm1", "mm11", "lcfs", "lcfs-preemptive", "mm12-replacement", "mm1-ps"), QUEUE),
    "mm1": {"lam": "2/3", "mu": "4/3"},
    "mg1": {"lam": "1/2", "service": "erlang:2,2"},
    "gm1": {"arrivals": "erlang:2,1", "mu": "1"},
    "mmc": {"lam": "2", "mu": "1", "c": "3"},
    "mm1k": {"lam": "2/3", "mu": "4/3", "k": "3"},
    **dict.fromkeys(("jsq", "sa-jsq", "jiq", "sa-jiq", "sed"), POOLS),
    "pod.load-dependent": POD | {"g": "1"},
    "pod.load-independent": POD,
    **dict.fromkeys(("age.feedback", "age.periodic", "age.generalised", "age.delayed", "age.lossy"), PD),
    "age.actual": {"p": "1/2"},
    "age.periodic": PD | {"q": "2"},
    "age.generalised": PD | {"alpha": "1/3"},
    "age.delayed": PD | {"delay": "1"},
    "age.lossy": PD | {"loss": "1/3"},
}
OWN = {  # what is no fault of a model, or of none of its quantities
    "mm1": ("unlimited room",),
    "md1": ("constant service times",),
    "dm1": ("constant times between arrivals",),
    "mm11": ("server busy are lost",),
    "lcfs": ("last come first served",),
    "lcfs-preemptive": ("replaces the one in service",),
    "mm12-replacement": ("replaces the waiting one",),
    **dict.fromkeys(("mm1k", "mm1-ps"), ("replaces the one in service", "replaces the waiting one")),
}


def rows() -> list[tuple[str, list[str], list[str]]]:
    """Return phrase, models and quantities of every fault in the table."""
    text = (ROOT / "docs/howto/validate.md").read_text(encoding="utf-8")
    before, after = text.split("| fault | models | quantities |\n|---|---|---|\n")
    legend = " ".join(before.split("\n\n")[-2].split())
    groups = {name.lower(): named(models) for name, models in re.findall(r"([A-Z][a-z ]+): ([^:]*?)\.(?: |$)", legend)}
    found = []
    for line in after.split("\n\n")[0].splitlines():
        faults, where, quantities = (cell.strip() for cell in line.strip("|").split("|"))
        models = named(where)
        for group, members in groups.items():
            models += members if re.search(rf"(?<!update ){group}\b", where) else []
        found += [(fault, sorted(set(models)), re.findall(r"[a-z_]+", quantities)) for fault in faults.split(", ")]
    return found


def named(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z0-9][a-z0-9.-]*[a-z0-9]", text) if word in WORDS]


ROWS = rows()


@functools.cache
def faults(model: str) -> dict[str, list[str]]:
    """Return the faults of every quantity of a model."""
    subject = find(model)
    words = WORDS[model] | ({"n": "4"} if model.startswith("age.") else {})
    values = subject.read(words)
    known = knowledge(subject, values, subject.build(values))
    names = [q.name for q in subject.quantities if q.name not in ("age_ccdf", "age_quantile", "age_exponential")]
    found = {}
    for name in names:
        index = 1 if name in ("tail", "slot_pmf", "slot_ccdf") else None
        found[name] = [suspect.fault for suspect in known.suspects(name, index)]
    return found


@pytest.mark.parametrize(("phrase", "models", "quantities"), ROWS, ids=[row[0] for row in ROWS])
def test_every_fault_of_the_table_is_known_for_its_models(phrase, models, quantities):
    assert models
    if phrase in ("unit of time", "every replication starts empty"):
        return  # not of the model alone: tested with data
    for model in models:
        known = faults(model)
        wanted = [name for name in quantities if name in known] or list(known)
        assert phrase in OWN.get(model, ()) or any(phrase in fault for q in wanted for fault in known[q]), (
            model,
            known,
        )


@pytest.mark.parametrize("model", WORDS)
def test_every_known_fault_stands_in_the_table(model):
    phrases = [phrase for phrase, models, _ in ROWS if model in models]
    missing = {fault for known in faults(model).values() for fault in known if not any(p in fault for p in phrases)}
    assert not missing


@pytest.mark.parametrize("model", SERVICES)
def test_ages_from_the_start_of_service_and_from_the_last_delivery_are_those_of_runs(model):
    values = find(model).read(WORDS[model])
    _, jobs = job_trace(model, values, jobs=400_000, seed=1)
    start, end = jobs.T[2:]
    gap, low = np.diff(end), (end - start)[:-1]
    lam, service = values["lam"], SERVICES[model](values)
    for found, ages in ((from_service(lam, service), low), (from_delivery(lam, service), 0 * low)):
        assert float(found.lower) == pytest.approx((gap * ages + gap**2 / 2).sum() / gap.sum(), rel=0.02)


def test_ages_from_the_start_of_service_are_fractions_where_the_law_is_no_mixture():
    lam, mu = fmpq(1, 2), fmpq(1)
    assert from_service(lam, Erlang(mu)) == Enclosure.exact("17/6")  # 2 + 1 - 1/6 by Burke's theorem
    assert from_delivery(lam, Erlang(mu)) == Enclosure.exact(1 / lam)  # departures are Poisson
    mixed = Mixture(((fmpq(1, 3), Erlang(mu)), (fmpq(2, 3), Erlang(mu))))
    assert float(from_service(lam, mixed).lower) == pytest.approx(17 / 6, rel=1e-12)
