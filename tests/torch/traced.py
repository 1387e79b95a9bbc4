"""Functions that make graphs of calls of ATen operators, and run the calls in eager PyTorch."""
import operator

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree
from tunec.torch import aot_decompositions


def split_sample(sample):
    """Returns a sample's arguments and keyword arguments."""
    *args, last = sample
    return (args, last) if isinstance(last, dict) else (list(sample), {})


def trace(target, samples):
    """Returns an FX graph that calls an operator once for each sample, decomposed as importing
    requires, and its input tensors."""
    given, spec = pytree.tree_flatten([split_sample(sample) for sample in samples])
    tensors = [x for x in given if isinstance(x, torch.Tensor)]

    def run(*inputs):
        rest = iter(inputs)
        whole = [next(rest) if isinstance(x, torch.Tensor) else x for x in given]
        return [target(*args, **kwargs) for args, kwargs in pytree.tree_unflatten(whole, spec)]

    graph = make_fx(run, decomposition_table=aot_decompositions(), tracing_mode="fake")(*tensors)
    return graph, tensors


def call_graph(target, samples, expected):
    """Returns an FX graph that calls the unchanged operator once for each sample, and its input
    tensors. The calls get their types from `expected`, the results in eager PyTorch."""
    graph, tensors = torch.fx.Graph(), []

    def as_placeholder(x):
        tensors.append(x)
        node = graph.placeholder(f"x{len(tensors)}")
        node.meta["val"] = x.to("meta")
        return node
    calls = []
    for sample, result in zip(samples, expected, strict=True):
        args, kwargs = pytree.tree_map_only(torch.Tensor, as_placeholder, split_sample(sample))
        node = graph.call_function(target, tuple(args), kwargs)
        node.meta["val"] = result
        calls.append(_results_of(graph, node, result))
    graph.output(calls)
    return torch.fx.GraphModule({}, graph), tensors


def _results_of(graph, node, result):
    if not isinstance(result, (tuple, list)):
        return node
    parts = []
    for i, value in enumerate(result):
        part = graph.call_function(operator.getitem, (node, i))
        part.meta["val"] = value
        parts.append(part)
    return parts


def eager(target, sample):
    """Calls the operator on copies of the tensors. Returns the results, or None if PyTorch rejects
    the call, for example for its types."""
    args, kwargs = split_sample(sample)
    args = pytree.tree_map_only(torch.Tensor, torch.clone, args)
    try:
        return target(*args, **kwargs)
    except (RuntimeError, NotImplementedError, IndexError):
        return None


# Relative and absolute tolerances, because eager PyTorch rounds after each step. The samples' sums
# have few terms, so the tolerances do not depend on the number of terms.
_TOLERANCE = {torch.float32: 3e-5, torch.float64: 1e-9, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def difference(found, expected):
    """Returns the error of a result, or "". Types, shapes and integers must be equal."""
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return f"{found.dtype}{list(found.shape)}, expected {expected.dtype}{list(expected.shape)}"
    if not expected.dtype.is_floating_point:
        return "" if torch.equal(found, expected) else f"{found}, expected {expected}"
    bound = _TOLERANCE[expected.dtype]
    if torch.allclose(found.double(), expected.double(), rtol=bound, atol=bound, equal_nan=True):
        return ""
    return f"{found}, expected {expected}"
