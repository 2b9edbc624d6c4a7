"""Reads specifications of sweeps and refuses what is wrong, unknown or would be ignored, with key and line."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from exactchains.number import nearest_double, parse
from exactchains.truth import InputError
from proofs_check.arithmetic import names_in
from proofs_check.catalogue import find
from proofs_check.catalogue.model import Model, Parameter
from proofs_check.sweeps.axis import values
from proofs_check.sweeps.spec import Axis, Comparison, Limits, Spec
from proofs_check.tables.spec_reader import SpecReader

MAX_POINTS = 10_000_000
KEYS = {"model", "quantities", "index", "digits", "parameters", "grid", "zip", "linked", "limits", "boundary",
        "certificates"}  # fmt: skip
BOUNDARY_KEYS = {"over", "to", "against", "quantity", "parameters", "value"}
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
_SIZE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)\s*(|KB|MB|GB)")


class Reader(SpecReader):
    """Reads one specification of a sweep."""

    def spec(self, data: Mapping[str, Any]) -> Spec:
        self._known(data, KEYS, "")
        models = self._names(data.get("model"), "model")
        targets = [self._try("model", partial(find, name)) for name in models]
        quantities = self._names(data.get("quantities"), "quantities")
        indices = self._indices(data.get("index"), targets, quantities)
        axes = self._axes(data)
        spec = Spec(
            self.name,
            models,
            quantities,
            axes,
            self._words(data.get("parameters", {}), "parameters"),
            self._linked(data, axes),
            indices,
            self._digits(data.get("digits", 15)),
            self._limits(data.get("limits", {})),
            self._boundary(data.get("boundary"), axes),
            self._flag(data.get("certificates", False), "certificates"),
        )
        self._once(spec, targets)
        if spec.size > MAX_POINTS:
            raise self.error("grid", f"{spec.size} points; at most {MAX_POINTS} are computed in one sweep")
        if spec.boundary and (len(models) > 1 or len(quantities) > 1 or len(indices) > 1):
            raise self.error("boundary", "a boundary follows one quantity of one model at one index")
        try:
            next(spec.points())
        except InputError as error:
            raise self.error(*str(error).split(": ", 1)) from None
        return spec

    # Pieces

    def _names(self, x: Any, key: str) -> tuple[str, ...]:
        listed = [x] if isinstance(x, str) else x
        if not isinstance(listed, list) or not listed or not all(isinstance(name, str) for name in listed):
            raise self.error(key, "a name or a list of names is needed")
        if len(set(listed)) != len(listed):
            raise self.error(key, "a name stands there twice")
        return tuple(listed)

    def _indices(self, x: Any, models: list[Model], quantities: tuple[str, ...]) -> tuple[int, ...]:
        found = [self._try("quantities", partial(model.quantity, name)) for model in models for name in quantities]
        if not any(q.indexed for q in found):
            if x is not None:
                raise self.error("index", f"{found[0].name} takes no index; leave it out")
            return ()
        named = next(q.name for q in found if q.indexed)
        words = self._values(x, "index") if x is not None else None
        if not words or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in words):
            raise self.error("index", f"{named} takes an index: give one, a list, or a range such as '0..7'")
        return tuple(map(int, words))

    def _axes(self, data: Mapping[str, Any]) -> tuple[Axis, ...]:
        grid, zipped = data.get("grid", {}), data.get("zip", [])
        if not isinstance(grid, Mapping):
            raise self.error("grid", "write [grid] and below it lines such as lam = '1/10..9/10 step 1/10'")
        if not isinstance(zipped, list) or not all(isinstance(block, Mapping) and block for block in zipped):
            raise self.error("zip", "write [[zip]] and below it lists of one length, such as d = [2, 3]")
        axes: list[Axis] = [{name: self._values(x, f"grid.{name}")} for name, x in grid.items()]
        for i, block in enumerate(zipped):
            axis = {name: self._values(x, f"zip[{i}].{name}") for name, x in block.items()}
            lengths = {name: len(listed) for name, listed in axis.items()}
            if len(set(lengths.values())) > 1:
                raise self.error(f"zip[{i}].{next(iter(axis))}", f"lists of one length are needed, here are {lengths}")
            axes.append(axis)
        return tuple(axes)

    def _values(self, x: Any, key: str) -> tuple[str, ...]:
        """Return the values of a list, a range or a single word."""
        if isinstance(x, list):
            if not x:
                raise self.error(key, "the list is empty")
            listed = tuple(self._word(item, key) for item in x)
        else:
            word = self._word(x, key)
            listed = self._try(key, partial(values, word)) or (word,)
        return listed

    def _words(self, data: Any, key: str) -> dict[str, str]:
        if not isinstance(data, Mapping):
            raise self.error(key, "a table of names and values is needed")
        return {name: self._word(x, f"{key}.{name}") for name, x in data.items()}

    def _word(self, x: Any, key: str) -> str:
        if isinstance(x, bool) or not isinstance(x, str | int):
            raise self.error(key, 'a number or text is needed, such as 3, 0.7 or "7/10"')
        return str(x).strip()

    def _linked(self, data: Mapping[str, Any], axes: tuple[Axis, ...]) -> dict[str, str]:
        """Return the formulas, in an order in which each needs only those before it."""
        left, found = self._words(data.get("linked", {}), "linked"), {}
        known = {*left, *data.get("parameters", {}), *(name for axis in axes for name in axis)}
        needs = {name: self._try(f"linked.{name}", partial(names_in, text, known)) for name, text in left.items()}
        for name, mentioned in needs.items():
            if foreign := sorted(mentioned - known):
                listed = ", ".join(sorted(known - {name}))
                raise self.error(
                    f"linked.{name}", f"{foreign[0]!r} in a formula is no parameter here; names are {listed}"
                )
        while left:
            ready = [name for name in left if not needs[name] & set(left)]
            if not ready:
                raise self.error(f"linked.{min(left)}", f"{', '.join(sorted(left))} need each other")
            found |= {name: left.pop(name) for name in ready}
        return found

    def _flag(self, x: Any, key: str) -> bool:
        if not isinstance(x, bool):
            raise self.error(key, "true or false is needed")
        return x

    def _limits(self, data: Any) -> Limits:
        if not isinstance(data, Mapping):
            raise self.error("limits", 'write [limits] and below it seconds = 60 or memory = "2 GB"')
        self._known(data, {"seconds", "memory"}, "limits.")
        seconds = memory = None
        if "seconds" in data:
            x = self._try("limits.seconds", partial(parse, self._word(data["seconds"], "limits.seconds"), "seconds"))
            if not 0 < x <= 10**7:
                raise self.error("limits.seconds", "a number > 0 is needed")
            seconds = nearest_double(x)
        if "memory" in data:
            match = _SIZE.fullmatch(self._word(data["memory"], "limits.memory"))
            memory = int(float(match[1]) * UNITS[match[2]]) if match else 0
            if memory < 10**7:
                raise self.error("limits.memory", 'at least "10 MB" are needed; write for instance "2 GB"')
        return Limits(seconds, memory)

    def _boundary(self, data: Any, axes: tuple[Axis, ...]) -> Comparison | None:
        if data is None:
            return None
        if not isinstance(data, Mapping):
            raise self.error("boundary", "write [boundary] and below it over, to, and against or value")
        self._known(data, BOUNDARY_KEYS, "boundary.")
        words = {k: self._word(data[k], f"boundary.{k}") for k in BOUNDARY_KEYS - {"parameters"} if k in data}
        own = next((axis for axis in axes if list(axis) == [words.get("over")]), None)
        if own is None or len(own[words["over"]]) < 2:
            raise self.error("boundary.over", "an axis of [grid] with at least two values is needed")
        if "to" not in words or self._try("boundary.to", partial(parse, words["to"], "to")) <= 0:
            raise self.error("boundary.to", "the width to halve down to is needed, a number > 0 such as 1/1000")
        if ("against" in words) == ("value" in words):
            raise self.error("boundary", "either against = a model, or value = a number, is needed")
        if "value" in words:
            self._try("boundary.value", partial(parse, words["value"], "value"))
            if "quantity" in words or "parameters" in data:
                raise self.error("boundary.value", "a value has neither quantity nor parameters")
            return Comparison(**words)
        model = self._try("boundary.against", partial(find, words["against"]))
        chosen = self._words(data.get("parameters", {}), "boundary.parameters")
        for name in chosen:
            self._try(f"boundary.parameters.{name}", partial(model.parameter, name))
        if "quantity" in words:
            self._try("boundary.quantity", partial(model.quantity, words["quantity"]))
        return Comparison(**words, parameters=chosen)

    def _once(self, spec: Spec, models: list[Model]) -> None:
        """Refuse parameters that no model has, that are given twice, that are missing, and words that are no values."""
        places = {f"parameters.{name}": name for name in spec.parameters}
        places |= {f"linked.{name}": name for name in spec.linked}
        words: dict[str, tuple[str, ...]] = {name: (word,) for name, word in spec.parameters.items()}
        for axis in spec.axes:
            for name in axis:
                at = next((f"zip[{i}].{name}" for i, a in enumerate(self._zips(spec)) if a is axis), f"grid.{name}")
                places[at] = name
            words |= axis
        seen: dict[tuple[str, str], str] = {}
        for key, name in places.items():
            takers = [m for m in models if any(name in (p.name, p.symbol) for p in m.parameters)]
            if not takers:
                self._try(key, partial(models[0].parameter, name))
            for model in takers:
                p = model.parameter(name)
                for word in words.get(name, ()):
                    self._try(key, partial(_spelled, p, word))
                one = (model.name, p.name)
                if one in seen:
                    raise self.error(key, f"{one[1]} is given twice, here and as {seen[one]}; give it once")
                seen[one] = key
        for model in models:
            for p in model.parameters:
                if p.required and p.default is None and (model.name, p.name) not in seen:
                    raise self.error("parameters", f"{model.name} needs {p.name} ({p.meaning}): {p.allowed}")

    def _zips(self, spec: Spec) -> list[Axis]:
        return [axis for axis in spec.axes if len(axis) > 1]


def _spelled(p: Parameter, word: str) -> None:
    """Refuse a word that is no number, or no choice; numbers that a model does not allow are answers of the sweep."""
    if p.kind in ("rational", "integer"):
        parse(word, p.name)
    elif p.kind == "choice":
        p.read(word)
