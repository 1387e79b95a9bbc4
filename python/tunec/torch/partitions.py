"""Splits a graph into parts that tunec compiles and a rest that torch runs."""
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import fx
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from .address_reads import nodes_with_unreliable_strides, reads_by_address
from .any_size import determined_symbols
from .derived_sizes import derive_sizes, pass_symbols
from .devices import device_of, is_on
from .errors import UnsupportedNode, first_line, source_line_of
from .importer import unsupported
from .sized import hinted_sizes

# Operators that move or convert elements but compute nothing. A part with only such operators is
# not worth a call.
_ONLY_VIEWS = ("view", "permute", "expand", "slice", "select", "squeeze", "unsqueeze", "alias", "t",
               "transpose", "detach", "_unsafe_view", "reshape", "clone", "_to_copy", "full")

# Views that are valid for torch's strides of an operand, but may be invalid for tunec's. The
# reshape that replaces a view copies if necessary.
BY_STRIDES = {torch.ops.aten.view.default: torch.ops.aten.reshape.default,
               torch.ops.aten._unsafe_view.default: torch.ops.aten.reshape.default}


@dataclass
class Partitions:
    """A graph whose call_module nodes are the parts that tunec compiles. `left` has the nodes that
    torch runs."""

    module: fx.GraphModule
    compiled: list[str] = field(default_factory=list)  # names of the submodules
    left: list[UnsupportedNode] = field(default_factory=list)


class _Supported(OperatorSupportBase):
    """The nodes that parts may contain. Excluded are nodes that cannot be imported, nodes on another
    device than most, and nodes that make numbers. `left` has the nodes that torch must run."""

    def __init__(self, module: fx.GraphModule) -> None:
        found = unsupported(module, sizes=hinted_sizes(module), beside_torch=True)
        found += _of_booleans(module, {node.node for node in found})
        found += _read_by_address(module, {node.node for node in found})
        found += _elsewhere(module, {node.node for node in found})
        self._names = {node.node for node in found}
        written = {node.name for node in module.graph.nodes if _writes_placeholder(node)}
        self.left = [node for node in found if node.node not in written]

    def exclude(self, nodes: Iterable[UnsupportedNode]) -> None:
        """Adds nodes that torch must run."""
        self.left += nodes
        self._names |= {node.node for node in nodes}

    def is_node_supported(self, submodules: Any, node: fx.Node) -> bool:
        if node.op not in ("call_function", "get_attr") or node.name in self._names:
            return False
        return _is_of_tensors(node.meta.get("val"))


def _left(node: fx.Node) -> UnsupportedNode:
    """Returns the record of a node with a number of unknown value as an operand. The value would have
    to be known when the part is compiled."""
    return UnsupportedNode(node.name, str(node.target), "a number that is made of sizes and is no whole "
                           "one", source_line_of(node))


def _of_booleans(module: fx.GraphModule, known: set[str]) -> list[UnsupportedNode]:
    """Returns the nodes with a boolean made of sizes as an operand."""
    return [_left(node) for node in module.graph.nodes
            if node.op == "call_function" and node.name not in known and
            _is_of_tensors(node.meta.get("val")) and
            any(isinstance(n.meta.get("val"), torch.SymBool) for n in node.all_input_nodes)]


def _of_unknown_floats(part: Iterable[fx.Node]) -> list[UnsupportedNode]:
    """Returns the nodes of a part with a float operand whose value does not follow from the sizes of
    the part's inputs. Floats are made of sizes, or are arguments of the model."""
    nodes = dict.fromkeys(part)
    known = determined_symbols(n for node in nodes for n in node.all_input_nodes if n not in nodes)

    def is_unknown(node: fx.Node) -> bool:
        meta = node.meta.get("val")
        return isinstance(meta, torch.SymFloat) and not meta.node.expr.free_symbols <= known

    return [_left(node) for node in nodes if any(map(is_unknown, node.all_input_nodes))]


def _elsewhere(module: fx.GraphModule, known: set[str]) -> list[UnsupportedNode]:
    """Returns the nodes outside the device of most nodes, except nodes in `known`."""
    device = device_of(module)
    return [UnsupportedNode(node.name, str(node.target), f"most of the graph is on {device}",
                            source_line_of(node))
            for node in module.graph.nodes
            if node.op == "call_function" and node.name not in known and not is_on(node, device)]


