"""Long jumps and level-dependent starts, merged into blocks that move at most one block up or down."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exactchains.chain import NotAGenerator, Time
from exactchains.domain import Domain
from exactchains.truth import InputError

if TYPE_CHECKING:
    from exactchains.level_chain import LevelChain

Sparse = dict[tuple[int, int], Any]


def merged(
    jumps: Mapping[int, Any], boundary: Mapping[tuple[int, int], Any], time: Time, domain: Domain
) -> "LevelChain":
    """Return the chain of :meth:`LevelChain.jumping` with K levels a block: K is the longest jump."""
    from exactchains.level_chain import LevelChain, converted

    blocks = {k: converted(block, f"jumps[{k}]", domain) for k, block in jumps.items()}
    special = {pair: converted(block, f"boundary[{pair}]", domain) for pair, block in boundary.items()}
    if 0 not in blocks or min(blocks) >= 0 or max(blocks) <= 0:
        raise InputError(f"jumps = {sorted(blocks)}: give at least one jump up, 0, and one jump down")
    phases, start = len(blocks[0]), _boundary_levels(special)
    highest = max((m for n, m in special if n < start), default=start)
    stride = max(*map(abs, blocks), highest - start + 1)
    widths = [len(special[n, n]) for n in range(start)] + [phases] * (3 * stride)
    offset = [sum(widths[:n]) for n in range(start + 3 * stride + 1)]
    rows = {n: _row(n, start, blocks, special) for n in range(start + 2 * stride)}
    for n, row in rows.items():
        _check_shapes(n, row, widths)
    base = offset[start]

    def part(first: int, last: int, low: int, high: int) -> Sparse:
        """Entries of levels first..last-1 into levels low..high-1, numbered from 0."""
        return {
            (offset[n] - offset[first] + i, offset[m] - offset[low] + j): x
            for n in range(first, last)
            for m, block in rows[n].items()
            if low <= m < high
            for i, line in enumerate(block)
            for j, x in enumerate(line)
        }

    one, two, three = start + stride, start + 2 * stride, start + 3 * stride
    if any(m < start for n in range(one, two) for m in rows[n]):
        raise InputError(f"boundary: levels from {one} on cannot have blocks of their own; add boundary levels")
    size = phases * stride
    up, local, down = (_dense(part(one, two, *span), size, domain) for span in ((two, three), (one, two), (start, one)))
    for mine, theirs in ((part(start, one, start, one), local), (part(start, one, one, two), up)):
        if _dense(mine, size, domain) != theirs:
            raise InputError(f"boundary: levels {start} .. {one - 1} differ upwards; add them as boundary levels")
    return LevelChain(
        up,
        local,
        down,
        time=time,
        domain=domain,
        boundary_local=_rows(part(0, start, 0, start), base),
        boundary_up=_rows(part(0, start, start, one), base),
        boundary_down=_rows(part(start, one, 0, start), size),
        widths=tuple(widths[:start]),
        stride=stride,
    )


def _boundary_levels(special: Mapping[tuple[int, int], Any]) -> int:
    own = sorted(n for n, m in special if n == m)
    if not own or own != list(range(len(own))):
        raise InputError(f"boundary: blocks (n, n) are given for n = {own}; give them for 0, 1, .. without a gap")
    return len(own)


def _row(n: int, start: int, blocks: Mapping[int, Any], special: Mapping[tuple[int, int], Any]) -> dict[int, Any]:
    """Return the blocks out of level n, by target level."""
    row = {m: block for (source, m), block in special.items() if source == n}
    if n < start:
        return row
    usual = {n + k: block for k, block in blocks.items() if n + k not in row}
    if n in range(start) or any(m < 0 for m in usual):
        raise InputError(f"level {n} would jump below level 0; give boundary[{n}, m] or more boundary levels")
    return usual | row


def _check_shapes(n: int, row: Mapping[int, Any], widths: list[int]) -> None:
    for m, block in row.items():
        if len(block) != widths[n] or any(len(line) != widths[m] for line in block):
            raise NotAGenerator(f"block from level {n} to level {m}: expected {widths[n]} x {widths[m]} entries")


def _dense(entries: Sparse, size: int, domain: Domain) -> Any:
    zero = domain.convert(0)
    return tuple(tuple(entries.get((i, j), zero) for j in range(size)) for i in range(size))


def _rows(entries: Sparse, height: int) -> Any:
    rows: list[dict[int, Any]] = [{} for _ in range(height)]
    for (i, j), x in entries.items():
        if x != 0:
            rows[i][j] = x
    return tuple(rows)
