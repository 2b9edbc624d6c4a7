"""Age laws on a Markov source: the modified geometric of the threshold scheme, the law by reference of last-decoded."""

from functools import cached_property
from typing import Any

from aoi_tools.closed_forms import ModifiedGeometric
from aoi_tools.models.codes import Codeword
from aoi_tools.models.law import SlotLaw, working
from aoi_tools.models.markov import LastDecoded, Markov
from aoi_tools.models.schemes import mixture
from aoi_tools.models.sources import Source
from aoi_tools.models.windows import Everything, Listed, Range
from aoi_tools.solvers.visits import Visits, law_of
from exactchains.chain import FiniteChain
from exactchains.domain import Domain
from exactchains.explore import classes
from exactchains.solvers.gth import gth
from exactchains.truth import DoesNotExist, Truth, Undecided

NO_LAW = "no age law exists: no update ever becomes usable, the age grows without bound; give p < 1"


def markov_law(scheme: Markov, domain: Domain) -> ModifiedGeometric:
    r"""Return the age law of the threshold scheme: a modified geometric law, whatever the source.

    After a failure the source moves by P and every update is an actual one, so levels j >= 1 have rate matrix p P.
    With s = pi_0 1: P(J = j) = (1-s) (1-p) p^(j-1).  The law of the state at a success is proportional to
    nu (I - D P_k)^{-1}, D = p - d, and is nu itself where small changes are equally likely in every state; it gives
    the chance that the update after a success is lost.  For D >= 0 the inverse is found by visits without
    subtraction, since 1 - D P_k 1 = (1-p) + d + D (P - P_k) 1.
    """
    with domain.working():
        source, actual = scheme.source, scheme.actual.over(domain)
        small, large = source.split(scheme.window)
        if (alpha := scheme.common_share) is not None:
            return ModifiedGeometric(mixture(scheme.differential, scheme.actual, alpha, domain), actual, domain)
        differential = scheme.differential.over(domain)
        inside, outside = ([_total(row, domain) for row in part] for part in (small, large))
        state = _success_states(scheme, small, outside, domain)
        total = sum(state, domain.convert(0))
        fates = [
            sum((x * (i * d + o * p) for x, i, o in zip(state, inside, outside, strict=True)), domain.convert(0))
            / total
            for d, p in ((differential.failure, actual.failure), (differential.success, actual.success))
        ]
        return ModifiedGeometric(Codeword(*fates), actual, domain)


def _success_states(scheme: Markov, small: Any, outside: list[Any], domain: Domain) -> list[Any]:
    """A multiple of pi_0: nu (I - D P_k)^{-1}."""
    actual, differential = scheme.actual.over(domain), scheme.differential.over(domain)
    gap, law = actual.failure - differential.failure, source_law(scheme.source, domain)
    if domain.less(gap, domain.convert(0)) is not Truth.TRUE:
        rows = [{j: gap * domain.convert(x) for j, x in row.items()} for row in small]
        rest = actual.success + differential.failure
        return Visits(rows, [rest + gap * x for x in outside], domain).row(law)
    size, one, zero = len(small), domain.convert(1), domain.convert(0)
    transposed = [
        [(one if i == j else zero) - gap * domain.convert(small[i].get(j, 0)) for i in range(size)] for j in range(size)
    ]
    try:
        return domain.solve(transposed, law)
    except ZeroDivisionError:  # not singular: P_k is not P, so its spectral radius is below 1
        raise Undecided("the law at successes was not certified; raise the precision") from None


def source_law(source: Source, domain: Domain) -> list[Any]:
    """Return the stationary law of an irreducible source; uniform where all columns sum to 1."""
    with domain.working():
        columns = [source.domain.convert(0)] * source.size
        for row in source.rows:
            for j, x in row.items():
                columns[j] = columns[j] + x
        if all(x == 1 for x in columns):
            return [domain.convert(1) / source.size] * source.size
        return law_of([{j: domain.convert(x) for j, x in row.items()} for row in source.rows], domain)