def _read_by_address(module: fx.GraphModule, known: set[str]) -> list[UnsupportedNode]:
    """Returns the nodes that torch must run because other nodes read the results by address
    (address_reads.py)."""
    sources = {source: None for node in module.graph.nodes if reads_by_address(node)
               for source in nodes_with_unreliable_strides(node.args[0])}
    return [UnsupportedNode(source.name, str(source.target), "its addresses are read",
                            source_line_of(source))
            for source in sources if source.name not in known]


def _writes_placeholder(node: fx.Node) -> bool:
    """Tests if a node copies into a placeholder. Such a copy is not reported as unsupported: the
    caller of the parts performs the copy, or a part writes the argument in place (updates.py)."""
    return (node.target is torch.ops.aten.copy_.default and isinstance(node.args[0], fx.Node)
            and node.args[0].op == "placeholder")


def _is_of_tensors(meta: Any) -> bool:
    """Tests if a result consists of tensors. One of several results may be None, such as an unused
    gradient."""
    if isinstance(meta, (tuple, list)):
        return all(m is None or _is_of_tensors(m) for m in meta)
    return isinstance(meta, torch.Tensor)


def partition(module: fx.GraphModule) -> Partitions:
    """Fuses importable nodes into submodules. A fully importable graph gets one submodule."""
    try:
        symbols = derive_sizes(module.graph)
        supported = _Supported(module)
    except Exception as fault:  # such errors must not end a call
        reason = f"the importer failed: {first_line(fault)}"
        module.recompile()
        return Partitions(module, [], [UnsupportedNode("graph", "the graph", reason, "")])
    proposed = _propose(module, supported)
    while unknown := [node for part in proposed for node in _of_unknown_floats(part)]:
        supported.exclude(unknown)
        proposed = _propose(module, supported)
    proposed = [part for part in proposed if _is_worth(part)]
    fused = fuse_by_partitions(module, proposed)
    names = [node.target for node in fused.graph.find_nodes(op="call_module")]
    for node in fused.graph.nodes:
        if node.op == "call_function" and node.target in BY_STRIDES:
            node.target = BY_STRIDES[node.target]
    pass_symbols(fused, names, symbols)
    fused.recompile()
    return Partitions(fused, names, supported.left)


def _propose(module: fx.GraphModule, supported: _Supported) -> list[Iterable[fx.Node]]:
    """Returns the nodes of each part. torch's partitioner takes time quadratic in the number of
    nodes. It is used only if a single part of all supported nodes is impossible, since the part
    would depend on its own results."""
    nodes = _nodes_of(module, supported)
    if _is_one_part(module, nodes):
        return [nodes] if nodes else []
    partitioner = CapabilityBasedPartitioner(module, supported, allows_single_node_partition=True)
    return [part.nodes for part in partitioner.propose_partitions()]


def _nodes_of(module: fx.GraphModule, supported: _Supported) -> dict[fx.Node, None]:
    """Returns all compilable nodes in order. An element of a tuple belongs to the node that makes
    it."""
    nodes: dict[fx.Node, None] = {}
    for node in module.graph.nodes:
        if node.target is operator.getitem:
            is_ours = node.args[0] in nodes
        else:
            is_ours = supported.is_node_supported({}, node)
        if is_ours:
            nodes[node] = None
    return nodes


def _is_one_part(module: fx.GraphModule, nodes: Mapping[fx.Node, None]) -> bool:
    """Tests if these nodes can be one part: none depends on a node outside that depends on one of
    these."""
    after = set()
    for node in module.graph.nodes:
        needs_after = any(n in after for n in node.all_input_nodes)
        if node in nodes:
            if needs_after:
                return False
        elif needs_after or any(n in nodes for n in node.all_input_nodes):
            after.add(node)
    return True


def _is_worth(part: Iterable[fx.Node]) -> bool:
    for node in part:
        schema = getattr(node.target, "_schema", None)
        if schema is not None and schema.name.split("::")[-1] not in _ONLY_VIEWS:
            return True
    return False
