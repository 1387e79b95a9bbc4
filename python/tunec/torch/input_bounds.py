"""Checks arguments against the sizes and numbers for which an exported program is valid."""
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind

from .._errors import InvalidArgument
from .symbols import solve

# While torch traces, it treats sizes 0 and 1 as constants. Exported ranges therefore begin at 2, but
# such programs also accept smaller sizes.
_SPECIAL = 2


class InputBounds:
    """A checker of arguments against the sizes and numbers of a torch.export.ExportedProgram: fixed
    sizes, ranges, relations between sizes, and constants."""

    def __init__(self, program: ExportedProgram) -> None:
        inputs = [s for s in program.graph_signature.input_specs if s.kind == InputKind.USER_INPUT]
        metas = {node.name: node.meta.get("val")
                 for node in program.graph.find_nodes(op="placeholder")}
        self._names = [spec.arg.name for spec in inputs]
        self._constants = {spec.arg.name: spec.arg.value for spec in inputs
                           if isinstance(spec.arg, ConstantArgument)}
        self._metas = {name: metas[name] for name in self._names if name in metas}
        self._ranges = dict(program.range_constraints)
        self._guards, self._guarded = _guards_of(program)
        self._known: set[object] = set()  # shapes and numbers that passed before

    def check(self, leaves: Sequence[Any]) -> None:
        """Raises InvalidArgument unless the program is valid for these arguments. The message names
        the input, the axis, its size and the expected size, or the constant."""
        key: tuple[object, ...] | None = tuple(tuple(x.shape) if isinstance(x, torch.Tensor) else x for x in leaves)
        try:
            if key in self._known:
                return
        except TypeError:  # an unhashable argument
            key = None
        given = dict(zip(self._names, leaves))
        self._check_constants(given)
        self._check_sizes([*self._sizes_of(given)])
        self._check_guards(given)
        if key is not None:
            self._known.add(key)

    def _check_constants(self, given: Mapping[str, Any]) -> None:
        for name, expected in self._constants.items():
            found = given[name]
            same = found == expected or (found != found and expected != expected)
            if type(found) is not type(expected) or not same:
                raise InvalidArgument(f"input {name!r} is {found!r}, expected {expected!r}, which the "
                                      "program was exported with")

    def _sizes_of(self, given: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """Yields (description, size, number) for each size; `size` is an int or a torch.SymInt."""
        for name, meta in self._metas.items():
            value = given[name]
            if isinstance(meta, torch.SymInt):
                yield f"input {name!r}", meta, value
            if not isinstance(meta, torch.Tensor) or not isinstance(value, torch.Tensor):
                continue
            if value.dim() != meta.dim():
                raise InvalidArgument(f"input {name!r} has {value.dim()} axes, expected {meta.dim()}")
            for axis, (size, number) in enumerate(zip(meta.shape, value.shape)):
                yield f"axis {axis} of input {name!r}", size, number

    def _check_sizes(self, sizes: Sequence[tuple[str, Any, Any]]) -> None:
        for what, size, number in sizes:
            if not isinstance(size, torch.SymInt) and number != size:
                raise InvalidArgument(f"{what} is {number}, expected {size}")
        open_ones = [entry for entry in sizes if isinstance(entry[1], torch.SymInt)]
        known = solve([(size.node.expr, number) for _, size, number in open_ones])
        for what, size, number in open_ones:
            self._check_range(what, size.node.expr, number)
            expected = size.node.expr.subs(
                {s: known[str(s)] for s in size.node.expr.free_symbols if str(s) in known})
            if expected != number:
                raise InvalidArgument(f"{what} is {number}, expected {_spelt(expected, size)}")

    def _check_range(self, what: str, expression: Any, number: Any) -> None:
        bounds = self._ranges.get(expression)
        if bounds is None:
            return
        is_small = bounds.lower > _SPECIAL and number < bounds.lower
        if is_small or number > bounds.upper:
            raise InvalidArgument(f"{what} is {number}, expected {bounds.lower} to {bounds.upper}, "
                                  "the range that the program was exported for")

    def _check_guards(self, given: Mapping[str, Any]) -> None:
        if self._guards is None:
            return
        try:
            self._guards(*(given[name] for name in self._guarded))
        except AssertionError as failed:
            raise InvalidArgument(f"the program was not exported for these sizes: {failed}") from None


def _spelt(expected: Any, size: torch.SymInt) -> str:
    """Returns the text of an expected size. The text of a formula ends with its number, if other
    sizes determine the number."""
    expression = size.node.expr
    if expression.is_symbol:
        return f"{expected} as in another input"
    return f"{expression}" + (f", {expected}" if expected.is_number else "")


def _guards_of(program: ExportedProgram) -> tuple[Any, tuple[str, ...]]:
    """Returns torch's function that checks guards, and the names of its inputs. Returns None and no
    names if the program has no guards."""
    if not getattr(program, "_guards_code", None):
        return None, ()
    module = program.module()
    call = next(iter(module.graph.find_nodes(op="call_module", target="_guards_fn")), None)
    if call is None:
        return None, ()
    return module._guards_fn, tuple(node.name for node in call.args)
