"""Finds the device of a graph, selects the target for the device, and copies weights to the CPU."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils import _pytree as pytree

if TYPE_CHECKING:
    from torch import fx

    from .imported_graph import Weights


def device_of(module: fx.GraphModule) -> torch.device:
    """Returns the device of most results in a graph, or of most inputs if it has no operators.
    Returns the CPU if the graph has neither."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    nodes = nodes or module.graph.find_nodes(op="placeholder")
    counts: Counter[torch.device] = Counter(device for node in nodes for device in _devices(node))
    return max(counts, key=counts.__getitem__) if counts else torch.device("cpu")


def device_options(device: torch.device) -> dict[str, str]:
    """Returns the options of tunec.compile for graphs with tensors on this device."""
    if device.type != "cuda":
        return {}
    return {"target": "cuda", "device": str(device.index or 0)}


def is_on(node: fx.Node, device: torch.device) -> bool:
    """Tests if a node's results and operands are on the device. Operands may also be scalars on the
    CPU."""
    return (all(found == device for found in _devices(node)) and
            all(found == device or (found.type == "cpu" and not source.meta["val"].dim())
                for source in node.all_input_nodes for found in _devices(source)))


def on_host(weights: Weights) -> Weights:
    """Returns the weights (see import_graph) in CPU memory, row-major unless they are short. A
    graph with several sizes is imported many times, and each import would copy the weights
    otherwise. A tensor under two names stays one tensor."""
    def is_ready(tensor: torch.Tensor) -> bool:
        # Short tensors on the CPU need no copy, since they are written into the text.
        return tensor.device.type == "cpu" and (tensor.is_contiguous() or tensor.numel() <= 16)

    return _copied(weights, is_ready)


def own_copies(weights: Weights) -> Weights:
    """Returns copies of the weights in CPU memory, which no other code writes."""
    return _copied(weights, lambda tensor: False)


def _copied(weights: Weights, stays: Callable[[torch.Tensor], bool]) -> Any:
    copies = {}

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        if stays(tensor):
            return tensor
        same = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if same not in copies:
            copies[same] = tensor.detach().to("cpu", copy=True).contiguous()
        return copies[same]

    return {name: (weight[0], copy(weight[1])) if isinstance(weight, tuple) else copy(weight)
            for name, weight in weights.items()}


def addresses_of(weights: Weights) -> frozenset[int]:
    """Returns the addresses of weights (see import_graph)."""
    tensors = [w[1] if isinstance(w, tuple) else w for w in weights.values()]
    return frozenset(tensor.data_ptr() for tensor in tensors)


def _devices(node: fx.Node) -> list[torch.device]:
    """Returns the devices of a node's results. Constants whose type is not known yet have none."""
    return [value.device for value in pytree.tree_leaves(node.meta.get("val"))
            if isinstance(value, torch.Tensor)]
