"""Compiles modules and exported programs to functions with the same arguments and results."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from .._errors import InvalidArgument
from .archive import load_program
from .arrays import are_arrays, as_arrays, as_tensors
from .devices import own_copies
from .input_bounds import InputBounds
from .program import importable, mutations_of, weights_of
from .sized import SizedGraph, hinted_sizes, with_defaults

if TYPE_CHECKING:
    import os

    from torch.export import ExportedProgram

    from .._native import Executable
    from .imported_graph import Weights


def compile_program_file(path: str | os.PathLike[str], **options: Any) -> CompiledModule:
    """Compiles a .pt2 file. No other code writes its tensors, so they are not copied."""
    return _prepared(CompiledModule(load_program(path), options, weights_of))


def compile_module(model: torch.nn.Module | ExportedProgram, inputs: object,
                   **options: Any) -> CompiledModule:
    """Compiles a Module with example `inputs`, or an ExportedProgram, for tunec.compile. The result
    has copies of the weights: later changes of the module have no effect."""
    if isinstance(model, torch.nn.Module):
        if inputs is None:
            raise InvalidArgument("a torch.nn.Module needs example inputs: compile(module, (x, y))")
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        with torch.no_grad():
            model = torch.export.export(model, inputs)
    elif inputs is not None:
        raise InvalidArgument("an exported program has its example inputs")
    return _prepared(CompiledModule(model, options, lambda program: own_copies(weights_of(program))))


def _prepared(compiled: CompiledModule) -> CompiledModule:
    compiled.prepare()
    return compiled


class CompiledModule:
    """A compiled torch.export.ExportedProgram. Call it like the module, with the same arguments and
    results. NumPy or DLPack arrays may replace tensors; if no tensor is given, results are NumPy
    arrays. The object owns the buffers that the module changes; `buffers` has them by name.

    `take_weights` returns the weights of a program (see weights_of), in memory that no other code
    writes while this object lives.
    """

    def __init__(self, program: ExportedProgram, options: Mapping[str, Any],
                 take_weights: Callable[[ExportedProgram], Weights]) -> None:
        self._example = program.example_inputs
        self._bounds = InputBounds(program)
        program = importable(program, hinted_sizes(program.graph_module))
        self._signature = program.graph_signature
        self._in_spec, self._out_spec = program.call_spec.in_spec, program.call_spec.out_spec
        mutated = mutations_of(program)
        updates = {i: name for i, name in enumerate(mutated) if name is not None}
        self._graph = SizedGraph(program.graph_module, take_weights(program), mutated, updates,
                                 with_defaults(options))
        self.buffers: dict[str, torch.Tensor] = _changing_buffers(program, mutated)

    def prepare(self) -> None:
        """Compiles for the example inputs before the first call."""
        if self._example is not None:
            self._graph.compiled(self._arguments(*self._flat(*self._example)))

    @property
    def executable(self) -> Executable:
        """The tunec.Executable for the example inputs, with its report and profile."""
        if self._example is None:
            raise InvalidArgument("the program has no example inputs that say which sizes are meant")
        return self._graph.compiled(self._arguments(*self._flat(*self._example)))[1]

    def __call__(self, *args: object, **kwargs: object) -> Any:
        given, names = self._flat(args, kwargs)
        flat = as_tensors(given)
        self._bounds.check(flat)
        arguments = self._arguments(flat, names)
        with torch.no_grad():
            results = self._graph(*arguments)
            named = dict(zip(self._graph.placeholders, arguments))
            returned = []
            for spec, result in zip(self._signature.output_specs, results):
                if spec.kind == OutputKind.BUFFER_MUTATION:
                    self.buffers[spec.target] = result
                elif spec.kind == OutputKind.USER_INPUT_MUTATION:
                    if named[spec.target] is not result:
                        named[spec.target].copy_(result)
                else:
                    returned.append(result)
        if are_arrays(given):
            returned = as_arrays(returned)
        return pytree.tree_unflatten(returned, self._out_spec)

    def _flat(self, args: Sequence[object], kwargs: Mapping[str, object]) -> tuple[list[Any], list[str]]:
        """Returns the leaves of the arguments and the names of their placeholders."""
        order = self._in_spec.child(1).context if self._in_spec.num_children == 2 else []
        named = {name: kwargs[name] for name in order or kwargs if name in kwargs}
        leaves, spec = pytree.tree_flatten((tuple(args), named))
        if spec != self._in_spec:
            raise InvalidArgument(self._other_arguments(args, kwargs, spec))
        inputs = [s for s in self._signature.input_specs if s.kind == InputKind.USER_INPUT]
        return leaves, [s.arg.name for s in inputs]

    def _other_arguments(self, args: Sequence[object], kwargs: Mapping[str, object],
                         spec: pytree.TreeSpec) -> str:
        """Returns the message for arguments that differ from those of the export."""
        count, order = self._in_spec.child(0).num_children, self._in_spec.child(1).context
        if len(args) == count and set(kwargs) == set(order):
            return f"the module was exported for {self._in_spec}, called with {spec}"
        named = f" and {', '.join(order)} by name" if order else ""
        return (f"the module was exported for {count} argument(s) by position{named}, called with "
                f"{len(args)}" + (f" and {', '.join(kwargs)} by name" if kwargs else ""))

    def _arguments(self, leaves: Sequence[object], names: Sequence[str]) -> list[Any]:
        """Returns the values of all placeholders; None for weights, which are compiled in."""
        given = dict(zip(names, leaves))
        for spec in self._signature.input_specs:
            if spec.target in self.buffers:
                given[spec.arg.name] = self.buffers[spec.target]
        return [given.get(name) for name in self._graph.placeholders]


def _changing_buffers(program: ExportedProgram, mutated: Sequence[str | None]) -> dict[str, torch.Tensor]:
    """Returns copies of the buffers that a run changes, by their names in the module."""
    changed = set(mutated) - {None}
    return {spec.target: program.state_dict.get(spec.target, program.constants.get(spec.target)).clone()
            for spec in program.graph_signature.input_specs
            if spec.kind == InputKind.BUFFER and spec.arg.name in changed}
