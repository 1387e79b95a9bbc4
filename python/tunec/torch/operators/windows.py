"""Weighted sums over windows of an axis. Windows may differ in position, length and weights.

A window is a list of taps, pairs of the index of an element and a weight. A sum reads only the elements of
its window, so an infinity affects no other window. The ONNX importer does the same for Resize in
windowed_sum.cc.
"""
import torch

from ..element_types import torch_dtype

_MOST_UNROLLED = 16  # number of taps up to which each tap is an operator


def transposed(windows, size):
    """Returns, for each of `size` elements, the numbers of the windows that contain the element,
    each with the element's weight."""
    holders: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for number, window in enumerate(windows):
        for index, weight in window:
            holders[index].append((number, weight))
    return holders


def _tables(windows, dtype):
    """Returns indices and weights, [longest, windows]. A window with fewer elements repeats some of
    them, and a repeated element's weight is divided. So an element outside a window is never
    multiplied by a weight of 0."""
    longest = max(len(window) for window in windows)
    indices = torch.zeros(longest, len(windows), dtype=torch.int64)
    weights = torch.zeros(longest, len(windows), dtype=torch.float64)
    for number, window in enumerate(windows):
        taps = [row * len(window) // longest for row in range(longest)] if window else []
        for row, tap in enumerate(taps):
            index, weight = window[tap]
            indices[row, number] = index
            weights[row, number] = weight / taps.count(tap)
    return indices, weights.to(dtype)


def _taps(x, axis, indices, weights):
    """Returns the sums of a few taps, with operators for each tap. The lanes of a vector then
    belong to consecutive windows."""
    g, total = x.graph, None
    across = (weights.shape[1], *[1] * (x.rank - axis - 1))
    for row, weight in zip(indices, weights):
        taken = x.gather(g.constant(row.contiguous(), "places"), axis)
        tap = taken * g.constant(weight.contiguous().reshape(across), "weights")
        total = tap if total is None else total + tap
    return total


def sum_windows(x, axis, windows):
    """Returns x with an axis replaced by one sum for each window; 0 for a window without
    elements."""
    if not any(windows):
        return x.graph.full([*x.shape[:axis], len(windows), *x.shape[axis + 1:]], 0, x.element)
    g = x.graph
    indices, weights = _tables(windows, torch_dtype(x.element))
    across = [1] * (x.rank - axis - 1)
    if len(indices) <= _MOST_UNROLLED:
        y = _taps(x, axis, indices, weights)
    else:
        taken = x.gather(g.constant(indices, "places"), axis)
        factors = g.constant(weights.reshape((*weights.shape, *across)), "weights")
        y = (taken * factors).reduce("sum", [axis])
    if all(windows):
        return y
    is_empty = torch.tensor([not window for window in windows])
    return g.where(g.constant(is_empty.reshape((len(windows), *across)), "empty"), 0, y)
