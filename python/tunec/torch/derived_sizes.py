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


def derive_sizes(graph: fx.Graph) -> dict[sympy.Symbol, fx.Node]:
    """Replaces the sizes that are read from computed tensors by arithmetic on the sizes of
    placeholders. A part that makes such a tensor would otherwise depend on its own result. Returns
    the node of each symbol. Sizes that depend on data are still read."""
    first = next(node for node in graph.nodes if node.op != "placeholder")
    known: dict[Any, fx.Node] = {}  # by expression
    with graph.inserting_before(first):
        for symbol, node in _symbols_of(graph):
            known.setdefault(symbol, node)
        symbols = dict(known)
        tracer = GraphAppendingTracer(graph)
        for node in list(graph.nodes):
            if not _reads_computed(node):
                continue
            expression = node.meta["val"].node.expr
            if expression not in known and expression.free_symbols and expression.free_symbols <= set(symbols):
                before = first.prev
                proxies = {symbol: fx.Proxy(base, tracer) for symbol, base in symbols.items()}
                known[expression] = sympy_interp(PythonReferenceAnalysis, proxies, expression).node
                _set_values(before, first)
            if expression in known:
                node.replace_all_uses_with(known[expression])
                graph.erase_node(node)
    return symbols


def _symbols_of(graph: fx.Graph) -> Iterator[tuple[sympy.Symbol, fx.Node]]:
    """Yields the symbols that are a placeholder or one of its sizes, with a node for each.
    AOTAutograd passes None for a placeholder that the graph does not use."""
    placeholders = graph.find_nodes(op="placeholder")
    for node in placeholders:
        meta = node.meta.get("val")
        if node.users and isinstance(meta, torch.SymInt) and meta.node.expr.is_symbol:
            yield meta.node.expr, node
    for node in placeholders:
        meta = node.meta.get("val")
        for dimension, size in enumerate(meta.shape if isinstance(meta, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt) and size.node.expr.is_symbol:
                read = graph.call_function(torch.ops.aten.sym_size.int, (node, dimension))
                read.meta["val"] = size
                yield size.node.expr, read


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
        expressions = [expression for node in placeholders for expression in _expressions_of(node)]
        determined = {expression for expression in expressions if expression.is_symbol}
        contained = dict.fromkeys(s for e in expressions for s in sorted(e.free_symbols, key=str))
        missing = [s for s in contained if s in symbols and s not in determined]
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


def _expressions_of(node: fx.Node) -> Iterator[Any]:
    meta = node.meta.get("val")
    for size in meta.shape if isinstance(meta, torch.Tensor) else (meta,):
        if isinstance(size, (torch.SymInt, torch.SymFloat)):
            yield size.node.expr
