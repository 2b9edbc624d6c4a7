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

# heavy traffic: E, F and G, B are powers with exponent d, A and m of the growth factor; S, T, L, V are sums over levels
_SAMPLES = {"m": ["d-1", ">"], "E": ["E", ">="], "F": ["F", ">="], "o": ["1-F", ">="], "Q": ["d*y-1+F", ">="]}
_FALL = "(d*u-(d-1)*G-1+B)"
_CRITICAL = {"d": ["d-3", ">="], "G": ["G", ">="], "B": ["B", ">="]}
_TWO_TERMS = {"N": ["B-1+d*u", ">="], "V": ["1-d*u+d*(d-1)/2*u^2-B", ">="]}
_LEFT = {"x": ["x", ">="], "o": ["X-x", ">="]}
_SLOPE = Idea({}, {**_SAMPLES, "p": ["1-E", ">="], "w": ["(d-1)*(d*y-1+F)-E", ">="]})
_HARMONIC = Idea({}, {**_SAMPLES, "W": ["1-y-F*(1+(d-1)*y)", ">="]})
_AT_MOST = Idea(
    {},
    {
        "Y": ["y", ">="],
        "A": ["A-1", ">="],
        "g": ["delta*(A-1)-(a-1)*y", ">="],
        "s": ["(a-1)^2*(S-k)+delta*a*(A-1)", ">="],
    },
)
_AT_LEAST = Idea(
    {}, {"Y": ["y", ">="], "m": ["m", ">"], "q": ["1+(d-1)*y", ">"], "v": ["y*((d-1)*m+a-1)-(a-1)*m", ">="]}
)
_DIFFERENCES = Idea(
    {},
    {
        "D": ["d", ">="],
        "P": ["P", ">="],
        "A": ["A", ">="],
        "B": ["B", ">="],
        "m": ["M-p*P", ">="],
        "n": ["M-N-p*P", ">="],
        "a": ["M-A-d*h*P", ">="],
        "w": ["M-N-A+B-d*h*P", ">="],
    },
)
_HEAVY = {
    ("noisy.independent.heavy-traffic", 1): _SLOPE,
    ("noisy.independent.heavy-traffic", 2): _HARMONIC,
    ("noisy.independent.heavy-traffic", 3): Idea(
        {},
        {
            "d": ["d-2", ">="],
            "G": ["G", ">="],
            "B": ["B", ">="],
            "s": ["1-G-B", ">="],
            "t": ["u^2-G", ">="],
            "R": [_FALL, ">="],
        },
    ),
    ("noisy.independent.heavy-traffic", 5): _AT_MOST,
    ("noisy.independent.heavy-traffic", 6): _AT_LEAST,
    ("noisy.independent.heavy-traffic", 7): Idea({}, {**_LEFT, "w": ["X - x - 2*e*n*S", ">="]}),
    ("noisy.independent.critical-constant", 1): _SLOPE,
    ("noisy.independent.critical-constant", 2): _HARMONIC,
    ("noisy.independent.critical-constant", 3): Idea(
        {}, {**_CRITICAL, "s": ["1-G-B-2*u*(1-u)", ">="], "R": [_FALL + "-(2*d-3)*u^2*(1-u)", ">="]}
    ),
    ("noisy.independent.critical-constant", 4): Idea(
        {}, {**_CRITICAL, **_TWO_TERMS, "s": ["1-G-B", ">="], "R": [_FALL, ">="]}
    ),
    ("noisy.independent.critical-constant", 5): Idea(
        {},
        {
            **_CRITICAL,
            **_TWO_TERMS,
            "g": ["u^3-G", ">="],
            "o": ["1-B", ">="],
            "W": ["B-1+d*u-d*(d-1)/2*u^2+d*(d-1)*(d-2)/6*u^3", ">="],
        },
    ),
    ("noisy.independent.critical-constant", 6): Idea(
        {}, {**_CRITICAL, "o": ["1-B", ">="], "W": ["1-u-B*(1+(d-1)*u)", ">="]}
    ),
    ("noisy.independent.critical-constant", 8): _AT_MOST,
    ("noisy.independent.critical-constant", 9): _AT_LEAST,
    ("noisy.independent.critical-constant", 10): Idea({}, {**_LEFT, "w": ["X-x-n*T", ">="]}),
    ("noisy.independent.critical-constant", 12): Idea({}, {"x": ["x", ">="], "w": ["L-b*S+2*b^2*T", ">="]}),
    ("noisy.independent.critical-constant", 13): Idea(
        {}, {"x": ["x", ">="], "h": ["1-2*b*x", ">="], "p": ["1-b*x", ">"], "w": ["b*S+2*b^2*T-L", ">="]}
    ),
    ("noisy.dependent.heavy-traffic", 16): _DIFFERENCES,
    ("noisy.dependent.heavy-traffic", 17): Idea(
        {}, {"F": ["F", ">="], "Z": ["Z", ">="], "z": ["D^2-Z", ">="], "e": ["(1-y)^2-F", ">="]}
    ),
    ("noisy.dependent.heavy-traffic", 18): _HARMONIC,
    ("noisy.dependent.heavy-traffic", 19): _AT_MOST,
    ("noisy.dependent.heavy-traffic", 20): Idea(
        {}, {"W": ["W", ">="], "late": ["y-delta", ">="], "w": ["W*Y-y", ">="]}
    ),
    ("noisy.dependent.heavy-traffic", 22): Idea(
        {}, {"Y": ["y", ">="], "m": ["m", ">"], "q": ["1+C*y", ">"], "v": ["y*(C*m+1)-m", ">="]}
    ),
    ("noisy.dependent.heavy-traffic", 23): Idea({}, {**_LEFT, "V": ["V", ">="], "w": ["X+V-x-n*S", ">="]}),
    ("noisy.dependent.tail-base", 16): _DIFFERENCES,
    ("noisy.dependent.tail-base", 20): Idea({}, {"P": ["P-1", ">="], "o": ["Q-P", ">="]}),
}

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
    ("noisy.dependent.no-recursion", 16): _DIFFERENCES,
    ("noisy.dependent.no-recursion", 17): Idea({}, {"d": ["d", ">"], "P": ["P", ">"]}),
    ("noisy.dependent.cooperative", 16): Idea(
        {}, {"C": ["C", ">="], "E": ["E", ">="], "a": ["A-B", ">="], "b": ["B-E", ">="], "c": ["D-C", ">="]}
    ),
    ("noisy.dependent.sandwich", 16): _DIFFERENCES,
    ("noisy.dependent.sandwich", 17): Idea({"S": "first - U - other + V"}),
    ("noisy.dependent.sandwich", 18): Idea({}, {"W": ["y-x", ">="]}),
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
    **_HEAVY,
}
