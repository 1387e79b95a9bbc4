"""Computes the sizes in a graph from the sizes of its placeholders."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy
import torch
from torch import fx
from torch.fx.proxy import GraphAppendingTracer
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from .any_size import determined_symbols, symbolic_sizes


def derive_sizes(graph: fx.Graph) -> dict[sympy.Symbol, fx.Node]:
    """Replaces the sizes that are read from computed tensors by arithmetic on the sizes of
    placeholders. Otherwise, a part that makes such a tensor would depend on a result of the part.
    Sizes that depend on data are still read. Returns the node of each symbol."""
    first = next(node for node in graph.nodes if node.op != "placeholder")
    with graph.inserting_before(first):
        symbols = _read_symbols(graph)
        tracer = GraphAppendingTracer(graph)
        proxies = {symbol: fx.Proxy(node, tracer) for symbol, node in symbols.items()}
        known: dict[Any, fx.Node] = dict(symbols)  # by expression
        for node in filter(_reads_computed, list(graph.nodes)):
            expression = node.meta["val"].node.expr
            if expression not in known:
                if not expression.free_symbols or not expression.free_symbols <= symbols.keys():
                    continue
                before = first.prev
                known[expression] = sympy_interp(PythonReferenceAnalysis, proxies, expression).node
                _set_values(before, first)
            node.replace_all_uses_with(known[expression])
            graph.erase_node(node)
    return symbols


def _read_symbols(graph: fx.Graph) -> dict[sympy.Symbol, fx.Node]:
    """Returns a node for each symbol that is a placeholder or one of its sizes. AOTAutograd passes
    None for a placeholder that the graph does not use."""
    placeholders = graph.find_nodes(op="placeholder")
    sizes = [(size, placeholders[i], dimension) for size, i, dimension in symbolic_sizes(placeholders)
             if size.node.expr.is_symbol]
    nodes = {size.node.expr: node for size, node, dimension in sizes
             if dimension is None and node.users}
    for size, node, dimension in sizes:
        if dimension is not None and size.node.expr not in nodes:
            read = graph.call_function(torch.ops.aten.sym_size.int, (node, dimension))
            read.meta["val"] = size
            nodes[size.node.expr] = read
    return nodes


def _reads_computed(node: fx.Node) -> bool:
    """Tests if a node is a size of a tensor that the graph computes."""
    return isinstance(node.meta.get("val"), torch.SymInt) and any(
        operand.op != "placeholder" and isinstance(operand.meta.get("val"), torch.Tensor)
        for operand in node.all_input_nodes)


def _set_values(before: fx.Node, end: fx.Node) -> None:
    """Sets the values of new nodes, those between two nodes."""
    node = before.next
    while node is not end:
        values = fx.map_arg(node.args, lambda operand: operand.meta["val"])
        node.meta["val"] = node.target(*values, **node.kwargs)
        node = node.next


def pass_symbols(module: fx.GraphModule, parts: list[str], symbols: dict[sympy.Symbol, fx.Node]) -> None:
    """Passes to each part the symbols that its arguments contain, but do not determine: a tensor may
    have only the size s // 2. Removes the nodes of unused symbols."""
    nodes = {node.name: node for node in module.graph.nodes}  # fusing copied them
    symbols = {symbol: nodes[node.name] for symbol, node in symbols.items()}
    for call in module.graph.find_nodes(op="call_module"):
        if call.target not in parts:
            continue
        part = module.get_submodule(call.target)
        placeholders = part.graph.find_nodes(op="placeholder")
        contained = dict.fromkeys(symbol for node in placeholders for symbol in _contained(node))
        determined = determined_symbols(placeholders)
        missing = [symbol for symbol in contained if symbol in symbols and symbol not in determined]
        for symbol in missing:
            with part.graph.inserting_after(part.graph.find_nodes(op="placeholder")[-1]):
                placeholder = part.graph.placeholder(str(symbol))
            placeholder.meta["val"] = symbols[symbol].meta["val"]
            call.args = (*call.args, symbols[symbol])
        if missing:
            part.recompile()
    for node in symbols.values():
        if node.op != "placeholder" and not node.users:
            module.graph.erase_node(node)


def _contained(node: fx.Node) -> Iterator[sympy.Symbol]:
    """Yields the symbols in the number that a node makes, or in the sizes of a tensor."""
    meta = node.meta.get("val")
    for size in meta.shape if isinstance(meta, torch.Tensor) else (meta,):
        if isinstance(size, (torch.SymInt, torch.SymFloat)):
            yield from sorted(size.node.expr.free_symbols, key=str)
