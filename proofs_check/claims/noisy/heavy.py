"""Heavy traffic and the base of the tail: claims whose written proofs are not yet certificates."""

from proofs_check.claim import Claim, Scope, Source
from proofs_check.claims.noisy.dependent import DEFINITIONS
from proofs_check.claims.noisy.dependent import MODEL as DEPENDENT
from proofs_check.claims.noisy.independent import MODEL as INDEPENDENT

RESPONSE = (*DEFINITIONS, "mean-response")
STEPS = "a kind of certificate that joins a growth phase near 1, a middle of boundedly many levels and a tail, with constants"

CLAIMS = (
    Claim(
        id="noisy.dependent.heavy-traffic",
        text="Errors at gaps up to g: the mean response is log(1/(1-lam))/log d + O(1) as lam tends to 1, for every d >= 2 and"
        " finite g, uniformly in eps.",
        latex=r"E T = \frac{\log\frac1{1-\lambda}}{\log d} + O_{d,g}(1)",
        source=Source(("P1", "P2"), "states"),
        scope=Scope.ALL,
        assumptions=DEPENDENT,
        argument="Below: the noiseless recursion. Near 1 the share 1 - x_k grows by a factor near d, as an error needs the whole"
        " sample within g of a level; in the middle x drops by a fixed amount every 2 g levels; then it halves each level.",
        definitions=RESPONSE,
        uses=("noisy.dependent.sandwich",),
        missing=STEPS,
    ),
    Claim(
        id="noisy.independent.heavy-traffic",
        text="Errors at every gap, eps < 1/d: the mean response is log(1/(1-lam))/log(d (1-eps)) + O(1) as lam tends to 1.",
        latex=r"E T = \frac{\log\frac1{1-\lambda}}{\log(d(1-\varepsilon))} + O(1)",
        source=Source(("P1",), "sharpens"),
        scope=Scope.ALL,
        assumptions=INDEPENDENT + "; limit of many servers",
        argument="1 - x_k grows by a factor near d (1-eps), the slope of h at 1; u - h(u) is bounded below in between; the tail has"
        " ratio d eps < 1.",
        definitions=RESPONSE,
        missing=STEPS,
    ),
    Claim(
        id="noisy.independent.critical-constant",
        text="Errors at every gap, eps = 1/d, d >= 3: the mean response is (1/log(d-1) + 2/(d-1)) log(1/(1-lam)) + O(1).",
        latex=r"E T = \Big(\frac1{\log(d-1)}+\frac2{d-1}\Big)\log\frac1{1-\lambda} + O(1)",
        source=Source((), "ours"),
        scope=Scope.ALL,
        assumptions=INDEPENDENT + "; limit of many servers",
        argument="As for eps < 1/d with slope d - 1 at 1; in the tail 1/x_k grows by (d-1)/2 + O(x_k) a level, divided by lam.",
        definitions=RESPONSE,
        missing=STEPS,
    ),
    Claim(
        id="noisy.dependent.tail-base",
        text="Errors at gaps up to g with eps > 0: (1/k) log(-log x_k) tends to log beta, beta^(g+1) = beta^g + d - 1.",
        latex=r"\tfrac1k\log(-\log x_k)\to\log\beta,\qquad \beta^{g+1}=\beta^g+d-1",
        source=Source((), "ours"),
        scope=Scope.ALL,
        assumptions=DEPENDENT + "; eps > 0",
        argument="With L_k = -log x_k: L_(k+1) = L_k + (d-1) L_(k-g) + O(1), from noisy.dependent.tail and the like bound from below.",
        definitions=DEFINITIONS,
        uses=("noisy.dependent.tail",),
        missing="the lower bound P_k >= eps d p_k p_(k-g)^(d-1) with p_k near x_k, and a kind for linear recurrences of logarithms",
    ),
)
