"""Recurrent classes, periods and distance levels of large chains (scipy ``csgraph``)."""

from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from scipy.sparse.csgraph import breadth_first_order, connected_components, reverse_cuthill_mckee

from exactchains.solvers.arrays import Arrays


@dataclass(frozen=True, eq=False)
class Structure:
    """Recurrent classes (sorted arrays of states, in order of their first state) and the transient states."""

    recurrent: tuple[Any, ...]
    transient: Any


def structure(flow: Arrays) -> Structure:
    """Return the communicating structure of a chain."""
    count, component = connected_components(flow.graph(), directed=True, connection="strong")
    if count == 1:
        return Structure((np.arange(flow.size),), np.zeros(0, np.int64))
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


def narrow_order(flow: Arrays) -> tuple[Any, int]:
    """Return an order of the states with little fill, hubs first, and its bandwidth: most states have few neighbours.

    Eliminating states from the end of the order leaves rows of about ``bandwidth`` entries.
    """
    graph = flow.graph()
    joined = (graph + graph.T).tocsr()
    degree = np.diff(joined.indptr)
    hubs = np.flatnonzero(degree > max(64, 8 * int(np.median(degree))))
    rest = np.setdiff1d(np.arange(flow.size), hubs)
    if not len(rest):
        return hubs, flow.size
    inner = joined[rest][:, rest]
    turn = reverse_cuthill_mckee(inner.tocsr(), symmetric_mode=True)
    place = np.empty(len(rest), np.int64)
    place[turn] = np.arange(len(rest))
    edges = inner.tocoo()
    width = int(np.abs(place[edges.row] - place[edges.col]).max(initial=0))
    return np.r_[hubs, rest[turn]], width + len(hubs)
