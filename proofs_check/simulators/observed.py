"""What a model says about the system that was observed, as far as reading data needs it."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Observed:
    """How data of a model are to be read.

    ``rate`` is the arrival rate, for Little's law; ``servers`` the number over which queue lengths are averaged;
    ``loses`` whether jobs may be lost or replaced; ``slots`` whether the data are slot ages, ``renews`` whether every
    age 0 starts the process afresh, and ``sampling`` how ages in channel uses follow from them.
    """

    rate: float | None = None
    servers: int = 1
    loses: bool = False
    slots: bool = False
    renews: bool = False
    sampling: Any = None
