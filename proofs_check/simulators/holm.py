"""Several quantities in one report: Holm's step-down over the verdicts, so that all of them hold at once."""

from collections.abc import Callable, Sequence

from proofs_check.simulators.verdict import Judgement, Verdict

Judged = Callable[[int, int], Judgement]  # from the numbers of hypotheses left: for "agrees", for "disagrees"


def step_down(judged: Sequence[Judged]) -> list[Judgement]:
    """Return the verdicts on quantities judged together.

    Two families of hypotheses: "differs by more than the margin", which every "agrees" rejects, and "differs by at most
    the margin", which every "disagrees" rejects.  Holm tests the most certain of m at level alpha / m, the next at
    alpha / (m - 1), and so on until one stands; rejecting all that fall at a level and going on with the number left
    ends at the same set.

    Guarantee
    ---------
    The chance of any false "agrees", and that of any false "disagrees", is at most that of one verdict on its own.

    Source
    ------
    S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).
    """
    left = {Verdict.AGREES: len(judged), Verdict.DISAGREES: len(judged)}
    found: list[Judgement | None] = [None] * len(judged)
    while True:
        tests = dict(left)
        for i, judge in enumerate(judged):
            before = found[i]
            if before is None or before.verdict is Verdict.UNDECIDED:
                found[i] = now = judge(tests[Verdict.AGREES], tests[Verdict.DISAGREES])
                if now.verdict in left:
                    left[now.verdict] -= 1
        if left == tests:
            return [judgement for judgement in found if judgement is not None]
