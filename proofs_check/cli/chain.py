"""``exaq chain FILE``: laws, classes, absorption and level structure of a user's own chain."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from exactchains.chain import FiniteChain
from exactchains.initial import Start
from exactchains.truth import InputError
from proofs_check import chain_report
from proofs_check.chain_file import read_chain
from proofs_check.cli.words import assignments, digits_option, indices

LONG = 40  # exact fractions longer than this are shown by their digits
MANY = 12  # states of a class that are listed


@click.command("chain")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--quantity", default="law", show_default=True, help="law, classes, absorption; levels, R, G, decay, mean_level"
)
@click.option("--from", "start", help="state to start in, or a law such as 0:1/3,4:2/3; for absorption")
@click.option("--index", help="states or levels I or I..J; default: all states, four levels")
@click.option("--set", "values", multiple=True, metavar="NAME=VALUE", help="value of a parameter of the file")
@digits_option()
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.option("--certificate", type=click.Path(dir_okay=False, path_type=Path), help="write the law's certificate here")
def command(
    file: Path,
    quantity: str,
    start: str | None,
    index: str | None,
    values: tuple[str, ...],
    digits: int,
    as_json: bool,
    certificate: Path | None,
) -> None:
    """Analyse the chain in FILE (.json or MatrixMarket .mtx).

    Every recurrent class has its own law; a chain with several has no single one.  Digits are certain in every
    entry, however small.
    """
    chosen = None if index is None else indices(index)
    chain = read_chain(file, assignments(values))
    if certificate is not None:
        certificate.write_text(json.dumps(chain_report.certificate(chain, digits)), encoding="utf-8")
    begin = None if start is None else _start(start)
    answer = chain_report.report(chain, quantity, start=begin, index=chosen, digits=digits)
    if as_json:
        click.echo(json.dumps(answer, indent=1))
        return
    for line in _finite(answer, chain) if isinstance(chain, FiniteChain) else _levels(answer):
        click.echo(line)


def _start(text: str) -> Start:
    """Return the state ``7``, or the law ``0:1/3,4:2/3``."""
    law: dict[int, str] = {}
    for part in text.split(","):
        state, colon, chance = part.partition(":")
        if not (state.isascii() and state.isdecimal() and len(state) <= 9) or int(state) in law:
            raise InputError(f"--from {text[:40]!r}: give the number of a state, or a law such as 0:1/3,4:2/3")
        if not colon and text == part:
            return int(state)
        law[int(state)] = chance
    return law


def _finite(answer: dict[str, Any], chain: FiniteChain) -> Iterator[str]:
    if "absorption" in answer:
        begin = answer["from"]
        if isinstance(begin, dict):
            begin = ",".join(f"{i}:{p}" for i, p in begin.items())
        for data in answer["absorption"]:
            yield f"from {begin} to class {_states(data['states'])} = {_shown(data)}"
        return
    count, transient = len(answer["classes"]), answer["transient"]
    size = f"{chain.size} state{'s' if chain.size > 1 else ''}"
    yield f"{size}, {count} recurrent class{'es' if count > 1 else ''}, {len(transient)} transient"
    for data in answer["classes"]:
        turns = "" if data["period"] is None else f", period {data['period']}"
        yield f"class {_states(data['states'])}{turns}"
        for entry in data.get("law", []):
            yield f"law[{entry['state']}] = {_shown(entry)}"
    if transient:
        yield f"transient {_states(transient)}"


def _levels(answer: dict[str, Any]) -> Iterator[str]:
    yield answer["status"]
    for name in (n for n in chain_report.LEVELS if n in answer):
        value = answer[name]
        if isinstance(value, dict):
            yield f"{name} = {_shown(value)}"
            continue
        for i, row in zip(answer["index"] if name == "levels" else range(len(value)), value, strict=True):
            for j, entry in enumerate(row):
                yield f"{'law' if name == 'levels' else name}[{i},{j}] = {_shown(entry)}"


def _states(states: list[int]) -> str:
    shown = " ".join(map(str, states[:MANY]))
    return f"{{{shown}}}" if len(states) <= MANY else f"{{{shown} ..}} ({len(states)} states)"


def _shown(data: dict[str, Any]) -> str:
    exact, digits = data["exact"], data["digits"]
    if exact is None:
        return f"{digits}  (enclosed)"
    if len(exact) > LONG:
        return f"{digits}..  (exact)"
    return f"{exact} = {digits}..  (exact)" if "/" in exact else f"{exact}  (exact)"
