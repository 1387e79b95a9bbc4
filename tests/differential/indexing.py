"""Generators of random slices, gathers, scatters, TopK operators and running sums."""
import numpy as np

from case import Case, node


def slices(chance):
    sizes = chance.sizes(chance.of(1, 2, 3), 1, 9)
    axes = np.array(chance.order(len(sizes))[:chance.within(1, len(sizes) + 1)], np.int64)
    far = (2**31 - 1, 2**63 - 1, -2**31, -2**63)
    weights = {"starts": np.array([chance.within(-12, 12) for _ in axes], np.int64),
               "ends": np.array([chance.of(chance.within(-12, 12), *far) for _ in axes], np.int64),
               "axes": axes - len(sizes) * chance.below(2),
               "steps": np.array([chance.of(1, 2, 3, -1, -2, -3) for _ in axes], np.int64)}
    return Case([node("Slice", "x starts ends axes steps")], {"x": chance.array(*sizes)}, weights)


def scatter_elements(chance, sizes, dtype, reduction):
    axis = chance.below(len(sizes))
    shape = [chance.within(1, size + 1) for size in sizes]
    if reduction == "none":  # writes to one element have no defined order
        shape[axis] = chance.within(1, sizes[axis] + 1)
        whole = [*shape[:axis], sizes[axis], *shape[axis + 1:]]
        order = np.argsort(chance.generator.random(whole), axis=axis)
        indices = order.take(range(shape[axis]), axis=axis)
        indices = indices - sizes[axis] * chance.generator.integers(0, 2, indices.shape)
    else:
        shape[axis] = chance.within(1, 9)
        indices = chance.indices(sizes[axis], shape)
    inputs = {"x": chance.array(*sizes, dtype=dtype), "i": indices.astype(np.int64),
              "u": chance.array(*indices.shape, dtype=dtype)}
    return Case([node("ScatterElements", "x i u", axis=axis, reduction=reduction)], inputs, tolerance=2e-2)


def scatter_nd(chance, sizes, dtype, reduction):
    depth = chance.within(1, len(sizes) + 1)
    count = chance.within(1, 6)
    indices = np.stack([chance.indices(sizes[d], count) for d in range(depth)], -1)
    if reduction == "none":
        _, first = np.unique(np.mod(indices, sizes[:depth]), axis=0, return_index=True)
        indices = indices[first]
    inputs = {"x": chance.array(*sizes, dtype=dtype), "i": indices,
              "u": chance.array(len(indices), *sizes[depth:], dtype=dtype)}
    return Case([node("ScatterND", "x i u", reduction=reduction)], inputs, tolerance=2e-2)


def scatter(chance):
    sizes = chance.sizes(chance.of(1, 2, 3), 2, 7)
    dtype = chance.of(np.float32, np.int32, np.int64, np.float16)
    reduction = chance.of("none", "add", "mul", "max", "min")
    return chance.of(scatter_elements, scatter_nd)(chance, sizes, dtype, reduction)


def gather(chance):
    sizes = chance.sizes(chance.of(2, 3), 2, 7)
    axis = chance.below(len(sizes))
    x = chance.array(*sizes, dtype=chance.of(np.float32, np.int64, np.uint8, np.float16))
    kind = chance.below(3)
    if kind == 0:
        indices = chance.indices(sizes[axis], chance.of((), (1,), (3,), (2, 2), (0,)))
        indices = np.asarray(indices).astype(chance.of(np.int64, np.int32))
        attributes = {"axis": axis - len(sizes) * chance.below(2)}
        return Case([node("Gather", "x i", **attributes)], {"x": x, "i": indices})
    if kind == 1:
        shape = [chance.within(1, size + 1) for size in sizes]
        shape[axis] = 5
        return Case([node("GatherElements", "x i", axis=axis)], {"x": x, "i": chance.indices(sizes[axis], shape)})
    batch = chance.below(2)
    depth = chance.within(1, len(sizes) - batch + 1)
    shape = [*sizes[:batch], 3]
    indices = np.stack([chance.indices(sizes[batch + d], shape) for d in range(depth)], -1)
    return Case([node("GatherND", "x i", batch_dims=batch)], {"x": x, "i": indices})


def running_sum(chance):
    sizes = chance.sizes(chance.of(2, 3), 2, 7)
    axis = np.array(chance.below(len(sizes)) - len(sizes) * chance.below(2), np.int64)
    x = chance.array(*sizes, dtype=chance.of(np.float32, np.int64, np.int32))
    attributes = {"exclusive": chance.below(2), "reverse": chance.below(2)}
    return Case([node("CumSum", "x a", **attributes)], {"x": x}, {"a": axis})


def order(chance):
    sizes = chance.sizes(chance.of(1, 2, 3), 2, 7)
    axis = chance.below(len(sizes))
    x = chance.of(chance.array(*sizes), chance.generator.integers(0, 3, sizes).astype(np.float32),
                  chance.generator.integers(0, 3, sizes).astype(np.int64))
    largest = chance.below(2)
    if x.dtype == np.float32 and chance.below(2):
        x.flat[chance.below(x.size)] = chance.of(np.inf, -np.inf)
        if largest:  # ONNX Runtime puts NaN last among the least, NumPy and torch do not
            x.flat[chance.below(x.size)] = np.nan
    k = np.array([chance.within(1, sizes[axis] + 1)], np.int64)
    return Case([node("TopK", "x k", "y z", axis=axis, largest=largest)], {"x": x}, {"k": k})


FAMILIES = (slices, scatter, gather, running_sum, order)
