"""Finds operators that read elements by memory address (as_strided).

The operators need the strides that torch's kernels give an operand. If operands are not row-major,
tracing records wrong strides for some kernels, such as `roll` of channels-last images.
"""
import torch
from torch import fx

from .handler_table import overload_name

aten = torch.ops.aten

# Kernels whose results have other strides than tracing records if operands are not row-major. They
# were found by comparing strides over torch's table of operators (torch.testing).
_UNRELIABLE_STRIDES = frozenset((
    "roll", "channel_shuffle", "max_unpool2d", "log_sigmoid_forward", "reflection_pad3d",
    "replication_pad3d", "copysign", "heaviside", "ldexp", "logaddexp", "floor_divide",
    "div.Tensor_mode", "div.Scalar_mode", "logical_and", "logical_or", "logical_xor"))

# The results of these kernels are always row-major.
_ROW_MAJOR = frozenset(("mm", "bmm", "addmm", "baddbmm"))


def reads_by_address(node: fx.Node) -> bool:
    """Tests if a node reads elements by address."""
    return node.op == "call_function" and _name(node).startswith("as_strided")


def is_row_major(meta: torch.Tensor) -> bool:
    """Tests for a row-major tensor. Tensors with symbolic strides count as row-major."""
    return not all(isinstance(s, int) for s in meta.stride()) or meta.is_contiguous()


def nodes_with_unreliable_strides(node: fx.Node) -> list[fx.Node]:
    """Returns `node` and those of its sources whose strides tracing may record wrongly. Returns an
    empty list if the strides of `node` are reliable."""
    sources, unreliable = set(_sources(node)), set[fx.Node]()
    for at in node.graph.nodes:
        is_unreliable = at in sources and at.op == "call_function" and (
            _has_unreliable_strides(at)
            or (not _is_made_row_major(at) and not unreliable.isdisjoint(at.all_input_nodes)))
        if is_unreliable:
            unreliable.add(at)
    return _sources(node, unreliable)


def _sources(node: fx.Node, among: set[fx.Node] | None = None) -> list[fx.Node]:
    """Returns `node` and its direct and indirect sources. If `among` is given, only paths through
    `among` are followed."""
    found, pending = dict[fx.Node, None](), [node]
    while pending:
        at = pending.pop()
        if at not in found and (among is None or at in among):
            found[at] = None
            pending.extend(at.all_input_nodes)
    return list(found)


def _has_unreliable_strides(node: fx.Node) -> bool:
    return not _UNRELIABLE_STRIDES.isdisjoint((_name(node), overload_name(node.target))) and any(
        isinstance(source.meta.get("val"), torch.Tensor) and not is_row_major(source.meta["val"])
        for source in node.all_input_nodes)


def _is_made_row_major(node: fx.Node) -> bool:
    """Tests if a node makes a row-major tensor whatever the strides of its operands are."""
    return _name(node) in _ROW_MAJOR or (
        node.target is aten.clone.default and
        node.kwargs.get("memory_format") is torch.contiguous_format)


def _name(node: fx.Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return schema.name.split("::")[-1] if schema is not None else ""
