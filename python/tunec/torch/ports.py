"""Maps placeholders and outputs of an FX graph to inputs and outputs of the imported graph."""
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import fx

from .builder import Value
from .errors import Rejected, UnsupportedNode, source_line_of
from .imported_graph import Fixed, ImportedGraph, Port

if TYPE_CHECKING:
    from .imported_graph import Order
    from .importer import Importer


def arguments_of(importer: Importer, module: fx.GraphModule,
                 weights: Mapping[str, Any]) -> tuple[list[Any], list[Port]]:
    """Returns the values of a graph's placeholders in order, and the Ports of its inputs."""
    arguments, inputs = [], []
    for node in module.graph.find_nodes(op="placeholder"):
        value, port = _argument(importer, node, weights.get(node.name))
        arguments.append(value)
        if port is not None:
            inputs.append(port)
    return arguments, inputs


def _argument(importer: Importer, node: fx.Node, weight: Any) -> tuple[Any, Port | None]:
    meta = node.meta.get("val")
    if weight is not None:
        key, tensor = weight if isinstance(weight, tuple) else (node.name, weight)
        if tensor.numel() <= 16 and not isinstance(tensor, torch.nn.Parameter):
            importer.graph.hint = node.name
            return importer.graph.constant(tensor), None
        return importer.graph.weight(key, tensor.detach().contiguous(), node.name), None
    try:
        if not isinstance(meta, torch.Tensor):  # a number, whose value FX has
            return (importer.size(meta) if meta is not None else None), None
        order = memory_order(meta)
        value = importer.placeholder(meta, node.name, order)
    except Rejected as rejected:
        importer.unsupported.append(
            UnsupportedNode(node.name, "placeholder", str(rejected), source_line_of(node)))
        return importer.graph.input(node.name, "f32", ()), None
    return value, Port(node.name, value.element, value.shape, node.name, order)


def memory_order(tensor: torch.Tensor) -> Order:
    """Returns the dimensions of a dense tensor in memory order, the slowest first. Returns None for
    row-major and for non-dense tensors. Symbolic strides count as row-major."""
    if tensor.is_contiguous() or not all(isinstance(s, int) for s in tensor.stride()):
        return None
    order = tuple(sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d)))
    return order if tensor.permute(order).is_contiguous() else None


def add_output(graph: ImportedGraph, named: list[tuple[str, Value]], importer: Importer, node: fx.Node,
               value: Any, target: str | None, order: Order) -> None:
    """Adds an output of the FX graph to the ImportedGraph, and its name and value to `named`.

    `target`: the placeholder that the output replaces after a run, or None. `order`: the output's
    dimensions in memory order; None: row-major.
    """
    if not isinstance(value, Value):
        graph.results.append(Fixed(value))
        return
    name = _free_name(node.name, {n for n, _ in named})
    importer.graph.hint = name
    graph.results.append(len(named))
    graph.outputs.append(Port(name, value.element, value.shape, node.name, order))
    root = _view_root(node)
    if root is not None:
        graph.aliases[name] = root.name
    if target is not None:
        graph.mutations[name] = target
    value = value if order is None else value.transpose(order)
    # An output must be computed, even if it equals an input.
    is_computed = value.op not in ("input", "weight", "constant")
    named.append((name, value if is_computed else value.unary("identity")))


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _view_root(node: fx.Node) -> fx.Node | None:
    """Returns the placeholder that a node is or is a view of; None for other nodes."""
    while node.op == "call_function":
        schema = getattr(node.target, "_schema", None)
        if schema is None or not schema.arguments or not node.args:
            return None
        alias = schema.arguments[0].alias_info
        if alias is None or alias.is_write or not isinstance(node.args[0], fx.Node):
            return None
        node = node.args[0]
    return node if node.op == "placeholder" else None
