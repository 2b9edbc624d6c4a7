"""The creative part of the inductions of the catalogue: equalities and invariants by claim and part."""

from proofs_check.search.induction import Idea

# the moments of a periodic scheme: what the states of moment_system are, in closed form or in terms of few others
_BASIC = {
    "dead": "1 - alive",
    "m1": "p",
    "A1": "p*L",
}
_CLOSED = {
    "dead": "1 - alive",
    "alive": "(1-p)*B",
    "F": "L - (1-p)*g",
    "m0": "L - (1-p)*g",
    "m1": "p",
    "s0": "2*(L*(L+1)/2 - (1-p)*H) - (L - (1-p)*g)",
    "s1": "2*p*L",
    "s2": "p",
    "A0": "L*(L+1)/2 - (1-p)*H",
    "A1": "p*L",
    "S0": "L*(L+1)*(L+2)/3 - 2*(1-p)*(Y+H) - (L*(L+1)/2 - (1-p)*H)",
    "S1": "p*L*(L+1)",
    "S2": "p*L",
}
_LENGTH = {"L": ["L", ">"]}
_DIVIDED = {**_LENGTH, "M": ["1-m1", ">"]}

_BELOW = {"X": ["x", ">="], "Y": ["y", ">="], "w": ["y-x", ">="]}

IDEAS = {
    ("age.schemes.law", 1): Idea({"alive": "0", "dead": "theta*kappa"}),
    ("age.schemes.law", 2): Idea(_CLOSED, {**_DIVIDED, "N": ["1-s2", ">"]}),
    ("age.feedback.late-is-better", 1): Idea({}, {}),
    ("age.feedback.late-is-better", 2): Idea({}, {"w": ["power", ">"]}),
    ("age.periodic.never-improves", 0): Idea(
        _BASIC,
        {
            **_DIVIDED,
            "n": ["alive", ">="],
            "v": ["(1-p)*(1-d) - alive", ">="],
            "s": ["m0 - p - (1-(1-p)*(1-d))", ">="],
            "w": ["A0 - p*L - (1-(1-p)*(1-d))", ">="],
        },
    ),
    ("age.periodic.increases-with-q", 0): Idea(
        _BASIC,
        {
            **_DIVIDED,
            "n": ["alive", ">="],
            "v": ["(1-p) - alive", ">="],
            "w": ["L*(m0 - p + 1 - (1-d)*alive) - (A0 - p*L) - (1-(1-p)*(1-d))", ">="],
        },
    ),
    ("age.periodic.never-improves", 1): Idea({"dead": "0", "m0": "0", "A0": "0", "m1": "0", "A1": "0"}, _DIVIDED),
    ("age.periodic.increases-with-q", 1): Idea({"dead": "0", "m0": "0", "A0": "0", "m1": "0", "A1": "0"}, _DIVIDED),
    ("age.order.actual-periodic", 0): Idea(
        {"dead": "1 - alive"},
        {
            "n": ["alive", ">="],
            "v": ["(1-p) - alive", ">="],
            "y": ["y", ">="],
            "r": ["x_alive", ">="],
            "u": ["(1-p)*y - x_alive", ">="],
            "t": ["x_alive + x_dead - y", ">="],
        },
    ),
    ("age.code.more-bits-fail-more", 0): Idea({}, {"w": ["w", ">"], "e": ["e", ">="], "k": ["k", ">="]}),
    ("age.code.more-bits-fail-more", 1): Idea({}, {"w": ["w", ">"], "e": ["e", ">="], "k": ["k", ">="]}),
    ("age.code.more-bits-fail-more", 2): Idea({}, {"Y": ["y", ">="], "g": ["c-f", ">="], "F": ["f", ">="]}),
    ("age.code.more-bits-fail-more", 4): Idea({}, {"C": ["c", ">"], "Y": ["y", ">"], "l": ["1-y", ">="]}),
    ("age.markov.metrics", 0): Idea(
        {
            "sum0": "(1-s)*(1 - p*t)",
            "sum1": "(1-s)*(1 - p*t*(j*(1-p) + 1))",
            "sum2": "(1-s)*(1+p - p*t*(j^2*(1-p)^2 + 2*j*(1-p) + 1+p))",
        },
        {},
    ),
    ("age.markov.same-best-threshold", 1): Idea(
        {}, {"L": ["left", ">="], "n": ["now - low", ">="], "w": ["sum + left*now - low", ">="]}
    ),
    ("age.code.longer-fails-less", 0): Idea(
        {}, {"C": ["c", ">="], "P": ["E", ">"], "w": ["(n+1-e)*E - (n+1)", ">="], "m": ["n-e", ">="]}
    ),
    ("noisy.independent.benefit", 0): Idea({}, _BELOW),
    ("noisy.independent.benefit", 1): Idea({}, _BELOW),
    ("noisy.two.worse-beyond-half", 0): Idea(
        {}, {"X": ["x", ">"], "Y": ["y", ">"], "w": ["x-y", ">"], "s": ["1-x", ">"]}
    ),
    ("noisy.scheme.generic-drift", 2): Idea({}, {"S": ["s", ">="], "Y": ["y", ">="], "w": ["y-s", ">="]}),
    ("pools.domination", 1): Idea({}, {"S": ["s", ">="], "Y": ["y", ">="], "w": ["y-s", ">="]}),
    ("pools.tail", 0): Idea({"scaled": "lam - lam*y*power"}, {"P": ["power", ">="]}),
    ("noisy.independent.monotone-in-eps", 1): Idea({}, {"W": ["y-x", ">="]}),
    ("noisy.dependent.sandwich", 10): Idea({}, {"W": ["y-x", ">="]}),
    ("noisy.dependent.light-traffic", 0): Idea({}, {"w": ["B - 1 + j*lam", ">="], "j": ["j", ">="]}),
    ("noisy.dependent.exponential-tail", 2): Idea(
        {}, {"G": ["g", ">="], "Z": ["Z", ">="], "l": ["1-Z", ">="], "w": ["g*(z-1) - 1 + Z", ">="]}
    ),
    ("noisy.dependent.tail", 0): Idea(
        {},
        {
            "F": ["F", ">="],
            "C": ["C", ">="],
            "E": ["E", ">="],
            "v": ["b*F - C", ">="],
            "e": ["x*F - E", ">="],
            "w": ["j*x*F - b*F + C", ">="],
        },
    ),
    ("noisy.independent.stability.without-replacement", 1): Idea({"B": "(n-d)*A"}),
    ("noisy.independent.stability.with-replacement", 0): Idea(
        {},
        {
            "P": ["X", ">="],
            "Q": ["A", ">="],
            "x": ["1-X", ">="],
            "a": ["A - B", ">="],
            "B": ["B", ">="],
            "p": ["(1-t)*X + t - V", ">="],
            "sums": ["(1-t)*S + t - T", ">="],
        },
    ),
    ("noisy.independent.stability.with-replacement", 1): Idea({"U": "1 - (1-u)*A"}),
    ("noisy.independent.where-worse", 0): Idea({}, {"X": ["x", ">="], "order": ["y-x", ">="]}),
    ("pools.fluid.fast-chain", 0): Idea({"p": "(1-r)*x", "s": "1 - r*x"}),
}
