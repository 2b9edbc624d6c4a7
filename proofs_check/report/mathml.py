"""The LaTeX subset of claims and tables as MathML, so that a page typesets mathematics without a network.

Letters, digits, operators, ``^ _ '``, groups, ``\\frac \\sqrt \\binom \\mathrm \\text \\mathbb \\operatorname``,
``\\left \\right``, spaces, and the symbols below.  Anything else raises :class:`UnknownLatex`: nothing is guessed.
"""

import html
import re
from collections.abc import Iterator

OPERATORS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "iff": "⟺",
    "implies": "⟹", "to": "→", "sim": "∼", "approx": "≈", "in": "∈", "notin": "∉", "times": "×", "cdot": "⋅", "pm": "±",
    "mid": "∣", "dots": "…", "ldots": "…", "cdots": "⋯", "forall": "∀", "exists": "∃", "subset": "⊂", "subseteq": "⊆",
    "cup": "∪", "cap": "∩", "wedge": "∧", "vee": "∨", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
    "equiv": "≡", "mapsto": "↦", "colon": ":", "langle": "⟨", "rangle": "⟩", "ll": "≪", "gg": "≫", "prec": "≺",
    "preceq": "⪯", "setminus": "∖", "circ": "∘", "uparrow": "↑", "downarrow": "↓", "infty": "∞", "partial": "∂",
    "{": "{", "}": "}", "|": "‖",
}  # fmt: skip
LARGE = {"sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂"}
NAMED = (
    "max",
    "min",
    "sup",
    "inf",
    "lim",
    "arg",
    "log",
    "ln",
    "exp",
    "Pr",
    "det",
    "deg",
    "mod",
    "gcd",
    "limsup",
    "liminf",
)
GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "varphi": "φ", "phi": "ϕ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ",
}  # fmt: skip
SPACES = {",": "0.17em", ":": "0.22em", ";": "0.28em", " ": "0.33em", "!": "-0.17em", "quad": "1em", "qquad": "2em"}
ACCENTS = {"bar": "¯", "overline": "¯", "hat": "^", "tilde": "~", "dot": "˙", "vec": "→"}
SIZED = {
    f"{size}{side}": height for size, height in (("big", "1.2em"), ("Big", "1.8em"), ("bigg", "2.4em")) for side in "lr"
}
SIZED |= {"big": "1.2em", "Big": "1.8em", "bigg": "2.4em"}
BLACKBOARD = {"E": "𝔼", "P": "ℙ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "R": "ℝ", "1": "𝟙"}
STRETCHY = "()[]|{}"
_TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|[0-9]+(?:\.[0-9]+)?|.", re.DOTALL)
MAX_DEPTH = 40


class UnknownLatex(ValueError):
    """The text leaves the subset that is typeset here."""


def mathml(latex: str) -> str:
    """Return ``<math>`` elements for a formula, one for each part between ``\\quad``, so that long lines can break.

    Raises
    ------
    UnknownLatex
        The formula leaves the subset.

    Examples
    --------
    >>> print(mathml(r"d \\le p"))
    <math displaystyle="true"><mi>d</mi><mo>≤</mo><mi>p</mi></math>
    """
    parts = [part for part in _split(latex) if part.strip()]
    return " ".join(f'<math displaystyle="true">{Formula(part).whole()}</math>' for part in parts)


def _split(latex: str) -> Iterator[str]:
    """Yield the parts between ``\\quad`` and ``\\qquad`` outside all groups."""
    part, depth = "", 0
    for token in _TOKEN.findall(latex):
        depth += (token in ("{", r"\left")) - (token in ("}", r"\right"))
        if depth == 0 and token in (r"\quad", r"\qquad"):
            yield part
            part = ""
        else:
            part += token
    yield part


class Formula:
    """Reads one formula from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens = _TOKEN.findall(latex)
        self.place = 0
        self.depth = 0

    def whole(self) -> str:
        found = self.row("")
        if self.place < len(self.tokens):
            raise UnknownLatex(f"{self.tokens[self.place]!r} closes nothing")
        return found

    def row(self, end: str) -> str:
        """Return everything up to ``end``, which is taken off; the end of the text for ""."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnknownLatex(f"groups nested deeper than {MAX_DEPTH}")
        parts = []
        while self.place < len(self.tokens) and self.tokens[self.place] not in ("}", r"\right"):
            if self.tokens[self.place].isspace():
                self.place += 1
            else:
                parts.append(self.scripted())
        if end and self.next() != end:
            raise UnknownLatex(f"{end!r} is missing")
        self.depth -= 1
        return "".join(parts)

    def next(self) -> str:
        if self.place >= len(self.tokens):
            raise UnknownLatex("the formula ends too early")
        self.place += 1
        return str(self.tokens[self.place - 1])

    def peek(self) -> str:
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def scripted(self) -> str:
        """Return one atom with its primes, subscript and superscript."""
        big = self.peek()[1:] in (*LARGE, "max", "min", "sup", "inf", "lim")
        base, low, high, primes = self.atom(), "", "", ""
        while self.peek() in ("^", "_", "'"):
            mark = self.next()
            if mark == "'":
                primes += "′"
            elif (low if mark == "_" else high) != "":
                raise UnknownLatex(f"two scripts {mark!r} in a row")
            elif mark == "_":
                low = self.argument()
            else:
                high = self.argument()
        if primes:
            high = f"<mrow><mo>{primes}</mo>{high}</mrow>" if high else f"<mo>{primes}</mo>"
        kind = "under over underover" if big else "sub sup subsup"
        sub, sup, both = kind.split()
        if low and high:
            return f"<m{both}>{base}{low}{high}</m{both}>"
        return f"<m{sub}>{base}{low}</m{sub}>" if low else f"<m{sup}>{base}{high}</m{sup}>" if high else base

    def argument(self) -> str:
        """Return what a script or a fraction takes: one group, one command, one letter or one digit."""
        token = self.peek()
        if len(token) > 1 and token[0].isdigit():
            self.tokens[self.place : self.place + 1] = [token[0], token[1:]]
        return self.atom()

    def atom(self) -> str:
        """Return the next symbol, group or command."""
        self.peek()
        token = self.next()
        if token == "{":
            return f"<mrow>{self.row('}')}</mrow>"
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "+-*/=<>()[]|,.;:!":
            fixed = ' stretchy="false"' if token in STRETCHY else ""
            return f"<mo{fixed}>{html.escape('−' if token == '-' else token)}</mo>"
        if token == "~":
            return '<mspace width="0.33em"/>'
        raise UnknownLatex(f"{token!r} is not typeset")

    def command(self, name: str) -> str:
        if name in OPERATORS:
            fixed = ' stretchy="false"' if name in "{}|" or "floor" in name or "ceil" in name else ""
            return f"<mo{fixed}>{html.escape(OPERATORS[name])}</mo>"
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in LARGE:
            return f"<mo>{LARGE[name]}</mo>"
        if name in NAMED:
            return f"<mi>{name}</mi>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ("frac", "tfrac", "dfrac"):
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if name == "binom":
            return (
                f'<mrow><mo>(</mo><mfrac linethickness="0">{self.argument()}{self.argument()}</mfrac><mo>)</mo></mrow>'
            )
        if name == "sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if name in ACCENTS:
            return f'<mover accent="true">{self.argument()}<mo>{ACCENTS[name]}</mo></mover>'
        if name == "left":
            return self.fence()
        if name in SIZED:
            return self.delimiter(SIZED[name])
        return self.word(name)

    def fence(self) -> str:
        left = self.delimiter()
        inside = self.row(r"\right")
        return f"<mrow>{left}{inside}{self.delimiter()}</mrow>"

    def delimiter(self, size: str = "") -> str:
        self.peek()
        token = self.next()
        shown = OPERATORS.get(token[1:], "") if token.startswith("\\") else token
        if shown == ".":
            return ""
        if len(shown) != 1 or shown not in "()[]|{}‖⌊⌋⌈⌉⟨⟩":
            raise UnknownLatex(f"{token!r} is no delimiter")
        fixed = f' minsize="{size}" maxsize="{size}"' if size else ""
        return f'<mo stretchy="true"{fixed}>{shown}</mo>'

    def word(self, name: str) -> str:
        """Return upright words: ``\\mathrm{..}``, ``\\text{..}``, ``\\mathbb{..}``."""
        if name not in ("mathrm", "text", "operatorname", "mathbb", "mathbf", "textstyle", "displaystyle"):
            raise UnknownLatex(f"\\{name} is not typeset")
        if name.endswith("style"):
            return ""
        if self.next() != "{":
            raise UnknownLatex(f"\\{name} needs a group")
        parts, depth = [], 1
        while depth:
            token = self.next()
            depth += (token == "{") - (token == "}")
            parts.append(token)
        words = [part for part in parts[:-1] if part not in ("{", "}", r"\text", r"\mathrm")]
        text = "".join(" " if part in ("\\ ", "~") else part for part in words)
        if "\\" in text:
            raise UnknownLatex(f"\\{name} holds more than letters: {text[:40]!r}")
        if name == "mathbb":
            if text not in BLACKBOARD:
                raise UnknownLatex(f"\\mathbb{{{text[:20]}}} is not typeset")
            return f"<mi>{BLACKBOARD[text]}</mi>"
        safe = html.escape(re.sub(r"\s+", " ", text)).replace(" ", "\u00a0")
        if name == "text":
            return f"<mtext>{safe}</mtext>"
        style = ' style="font-weight:bold"' if name == "mathbf" else ""
        return f'<mi mathvariant="normal"{style}>{safe}</mi>'
