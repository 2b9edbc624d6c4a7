"""Two models of Storm's test suite, rebuilt from their PRISM descriptions: published long-run probabilities."""

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from flint import fmpq

from exactchains import FiniteChain, absorption, coarsest_lumping, extremal_laws, reachable_chain, stationary
from exactchains.domain import rational
from exactchains.solvers.arrays import arrays
from exactchains.solvers.structure import structure

PEERS = Path(__file__).parents[1] / "data" / "peer_cases.json"
CASES = {case["id"]: case for case in json.loads(PEERS.read_text(encoding="utf-8"))["cases"]}
DAY = 86_400  # seconds
FAIL_PROCESSOR, FAIL_SENSOR, FAIL_ACTUATOR = Fraction(1, 365 * DAY), Fraction(1, 30 * DAY), Fraction(1, 60 * DAY)
CYCLE, FAULT, REBOOT = Fraction(1, 60), Fraction(1, DAY), Fraction(1, 30)
SKIPS = 2  # cycles that may be skipped


class Plant(NamedTuple):
    """Sensors, input processor (2 ok, 1 fault, 0 failed), actuators, output processor, main processor, bus flags."""

    sensors: int = 3
    input: int = 2
    actuators: int = 2
    output: int = 2
    main: int = 1
    skipped: int = 0
    done: bool = True
    pending_in: bool = True
    pending_out: bool = False


def embedded(x: Plant):
    """Embedded control system (Muppala, Ciardo and Trivedi 1994), as in the PRISM case study."""
    sensing, acting = x.input == 2 and x.sensors >= 2, x.output == 2 and x.actuators >= 1
    up = x.main == 1
    if x.sensors > 1:
        yield x._replace(sensors=x.sensors - 1), x.sensors * FAIL_SENSOR
    if x.actuators > 0:
        yield x._replace(actuators=x.actuators - 1), x.actuators * FAIL_ACTUATOR
    if up:
        yield x._replace(main=0), FAIL_PROCESSOR
    if x.sensors >= 2:
        if x.input > 0:
            yield x._replace(input=0), FAIL_PROCESSOR
        if x.input == 2:
            yield x._replace(input=1), FAULT
        if x.input == 1:
            passed = up and not x.pending_out
            out = not acting and (x.pending_out or up)
            yield x._replace(input=2, done=x.done or passed, pending_in=not passed, pending_out=out), REBOOT
    if x.actuators >= 1:
        if x.output > 0:
            yield x._replace(output=0), FAIL_PROCESSOR
        if x.output == 2:
            yield x._replace(output=1), FAULT
        if x.output == 1:
            waiting = sensing or (x.pending_in and not up)
            yield (
                x._replace(output=2, done=x.done or (x.pending_in and up), pending_in=waiting, pending_out=False),
                REBOOT,
            )
    skipped = 0 if x.done else min(x.skipped + 1, SKIPS + 1)
    done = x.pending_in and not x.pending_out and up
    waiting = sensing or (x.pending_in and (x.pending_out or not up))
    out = not acting and (x.pending_out or (x.pending_in and up))
    yield x._replace(skipped=skipped, done=done, pending_in=waiting, pending_out=out), CYCLE


def test_embedded_system_ends_by_failed_sensors():
    """Storm 833, LraCtmcCslModelCheckerTest: the exact long-run probability of fail_sensors."""
    chain = reachable_chain(Plant(), embedded)
    ends = absorption(chain, 0, digits=25)
    failed = [
        p
        for p, states in zip(ends, structure(arrays(chain)).recurrent, strict=True)
        if all(chain.labels[i].input == 2 and chain.labels[i].sensors < 2 for i in states)
    ]
    published = rational(CASES["storm-embedded2"]["LRA_exact"])
    lower, upper = (sum((getattr(p, end) for p in failed), fmpq(0)) for end in ("lower", "upper"))
    assert lower <= published <= upper and upper - lower < fmpq(1, 10**24)


def test_lumping_does_not_depend_on_the_order_of_states():
    """Storm 833: exact bisimulation of this model had 180 blocks on one system, 136 on another."""
    chain = reachable_chain(Plant(), embedded)
    sizes, order = [], list(range(chain.size))
    for seed in (0, 1):
        random.Random(seed).shuffle(order)
        place = {i: k for k, i in enumerate(order)}
        moves = [(place[i], place[j], x) for i, row in enumerate(chain.rows) for j, x in row.items()]
        same = FiniteChain.from_transitions(chain.size, moves)
        down = [chain.labels[i].sensors < 2 or chain.labels[i].actuators < 1 for i in order]
        lumped = coarsest_lumping(same, down)
        sizes.append(lumped.coarse.size)
        back = [lumped.block[place[i]] for i in range(chain.size)]
        blocks = {frozenset(i for i in range(chain.size) if back[i] == b) for b in set(back)}
        sizes.append(hash(frozenset(blocks)))
    assert sizes[:2] == sizes[2:] and 1 < sizes[0] < chain.size


def tandem(capacity: int):
    """M/Cox/1 into M/M/1 with blocking: jobs in the first queue, its phase, jobs in the second (PRISM tandem)."""

    def moves(x):
        first, phase, second = x
        if first < capacity:
            yield (first + 1, phase, second), 4 * capacity
        if first > 0 and phase == 1:
            yield (first, 2, second), "1/5"
        if first > 0 and second < capacity:
            yield (first - 1, 1, second + 1), "9/5" if phase == 1 else 2
        if second > 0:
            yield (first, phase, second - 1), 4

    return reachable_chain((0, 1, 0), moves)


def test_tandem_queue():
    """The probability that the first queue is full; the ten digits published agree with ours in six."""
    chain = tandem(5)
    assert chain.size == 66
    law, exact = stationary(chain, digits=15, method="direct"), extremal_laws(chain)[0]
    full = law.mean(lambda i: int(chain.labels[i][0] == 5))
    assert full.contains(exact.mean(lambda i: int(chain.labels[i][0] == 5)).lower) and full.has_digits(13)
    published = rational(CASES["storm-tandem5"]["LRA"])
    assert 0 < abs(full.lower - published) < fmpq(1, 10**6)
    assert full.digits(10) == "0.9100372656"
