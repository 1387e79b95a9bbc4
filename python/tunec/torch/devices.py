"""Where a graph's tensors lie, and with that what it is compiled for."""
from collections import Counter

import torch
from torch.utils import _pytree as pytree


def device_of(module):
    """The device that most of a graph's results lie on; of a graph without any, its inputs'."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    nodes = nodes or module.graph.find_nodes(op="placeholder")
    counts = Counter(device for node in nodes for device in _devices(node))
    return max(counts, key=counts.get) if counts else torch.device("cpu")


def device_options(device):
    """Options of tunec.compile for graphs of tensors there."""
    if device.type != "cuda":
        return {}
    return {"target": "cuda", "device": str(device.index or 0)}


def lies_on(node, device):
    """Whether a node's results are on the device, and what it reads, but for single numbers of the CPU."""
    return (all(found == device for found in _devices(node)) and
            all(found == device or (found.type == "cpu" and not source.meta["val"].dim())
                for source in node.all_input_nodes for found in _devices(source)))


def on_host(weights):
    """The weights (see import_graph) in memory of the CPU, and row-major: a graph of several sizes is
    imported many times, and each time would copy them. One tensor under two names stays one."""
    def is_ready(tensor):
        # Short ones are written into the text.
        return tensor.device.type == "cpu" and (tensor.is_contiguous() or tensor.numel() <= 16)

    return _copied(weights, is_ready)


def own_copies(weights):
    """The same in memory that nobody else writes."""
    return _copied(weights, lambda tensor: False)


def _copied(weights, stays):
    copies = {}

    def copy(tensor):
        if stays(tensor):
            return tensor
        same = (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), tensor.dtype)
        if same not in copies:
            copies[same] = tensor.detach().to("cpu", copy=True).contiguous()
        return copies[same]

    return {name: (weight[0], copy(weight[1])) if isinstance(weight, tuple) else copy(weight)
            for name, weight in weights.items()}


def places_of(weights):
    """The addresses of weights (see import_graph)."""
    tensors = [w[1] if isinstance(w, tuple) else w for w in weights.values()]
    return frozenset(tensor.data_ptr() for tensor in tensors)


def _devices(node):
    """Of the tensors that a node stands for. Constants without a type yet have none."""
    return [value.device for value in pytree.tree_leaves(node.meta.get("val"))
            if isinstance(value, torch.Tensor)]
