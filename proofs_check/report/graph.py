"""Which claims rest on which, as a drawing: SVG with links, bases on the left."""

from collections.abc import Sequence
from html import escape

from proofs_check.verify import Verification

WIDTH, HEIGHT, GAP = 8.4, 34, 70  # of a character, of a row, between columns


def graph(results: Sequence[Verification]) -> str:
    """Return an SVG element with the claims of ``results`` that rest on each other; "" where none does.

    A claim stands one column to the right of the deepest claim that it rests on.
    """
    by_id = {v.claim.id: v for v in results}
    edges = [(used, v.claim.id) for v in results for used in v.claim.uses if used in by_id]
    if not edges:
        return ""
    columns = _columns(edges)
    places = _places(columns, edges)
    height = HEIGHT * max(row + 1 for _, row in places.values()) + 8
    widths = [WIDTH * max(map(len, column)) + 18 for column in columns]
    lefts = [4 + sum(widths[:i]) + GAP * i for i in range(len(widths))]
    lines = [_edge(a, b, places, lefts, widths) for a, b in edges]
    nodes = [_node(by_id[name], lefts[i], row, widths[i]) for name, (i, row) in places.items()]
    total = lefts[-1] + widths[-1] + 4
    says = f"{len(places)} claims, {len(edges)} arrows from a claim to one that rests on it"
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{says}"><svg xmlns="http://www.w3.org/2000/svg"'
        f' width="{total:.0f}" height="{height}" viewBox="0 0 {total:.0f} {height}">'
        f"{''.join(lines)}{''.join(nodes)}</svg></div>"
    )


def _columns(edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Return the claims by the length of the longest chain of claims below each."""
    depth = {name: 0 for edge in edges for name in edge}
    for _ in depth:
        for used, user in edges:
            depth[user] = max(depth[user], depth[used] + 1)
    return [sorted(n for n, d in depth.items() if d == i) for i in range(max(depth.values()) + 1)]


def _places(columns: Sequence[Sequence[str]], edges: Sequence[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return column and row of every claim: families below each other, a base beside the first that rests on it."""
    users: dict[str, list[str]] = {}
    for used, user in edges:
        users.setdefault(used, []).append(user)
    column = {name: i for i, names in enumerate(columns) for name in names}
    places: dict[str, tuple[int, int]] = {}
    free = [0] * len(columns)

    def put(name: str, row: int) -> None:
        if name in places:
            return
        row = max(row, free[column[name]])
        places[name] = (column[name], row)
        free[column[name]] = row + 1
        for i, user in enumerate(sorted(users.get(name, ()))):
            put(user, row + i)

    for name in columns[0]:
        put(name, max(free))
    return places


def _edge(a: str, b: str, places: dict[str, tuple[int, int]], lefts: Sequence[float], widths: Sequence[float]) -> str:
    (i, row), (j, target) = places[a], places[b]
    x, y = lefts[i] + widths[i], HEIGHT * row + 19
    u, v = lefts[j], HEIGHT * target + 19
    bend = (u - x) / 2
    return (
        f'<path class="edge" d="M{x:.0f} {y}C{x + bend:.0f} {y} {u - bend:.0f} {v} {u - 6:.0f} {v}"/>'
        f'<path class="tip" d="M{u - 7:.0f} {v - 4}L{u:.0f} {v}L{u - 7:.0f} {v + 4}z"/>'
    )


def _node(v: Verification, left: float, row: int, width: float) -> str:
    name = escape(v.claim.id)
    kind = "bad" if not v.as_expected else "good" if v.settled else "open"
    top = HEIGHT * row + 6
    return (
        f'<a href="#{name}"><title>{name}: {v.status.value}</title>'
        f'<rect class="{kind}" x="{left:.0f}" y="{top}" width="{width:.0f}" height="26" rx="4"/>'
        f'<text x="{left + 9:.0f}" y="{top + 17}">{name}</text></a>'
    )
