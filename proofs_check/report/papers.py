"""The papers whose claims are verified, by the short names that claims and tables use."""

PAPERS = {
    "P1": "Power of d choices with noisy load comparisons",
    "P2": "Power of two choices with load comparison errors",
    "P3": "Speed-aware join-the-idle-queue",
    "P4": "Speed-aware join-the-shortest-queue",
    "P5": "Differential encoding for timely updates over an erasure channel",
    "P6": "Differential updates of a Markov source with an encoding threshold",
    "P7": "Generalised differential updates of correlated sources",
    "P8": "Differential encoding with and without receiver feedback",
}
OURS = "ours"  # the short name of claims that no paper makes
