"""Exported programs as graphs."""
import operator

import torch
from torch.export.graph_signature import InputKind, OutputKind

from .decompose import export_decompositions
from .errors import UnsupportedOperator
from .handler_table import handler_of
from .importer import ImportedGraph, import_graph

_WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
_MUTATIONS = (OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION)


def import_program(program, *, sizes=None, name="model") -> ImportedGraph:
    """Imports a torch.export.ExportedProgram. Parameters and buffers are weights; buffers that the
    program changes are inputs, and what they become are outputs (`mutations`)."""
    if _is_importable(program):
        try:
            return _import(program, sizes, name)
        except UnsupportedOperator:
            pass  # a handler refused what decompositions may write in another way
    return _import(program.run_decompositions(export_decompositions()), sizes, name)


def _is_importable(program):
    """Whether each operator has a handler as it is and none writes into its operands. Decomposing
    traces the program again, which takes many times as long as importing it."""
    return all(_has_handler(node.target) for node in program.graph_module.graph.nodes
               if node.op == "call_function")


def _has_handler(target):
    if target is operator.getitem:
        return True
    return (isinstance(target, torch._ops.OpOverload) and not target._schema.is_mutable and
            handler_of(target) is not None)


def _import(program, sizes, name):
    signature = program.graph_signature
    mutated = [_replaced(signature, spec) for spec in signature.output_specs]
    changed = set(mutated) - {None}
    weights = {}
    for spec in signature.input_specs:
        if spec.kind in _WEIGHTS and spec.arg.name not in changed:
            weights[spec.arg.name] = (spec.target, _tensor(program, spec))
    return import_graph(program.graph_module, weights=weights, sizes=sizes, mutated=mutated,
                        name=name)


def _replaced(signature, spec):
    """The placeholder that an output replaces, or None."""
    if spec.kind not in _MUTATIONS:
        return None
    if spec.kind == OutputKind.USER_INPUT_MUTATION:
        return spec.target
    return next(s.arg.name for s in signature.input_specs if s.target == spec.target)


def _tensor(program, spec):
    if spec.kind == InputKind.PARAMETER:
        return program.state_dict[spec.target]
    if spec.target in program.state_dict:
        return program.state_dict[spec.target]
    return program.constants[spec.target]
