"""Conversions between tensors and arrays of NumPy or other libraries."""
import sys
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .._errors import InvalidArgument


def as_tensors(leaves: Sequence[object]) -> list[Any]:
    """Returns arguments with arrays replaced by tensors, which share memory if torch supports
    it."""
    return [_tensor(leaf) if _is_array(leaf) else leaf for leaf in leaves]


def as_arrays(results: object) -> Any:
    """Returns results with tensors replaced by NumPy arrays, except for types that NumPy lacks."""
    return pytree.tree_map_only(torch.Tensor, _array, results)


def are_arrays(leaves: Sequence[object]) -> bool:
    """Tests if the arguments contain arrays but no tensors."""
    return any(map(_is_array, leaves)) and not any(isinstance(x, torch.Tensor) for x in leaves)


def _is_array(leaf: object) -> bool:
    return not isinstance(leaf, torch.Tensor) and hasattr(leaf, "__dlpack__")


def _tensor(array: Any) -> torch.Tensor:
    numpy = sys.modules.get("numpy")
    try:
        if numpy is None or not isinstance(array, numpy.ndarray):
            return torch.from_dlpack(array)
        if not array.flags.writeable or any(stride < 0 for stride in array.strides):
            array = array.copy()  # torch supports no read-only arrays or negative strides
        return torch.from_numpy(array)
    except (TypeError, ValueError, BufferError, RuntimeError) as fault:
        raise InvalidArgument(f"an argument of type {type(array).__name__} is not an array that torch "
                              f"can read: {fault}") from None


def _array(tensor: torch.Tensor) -> Any:
    try:
        return tensor.detach().numpy()
    except TypeError:  # bfloat16
        return tensor
