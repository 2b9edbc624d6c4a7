"""Recurrent classes, periods and distance levels of large chains (scipy ``csgraph``)."""

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components

from exactchains.solvers.arrays import Arrays


@dataclass(frozen=True, eq=False)
class Structure:
    """Recurrent classes (sorted arrays of states, in order of their first state) and the transient states."""

    recurrent: tuple[Any, ...]
    transient: Any


def structure(flow: Arrays) -> Structure:
    """Return the communicating structure of a chain."""
    count, component = connected_components(flow.graph(), directed=True, connection="strong")
    closed = np.ones(count, bool)
    leaving = component[flow.sources()] != component[flow.targets]
    closed[component[flow.sources()[leaving]]] = False
    order = np.argsort(component, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(component, minlength=count))[:-1])
    recurrent = sorted((g for c, g in enumerate(groups) if closed[c]), key=lambda g: int(g[0]))
    return Structure(tuple(recurrent), np.flatnonzero(~closed[component]))


def distances(graph: Any, start: int) -> Any:
    """Return the number of edges from ``start`` to every vertex, directions ignored; the graph is connected."""
    parent = breadth_first_order(graph, start, directed=False, return_predecessors=True)[1]
    above = np.where(parent < 0, start, parent)
    depth = (above != np.arange(len(above))).astype(np.int64)
    while True:  # pointer doubling: depth counts the edges up to the vertex ``above``
        farther = depth[above]
        if not farther.any():
            return depth
        depth += farther
        above = above[above]


def period(flow: Arrays, states: Any, loops: bool) -> int:
    """Return the period of a recurrent class; ``loops``: some state of it stays with positive probability."""
    if loops:
        return 1
    inside = flow.within(states)
    order, parent = breadth_first_order(inside.graph(), 0, directed=True, return_predecessors=True)
    depth = np.zeros(inside.size, np.int64)
    for i in order[1:]:
        depth[i] = depth[parent[i]] + 1
    slack = np.unique(depth[inside.sources()] + 1 - depth[inside.targets])
    common = 0
    for gap in slack:
        common = gcd(common, int(gap))
    return common
