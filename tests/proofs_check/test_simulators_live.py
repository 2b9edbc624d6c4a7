"""Ciw, SimPy and salabim run here and are validated end to end; skipped where they are not installed."""

import random
import warnings

import pytest

from proofs_check.simulators.validation import validate

MM1 = {"lam": "1/2", "mu": "1"}
THREE = {"lam": "3/2", "mu": "1", "c": "3"}
PAIR = {"pools": "1/2:3/2,1/2:1/2", "n": "2", "lam": "1/2"}


def ciw_records(network, horizon: float, seed: int):
    ciw = pytest.importorskip("ciw")
    ciw.seed(seed)
    simulation = ciw.Simulation(network(ciw))
    simulation.simulate_until_max_time(horizon)
    return simulation.get_all_records()


def one_node(servers: int, rate: float):
    return lambda ciw: ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate)],
        service_distributions=[ciw.dists.Exponential(1.0)],
        number_of_servers=[servers],
    )


@pytest.mark.parametrize(("model", "parameters", "servers", "rate"), [("mm1", MM1, 1, 0.5), ("mmc", THREE, 3, 1.5)])
def test_ciw_queues_agree(model, parameters, servers, rate):
    records = ciw_records(one_node(servers, rate), 8_000 / rate, 4)
    found = validate(model, parameters, records, quantities=["mean_response"], margin="15%")
    assert found.verdict.value == "agrees", found.findings[0].judgement
    assert any("Ciw" in note for note in found.notes)


def shortest_of_two(ciw):
    """Two servers of speeds 3/2 and 1/2 behind a node that takes no time and routes by JoinShortestQueue."""
    never = ciw.dists.Exponential
    return ciw.create_network(
        arrival_distributions=[never(1.0), None, None],
        service_distributions=[ciw.dists.Deterministic(0.0), ciw.dists.Exponential(1.5), ciw.dists.Exponential(0.5)],
        routing=ciw.routing.NetworkRouting(
            routers=[ciw.routing.JoinShortestQueue(destinations=[2, 3]), ciw.routing.Leave(), ciw.routing.Leave()]
        ),
        number_of_servers=[float("inf"), 1, 1],
    )


def test_ciw_shortest_queue_is_found_to_count_waiting_customers_only():
    records = ciw_records(shortest_of_two, 12_000, 2)
    textbook = validate("jsq", PAIR, records, quantities=["mean_queue"], margin="2%")
    assert textbook.verdict.value == "disagrees"
    assert "waiting jobs only" in textbook.findings[0].diagnosis.matches[0].fault
    assert any("waiting customers only" in note for note in textbook.notes)
    ciws = validate("jsq", PAIR | {"counts": "waiting"}, records, quantities=["mean_queue"], margin="12%")
    assert ciws.verdict.value == "agrees"


def simpy_jobs(servers: int, rate: float, jobs: int, seed: int):
    simpy = pytest.importorskip("simpy")
    rng, environment, rows = random.Random(seed), simpy.Environment(), []
    desk = simpy.Resource(environment, capacity=servers)

    def job(number: int):
        arrive = environment.now
        with desk.request() as request:
            yield request
            start = environment.now
            yield environment.timeout(rng.expovariate(1.0))
        rows.append({"job": number, "t_arrive": arrive, "t_start": start, "t_depart": environment.now})

    def source():
        for number in range(jobs):
            yield environment.timeout(rng.expovariate(rate))
            environment.process(job(number))

    environment.process(source())
    environment.run()
    return rows


@pytest.mark.parametrize(("model", "parameters", "servers", "rate"), [("mm1", MM1, 1, 0.5), ("mmc", THREE, 3, 1.5)])
def test_simpy_queues_agree(model, parameters, servers, rate):
    rows = simpy_jobs(servers, rate, 10_000, 3)
    found = validate(model, parameters, rows, quantities=["mean_response", "mean_queue"], margin="20%")
    assert found.verdict.value == "agrees", [f.judgement for f in found.findings]


def test_simpy_shortest_queue_agrees():
    simpy = pytest.importorskip("simpy")
    rng, environment, rows, speeds = random.Random(5), simpy.Environment(), [], (1.5, 0.5)
    desks = [simpy.Resource(environment) for _ in speeds]

    def job():
        arrive = environment.now
        lengths = [desk.count + len(desk.queue) for desk in desks]
        chosen = rng.choice([i for i, length in enumerate(lengths) if length == min(lengths)])
        with desks[chosen].request() as request:
            yield request
            start = environment.now
            yield environment.timeout(rng.expovariate(speeds[chosen]))
        rows.append((arrive, start, environment.now, chosen))

    def source():
        for _ in range(10_000):
            yield environment.timeout(rng.expovariate(1.0))
            environment.process(job())

    environment.process(source())
    environment.run()
    data = dict(zip(("t_arrive", "t_start", "t_end", "server"), zip(*rows, strict=True), strict=True))
    found = validate("jsq", PAIR, data, quantities=["mean_queue"], margin="16%")
    assert found.verdict.value == "agrees", found.findings[0].judgement


def salabim_environment(seed: int):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = pytest.importorskip("salabim")
    sim.yieldless(False)
    return sim, sim.Environment(random_seed=seed, trace=False)


@pytest.mark.parametrize(
    ("model", "parameters", "servers", "gap", "margin"), [("mm1", MM1, 1, 2, "50%"), ("mmc", THREE, 3, 2 / 3, "60%")]
)
def test_salabim_level_monitors_agree(model, parameters, servers, gap, margin):
    sim, environment = salabim_environment(7)
    desk = sim.Resource("desk", capacity=servers)
    between, service = sim.Exponential(gap), sim.Exponential(1)

    class Customer(sim.Component):
        def process(self):
            yield self.request(desk)
            yield self.hold(service.sample())
            self.release()

    class Source(sim.Component):
        def process(self):
            while True:
                yield self.hold(between.sample())
                Customer()

    Source()
    environment.run(till=5_000)
    levels, times = desk.requesters().length.xt()
    data = {"t": list(times), "requesters_length": list(levels)}
    found = validate(model, parameters, data, quantities=["mean_wait"], margin=margin)
    assert found.verdict.value == "agrees", found.findings[0].judgement
    assert any("waiting jobs only" in note for note in found.notes)


def test_salabim_shortest_queue_agrees():
    sim, environment = salabim_environment(9)
    rng, rows, speeds = random.Random(9), [], (1.5, 0.5)
    desks = [sim.Resource(f"desk {speed}") for speed in speeds]

    class Job(sim.Component):
        def process(self):
            arrive = environment.now()
            lengths = [len(desk.claimers()) + len(desk.requesters()) for desk in desks]
            chosen = rng.choice([i for i, length in enumerate(lengths) if length == min(lengths)])
            yield self.request(desks[chosen])
            start = environment.now()
            yield self.hold(rng.expovariate(speeds[chosen]))
            rows.append((arrive, start, environment.now(), chosen))

    class Source(sim.Component):
        def process(self):
            for _ in range(10_000):
                yield self.hold(rng.expovariate(1.0))
                Job()

    Source()
    environment.run()
    data = dict(zip(("t_arrive", "t_start", "t_end", "server"), zip(*rows, strict=True), strict=True))
    found = validate("jsq", PAIR, data, quantities=["mean_queue"], margin="16%")
    assert found.verdict.value == "agrees", found.findings[0].judgement
