"""Arrays of NumPy and of others in the place of tensors."""
import sys

import torch
from torch.utils import _pytree as pytree

from .._errors import InvalidArgument


def as_tensors(leaves):
    """Returns arguments with tensors for arrays, which share their memory where torch can."""
    return [_tensor(leaf) if _is_array(leaf) else leaf for leaf in leaves]


def as_arrays(results):
    """Returns results with NumPy's arrays for tensors, but for types that NumPy has not."""
    return pytree.tree_map_only(torch.Tensor, _array, results)


def are_arrays(leaves):
    """Tells whether there are arrays among arguments, and no tensors."""
    return any(map(_is_array, leaves)) and not any(isinstance(x, torch.Tensor) for x in leaves)


def _is_array(leaf):
    return not isinstance(leaf, torch.Tensor) and hasattr(leaf, "__dlpack__")


def _tensor(array):
    numpy = sys.modules.get("numpy")
    try:
        if numpy is None or not isinstance(array, numpy.ndarray):
            return torch.from_dlpack(array)
        if not array.flags.writeable or any(stride < 0 for stride in array.strides):
            array = array.copy()  # torch has no such tensors
        return torch.from_numpy(array)
    except (TypeError, ValueError, BufferError, RuntimeError) as fault:
        raise InvalidArgument(f"an argument of type {type(array).__name__} is no array that torch "
                              f"can read: {fault}") from None


def _array(tensor):
    try:
        return tensor.detach().numpy()
    except TypeError:  # bfloat16
        return tensor