class ReferenceLaw(SlotLaw):
    r"""The age law of last-decoded differencing, by reference l (the state decoded last).

    While l is kept, U_l = P diag(f_l) drives the source state; a success at state v makes v the reference and the
    source state.  With e_l the start and N_l = (I - U_l)^{-1}, the gap has P(Z > j | l) = e_l U_l^j 1, the
    references form a chain G(l, v) = [N_l P diag(1 - f_l)]_{l v} with law y, and

    .. math::
        P(J = j) = \frac{1}{m} \sum_l y_l \, e_l U_l^j 1, \qquad m = \sum_l y_l \, e_l N_l 1.

    So E C(J+r-1, r) = sum y_l e_l U_l N_l^(r+1) 1 / m.  When source and window look
    the same from every state, one reference stands for all.
    """

    def __init__(self, scheme: LastDecoded, domain: Domain) -> None:
        self.domain, self._zero = domain, domain.convert(0)
        with domain.working():
            size = scheme.source.size
            alike = scheme.source.step_invariant and isinstance(scheme.window, Range | Listed | Everything)
            self._references = [0] if alike else list(range(size))
            self._parts = [scheme.reference(kept, domain) for kept in self._references]
            self._escape = [[_total(row, domain) for row in received] for _, received in self._parts]
            if any(all(domain.equal(x, self._zero) is Truth.TRUE for x in escape) for escape in self._escape):
                raise DoesNotExist(NO_LAW)
            self._visits = [Visits(p[0], e, domain) for p, e in zip(self._parts, self._escape, strict=True)]
            units = [[domain.convert(int(u == kept)) for u in range(size)] for kept in self._references]
            self._first = [v.row(unit) for v, unit in zip(self._visits, units, strict=True)]
            self._weights = [domain.convert(1)] if alike else self._reference_law()
            self._visited = [self._first]
            self._walks = [[unit] for unit in units]

    def _reference_law(self) -> list[Any]:
        rows = []
        for visited, (_, received) in zip(self._first, self._parts, strict=True):
            row = _step(visited, received, self._zero)
            total = sum(row, self._zero)
            rows.append({v: x / total for v, x in enumerate(row) if self.domain.equal(x, self._zero) is not Truth.TRUE})
        found = classes(FiniteChain(tuple(rows), "discrete", self.domain)).recurrent
        if len(found) > 1:
            raise DoesNotExist(f"no unique age law exists: the last decoded state has {len(found)} closed classes")
        place = {old: new for new, old in enumerate(found[0])}
        kept = tuple({place[v]: x for v, x in rows[i].items()} for i in found[0])
        law = gth(FiniteChain(kept, "discrete", self.domain))
        return [law[place[i]] if i in place else self._zero for i in self._references]

    @cached_property
    def _cycle(self) -> Any:
        """Mean gap over the references."""
        return self._mix([sum(row, self._zero) for row in self._first])

    @working
    def pmf(self, j: int) -> Any:
        return self._mix([sum(self._walk(i, j), self._zero) for i in range(len(self._parts))]) / self._cycle

    @working
    def ccdf(self, j: int) -> Any:
        rest = [v.row(self._walk(i, j + 1)) for i, v in enumerate(self._visits)]
        return self._mix([sum(row, self._zero) for row in rest]) / self._cycle

    @working
    def rising_moment(self, r: int) -> Any:
        while len(self._visited) <= r:
            self._visited.append([v.row(row) for v, row in zip(self._visits, self._visited[-1], strict=True)])
        return self._mix(self._moved(self._visited[r])) / self._cycle

    @working
    def gap_pmf(self, z: int) -> Any:
        chance = [
            sum((x * w for x, w in zip(self._walk(i, z - 1), escape, strict=True)), self._zero)
            for i, escape in enumerate(self._escape)
        ]
        return self._mix(chance)

    def _mix(self, values: list[Any]) -> Any:
        return sum((y * x for y, x in zip(self._weights, values, strict=True)), self._zero)

    def _moved(self, rows: list[list[Any]]) -> list[Any]:
        steps = (_step(row, lost, self._zero) for row, (lost, _) in zip(rows, self._parts, strict=True))
        return [sum(step, self._zero) for step in steps]

    def _walk(self, i: int, j: int) -> list[Any]:
        """e_l U_l^j."""
        while len(self._walks[i]) <= j:
            self._walks[i].append(_step(self._walks[i][-1], self._parts[i][0], self._zero))
        return self._walks[i][j]


def _step(row: list[Any], rows: Any, zero: Any) -> list[Any]:
    after = [zero] * len(row)
    for x, entries in zip(row, rows, strict=True):
        for j, y in entries.items():
            after[j] = after[j] + x * y
    return after


def _total(row: Any, domain: Domain) -> Any:
    return sum((domain.convert(x) for x in row.values()), domain.convert(0))
