"""Chooses the memory layouts of results: torch's, or channels-last for some images.

Convolutions are fastest with contiguous channels. Results that a forward graph saves are read only
by its backward graph. If such an image keeps the layout of its computation, both graphs avoid a
transpose.
"""
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import FakeTensor

from .ports import memory_order

# Operators whose result is not an image, even if the operand is one: they change the axes.
_TURNED = ("permute", "transpose", "t", "view", "_unsafe_view", "reshape", "expand", "as_strided")


@dataclass(frozen=True)
class Layout:
    """A memory layout. `strides`: None if row-major or unknown. `order`: the dimensions in memory
    order if the tensor is dense and not row-major."""

    order: tuple[int, ...] | None = None
    strides: tuple[int, ...] | None = None


def layouts_of(part: fx.GraphModule, saved: Collection[int] = ()) -> list[Layout]:
    """Returns a Layout for each output of a part. `saved`: indices of outputs that only the
    backward graph reads."""
    images = _images(part) if saved else ()
    return [_channels_last(node.meta["val"])
            if number in saved and node in images and node.meta["val"].is_contiguous()
            else _as_said(node) for number, node in enumerate(outputs_of(part))]


def outputs_of(module: fx.GraphModule) -> Sequence[Any]:
    outputs = module.graph.output_node().args[0]
    return outputs if isinstance(outputs, (tuple, list)) else [outputs]


def _as_said(node: Any) -> Layout:
    meta = getattr(node, "meta", {}).get("val")
    if not isinstance(meta, torch.Tensor) or meta.is_contiguous():
        return Layout()
    strides = meta.stride()
    known = all(isinstance(s, int) for s in strides)
    return Layout(memory_order(meta), tuple(strides) if known else None)


def _channels_last(meta: torch.Tensor) -> Layout:
    order = (0, *range(2, meta.dim()), 1)
    strides, step = [0] * meta.dim(), 1
    for dimension in reversed(order):
        strides[dimension], step = step, step * meta.shape[dimension]
    return Layout(order, tuple(strides))


def _images(part: fx.GraphModule) -> set[fx.Node]:
    """Returns the results of convolutions, and of operators on these results that preserve the
    axes."""
    images: set[fx.Node] = set()
    for node in part.graph.nodes:
        if node.op == "call_function" and _may_be_image(node.meta.get("val")):
            if _makes_image(node) or (not _turns(node) and images & set(node.all_input_nodes)):
                images.add(node)
    return images


def _name_of(node: fx.Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return schema.name.split("::")[-1] if schema is not None else ""


def _makes_image(node: fx.Node) -> bool:
    return _name_of(node) == "convolution"


def _turns(node: fx.Node) -> bool:
    return _name_of(node) in _TURNED


def _may_be_image(meta: Any) -> bool:
    """Tests for a result with channels and two or three spatial axes of known sizes. For several
    results, tests the first one."""
    meta = meta[0] if isinstance(meta, (tuple, list)) and meta else meta
    if not isinstance(meta, torch.Tensor) or meta.dim() not in (4, 5):
        return False
    return all(isinstance(size, int) for size in meta.shape)


def saved_outputs(module: fx.GraphModule, kind: str) -> dict[str, set[int]]:
    """Returns, by the target of each part's call, the indices of outputs that only the backward
    graph reads."""
    context = TracingContext.try_get()
    if kind != "forward" or context is None or context.fw_metadata is None:
        return {}
    outputs, first = outputs_of(module), context.fw_metadata.num_forward
    saved = {node for node in outputs[first:] if isinstance(node, torch.fx.Node)
             and len(node.users) == 1} - set(outputs[:first])
    numbers: dict[str, set[int]] = {}
    for node in saved:
        if node.op == "call_module":
            numbers.setdefault(node.target, set()).add(0)
        elif node.target is operator.getitem and node.args[0].op == "call_module":
            numbers.setdefault(node.args[0].target, set()).add(node.args[1])
    return numbers


def report_strides(module: fx.GraphModule, layouts: Mapping[str, Sequence[Layout]]) -> None:
    """Reports the strides of a graph's outputs to AOTAutograd. `layouts`: the layouts of each part
    by the target of its call."""
    context = TracingContext.try_get()
    if context is None or context.output_strides is None:
        return
    for node in outputs_of(module):
        context.output_strides.append(_strides(node, layouts))


def _strides(node: Any, layouts: Mapping[str, Sequence[Layout]]) -> tuple[int, ...] | None:
    meta = getattr(node, "meta", {}).get("val")
    if not isinstance(meta, torch.Tensor):
        return None
    strides = None
    if node.op == "call_module":
        strides = layouts[node.target][0].strides
    elif node.target is operator.getitem and node.args[0].op == "call_module":
        strides = layouts[node.args[0].target][node.args[1]].strides
    strides = tuple(meta.stride()) if strides is None else strides
    return strides if all(isinstance(s, int) for s in strides) else None


def take_strides(module: fx.GraphModule, inputs: Sequence[Any]) -> None:
    """Sets the strides of a backward graph's inputs to the strides that the forward graph
    reported."""
    aten = torch.ops.aten
    by_strides = (aten.as_strided.default, aten.as_strided_scatter.default)
    for node, given in zip(module.graph.find_nodes(op="placeholder"), inputs):
        said = node.meta.get("val")
        if not isinstance(given, FakeTensor) or not isinstance(said, torch.Tensor):
            continue
        node.meta["val"] = given
        readers = [user for user in node.users if user.target in by_strides]
        if readers and given.stride() != said.stride():
            _give_as_said(module.graph, node, said, readers)


def _give_as_said(graph: fx.Graph, placeholder: fx.Node, said: torch.Tensor,
                  readers: Sequence[fx.Node]) -> None:
    """Inserts a copy with the traced strides before readers that address elements by strides."""
    with graph.inserting_before(next(n for n in graph.nodes if n.op != "placeholder")):
        copy = graph.call_function(torch.ops.aten.clone.default, (placeholder,),
                                   {"memory_format": torch.contiguous_format})
    copy.meta["val"] = said
    for reader in readers:
        reader.replace_input_with(placeholder, copy)


def with_strides(tensor: Any, strides: tuple[int, ...] | None) -> Any:
    """Returns the tensor with these strides: the tensor itself, a view, or a copy. If the strides
    make elements overlap other than by repetition, returns the tensor itself."""
    if strides is None or not isinstance(tensor, torch.Tensor) or tensor.stride() == strides:
        return tensor
    # If elements are repeated, one element of the repeated axis is enough.
    repeated = [stride == 0 and size > 1 for size, stride in zip(tensor.shape, strides)]
    once = tensor[tuple(slice(0, 1) if again else slice(None) for again in repeated)]
    if _overlaps(once.shape, strides):
        return tensor  # elements overlap in another way; torch accepts any strides here
    if any(size > 1 and one != other
           for size, one, other in zip(once.shape, once.stride(), strides)):
        once = torch.empty_strided(once.shape, strides, dtype=once.dtype,
                                   device=once.device).copy_(once)
    # Axes of size 1 also get these strides, because torch derives layouts from strides.
    return once.as_strided(tensor.shape, strides)


def _overlaps(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Tests if two elements may have the same address."""
    end = 0
    for stride, size in sorted((st, sz) for st, sz in zip(strides, shape) if sz > 1):
        if stride <= end:
            return True
        end += stride * (size - 1)
    return False
